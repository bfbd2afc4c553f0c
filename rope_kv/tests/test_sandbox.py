"""Code in another process looks to a property as it does in this one."""

import contextlib
import gc
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from rope_kv.cli import main
from rope_kv.decoder import Decoder
from rope_kv.sandbox import choosing, kernel, launching, process, wire, zygotes
from rope_kv.sandbox.client import open_file
from rope_kv.sandbox.levels import LEVELS
from rope_kv.sandbox.submission import LARGEST_FILE, Limits
from rope_kv.testing import blame, forms
from rope_kv.testing.check import check
from rope_kv.testing.comparison import Broken, described
from rope_kv.testing.loading import LoadError, SpecError, load
from rope_kv.testing.profiles import PROFILES, Profile
from rope_kv.testing.trace import TracedDecoder
from rope_kv.traps import find_trap

HERE = Path(__file__).parent
RIGHT = HERE / "hostile" / "_right.py"
QUICK = Profile("quick", examples=4, attempts=20, patience=4.0)


@pytest.fixture
def both(tmp_path):
    """Give a function that opens some source in this process, and isolated."""
    opened = []

    def open_both(source, **limits):
        path = tmp_path / f"file{len(opened)}.py"
        path.write_text("import numpy as np\n" + source, encoding="utf-8")
        isolated = open_file(path, limits=Limits(**limits))
        opened.append(isolated)
        return load(path), isolated

    yield open_both
    for isolated in opened:
        isolated.close()


@pytest.fixture
def quick(monkeypatch):
    """Make the profile grade a short one."""
    monkeypatch.setitem(PROFILES, "grade", QUICK)


@pytest.mark.parametrize(
    "value",
    [
        "None", "1", "1.5", "True", "'text'", "[1.0, 2.0]", "[[1], [2, 3]]", "(1.0,)", "{}",
        "np.float64(1)", "np.int32(1)", "np.matrix([[1.0]])", "np.ma.masked_array([1.0])",
        "np.array([1.0], dtype=object)", "np.array([None])",
        "np.zeros((2, 0))", "np.float32([1])", "np.ones(2, '>f8')", "np.ones(2, complex)",
        "np.ones(2, bool)", "np.longdouble([1])", "np.broadcast_to(1.0, (2, 3))",
        "np.array(1.0)", "range(3)", "object()", "type('Odd name', (), {})()",
    ],
)  # fmt: skip
def test_whatever_is_returned_is_described_as_in_this_process(both, value):
    here, there = both(f"def rope_freqs(d, base=1):\n    return {value}\n")
    one, other = here.rope_freqs(2), there.rope_freqs(2)
    assert described(other) == described(one)
    try:
        numbers = np.array(one, dtype=float)
    except Exception:
        with pytest.raises(Exception):  # noqa: B017, PT011 - any: it is no array of numbers
            np.array(other, dtype=float)
    else:
        np.testing.assert_array_equal(np.array(other, dtype=float), numbers)


FORMS = [*forms.ROWS.items(), *(("positions", form) for form in forms.POSITIONS.values())]


@pytest.mark.parametrize("form", [form for _, form in FORMS])
def test_an_argument_of_any_form_arrives_as_it_is(both, form):
    here, there = both(
        "def apply_rope(x, positions, base):\n"
        "    facts = [type(x).__name__, base, positions]\n"
        "    if type(x) is not list:\n"
        "        facts += [x.dtype.str, x.shape, x.strides, x.flags.writeable, x.sum()]\n"
        "    raise ValueError(facts)\n"
    )
    sentences = []
    for impl in (here, there):
        x = form([1, 2, 3]) if form in forms.POSITIONS.values() else form(np.eye(4) * 2)
        with pytest.raises(Broken) as broken:
            impl.apply_rope(x, [1, 2], 10000)
        sentences.append(broken.value.sentence)
    assert sentences[0] == sentences[1]


def test_what_the_code_does_to_its_arguments_shows(both):
    source = (
        "def apply_rope(x, positions, base=1):\n"
        "    x[0, 0] = 7\n    positions.append(8)\n    x.flags.writeable = False\n    return x\n"
        "def decode_incremental(decoder, x):\n    decoder.note = 1\n    return x[1:]\n"
    )
    for impl in both(source):
        x, positions = np.zeros((2, 2)), [1, 2]
        result = impl.apply_rope(x, positions)
        assert result is x
        assert (x[0, 0], positions, x.flags.writeable) == (7, [1, 2, 8], False)
        x, decoder = np.zeros((2, 2)), TracedDecoder(Decoder(2))
        rest = impl.decode_incremental(decoder, x)
        assert np.shares_memory(rest, x)
        assert decoder.changed() == "note"


@pytest.mark.parametrize("statement", ["decoder.base = 2", "del decoder.Wq", "decoder.Wk[0] = 0"])
def test_what_the_code_does_to_its_decoder_shows(both, statement):
    source = f"def decode_incremental(decoder, x):\n    {statement}\n    return x.copy()\n"
    for impl in both(source):
        decoder = TracedDecoder(Decoder(2))
        impl.decode_incremental(decoder, np.zeros((1, 2)))
        assert decoder.changed() == statement.split(".")[1].split()[0].partition("[")[0]


def test_the_same_object_is_the_same_object_in_the_next_call(both):
    source = (
        "seen = {}\n"
        "def apply_rope(x, positions, base=1):\n"
        "    return np.array([seen.setdefault(id(x), len(seen)), x[0, 0]])\n"
    )
    for impl in both(source):
        one, other = np.zeros((1, 2)), np.zeros((1, 2))
        assert impl.apply_rope(one, [0]).tolist() == [0, 0]
        assert impl.apply_rope(other, [0]).tolist() == [1, 0]
        one[...] = 5
        assert impl.apply_rope(one, [0]).tolist() == [0, 5]


def test_a_result_that_is_kept_changes_and_can_be_changed(both):
    source = (
        "kept = np.zeros(2)\n"
        "def rope_freqs(d, base=1):\n    kept[1] += 1\n    return kept\n"
        "def apply_rope(x, positions, base=1):\n    return kept.copy()\n"
    )
    for impl in both(source):
        first = impl.rope_freqs(2)
        second = impl.rope_freqs(2)
        assert first is second
        assert first.tolist() == [0, 2]
        first[0] = 9
        assert impl.apply_rope(np.zeros((1, 2)), [0]).tolist() == [9, 2]


def test_projections_are_answered_recorded_and_refused_as_in_this_process(both):
    source = (
        "def decode_incremental(decoder, x):\n"
        "    q = decoder.project_q(x[0:1]), decoder.project_q(x[1:2]), decoder.project_q(x)\n"
        "    k = decoder.project_k(x[1:2]), decoder.project_k(x[1:2].tolist())\n"
        "    v = decoder.project_v(x[:0]), decoder.project_v(np.float32(x[:1] * 3))\n"
        "    try:\n        decoder.project_v(x[:, :3])\n"
        "    except ValueError as error:\n        told = str(error)\n"
        "    rows = [*q, *k, *v, decoder.project_out(q[0]), decoder.forward_full(x)]\n"
        "    return np.concatenate([*rows, np.full((1, 4), len(told) > 0)])\n"
    )
    x, answers, records = np.random.RandomState(0).rand(3, 4), [], []
    for impl in both(source):
        decoder = TracedDecoder(Decoder(4, seed=1))
        answers.append(impl.decode_incremental(decoder, x))
        records.append([(c.name, c.rows.shape, np.array(c.rows).tobytes()) for c in decoder.calls])
    np.testing.assert_array_equal(answers[0], answers[1])
    assert records[0] == records[1]


def test_the_weights_have_their_shape_and_no_numbers(both):
    _, there = both(
        "def decode_incremental(decoder, x):\n"
        "    unread = [np.isnan(decoder.Wk).all()] * 2\n"
        "    return np.array([decoder.Wq.shape, decoder.Wo.shape, unread])"
    )
    answer = there.decode_incremental(TracedDecoder(Decoder(4)), np.zeros((1, 4)))
    assert answer.tolist() == [[4, 4], [4, 4], [1, 1]]


def test_a_lower_function_is_replaced_by_a_right_one(both):
    source = (
        "def rope_freqs(d, base=10000):\n    return None\n"
        "def apply_rope(x, positions, base=10000):\n    return rope_freqs(x.shape[1], base=base)\n"
        "def decode_incremental(decoder, x):\n    return apply_rope(x, range(len(x)), 100)\n"
    )
    for impl in both(source):
        x = np.arange(8.0).reshape(2, 4)
        right_freqs, right_rope = (blame.right_one(n, impl) for n in ("rope_freqs", "apply_rope"))
        one = impl.with_replaced("rope_freqs", right_freqs)
        np.testing.assert_array_equal(one.apply_rope(x, [0, 1]), right_freqs(4))
        other = impl.with_replaced("apply_rope", right_rope)
        np.testing.assert_array_equal(
            other.decode_incremental(TracedDecoder(Decoder(4)), x),
            right_rope(x, [0, 1], 100),
        )
        assert impl.apply_rope(x, [0, 1]) is None


def test_fresh_code_remembers_nothing_and_a_new_process_even_less(both):
    source = (
        "import builtins\n"
        "builtins.loaded = getattr(builtins, 'loaded', 0) + 1\n"
        "calls = []\n"
        "def rope_freqs(d, base=1):\n"
        "    calls.append(1)\n    return np.array([len(calls), builtins.loaded])\n"
    )
    _, there = both(source)
    first, second = there.rope_freqs(2).tolist(), there.rope_freqs(2).tolist()
    assert second == [2, first[1]]
    assert there.fresh().rope_freqs(2).tolist() == [1, first[1] + 1]
    with there.restarted() as restarted:
        assert restarted.rope_freqs(2).tolist() == first


def test_random_numbers_start_the_same_in_every_process(both):
    _, there = both(
        "import random\ndef rope_freqs(d, base=1):\n"
        "    return np.array([random.random(), np.random.rand(), hash('text') % 1000])\n"
    )
    found = []
    for seed in (0, 0, 1):
        with there.restarted(seed) as restarted:
            found.append(restarted.rope_freqs(2).tolist())
    assert found[0] == found[1]
    assert found[0][:2] != found[2][:2]


@pytest.mark.parametrize(
    ("body", "kind", "sentence"),
    [
        ("while True: pass", "hang", "rope_freqs has not returned after 0.3 s"),
        ("import os; os._exit(3)", "crash", "it ended with exit status 3"),
        ("import os; os.abort()", "crash", "it was ended by signal SIGABRT"),
        ("raise NotImplementedError", "unwritten", "rope_freqs raised NotImplementedError"),
        ("1 / 0", "raised", "rope_freqs raised ZeroDivisionError: division by zero (line 3)"),
        ("raise KeyboardInterrupt", "raised", "rope_freqs raised KeyboardInterrupt"),
        ("raise SystemExit(0)", "raised", "rope_freqs raised SystemExit: 0 (line 3)"),
    ],
)
def test_a_call_that_returns_nothing_is_a_broken_property(both, body, kind, sentence):
    _, there = both(f"def rope_freqs(d, base=1):\n    {body}\n", call_timeout=0.3)
    for _ in range(2):
        with pytest.raises(Broken) as broken:
            there.rope_freqs(2)
        assert broken.value.kind == kind
        assert sentence in broken.value.sentence


def test_only_what_a_worker_needs_is_loaded_from_the_package():
    """The zygote has the package stand in, and takes these modules from it."""
    code = launching.BEGIN.replace("main(**facts)", "print(*sorted(sys.modules))")
    command = launching.command("process", 0, 1 << 30)
    command[command.index(launching.BEGIN)] = code
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in printed if name.startswith("rope_kv")] == [
        "rope_kv",
        "rope_kv.sandbox",
        "rope_kv.sandbox.doubles",
        *(
            f"rope_kv.sandbox.{name}"
            for name in ["kernel", "objects", "probes", "syscalls", "wire", "worker", "zygote"]
        ),
        "rope_kv.testing",
        *(
            f"rope_kv.testing.{name}"
            for name in ["capabilities", "comparison", "forms", "implementation", "loading"]
        ),
        *(f"rope_kv.testing.{name}" for name in ["plain", "replacing", "started"]),
    ]
    assert not {"hypothesis", "pytest"} & set(printed)


def test_bwrap_is_reached_wherever_bubblewrap_works():
    by_hand = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]
    if shutil.which("bwrap") is None or subprocess.run(by_hand, capture_output=True).returncode:
        pytest.skip("bubblewrap does not work on this machine")
    # What a worker imports is visible to it there, or a weaker level would be taken unnoticed.
    with contextlib.closing(open_file(RIGHT, level="bwrap")) as opened:
        assert opened.isolation == "bwrap"


@pytest.mark.parametrize(
    ("content", "verdict", "sentence"),
    [
        (b"def f(:\n", "LOAD_ERROR", "SyntaxError: invalid syntax (line 1)"),
        (b"x = 1\0\n", "LOAD_ERROR", "cannot be loaded: "),
        (b"# coding: utf-8\nx = '\xe9'\n", "LOAD_ERROR", "cannot be loaded: SyntaxError"),
        (b"# coding: none\n", "LOAD_ERROR", "unknown encoding: none"),
        (b"\xef\xbb\xbf" + RIGHT.read_bytes(), "PASS", ""),
        (RIGHT.read_bytes().replace(b"\n", b"\r\n"), "PASS", ""),
        (b"# coding: latin-1\nname = '\xe9'\n" + RIGHT.read_bytes(), "PASS", ""),
        (b"(" * 10_000 + b")" * 10_000, "LOAD_ERROR", "cannot be loaded: "),
        (b"rope_freqs = 1\n", "FAIL", "rope_freqs is missing"),
    ],
)
def test_source_is_read_as_python_reads_it(tmp_path, quick, content, verdict, sentence):
    path = tmp_path / "file.py"
    path.write_bytes(content)
    found = check(path)
    assert found.verdict == verdict, str(found)
    assert found.isolation in LEVELS
    assert sentence in str(found)


def test_a_submission_that_is_no_ordinary_file_is_refused_at_once(tmp_path):
    fifo, link, folder, large = (tmp_path / f"{name}.py" for name in ("a", "b", "c", "d"))
    os.mkfifo(fifo)
    link.symlink_to("/etc/passwd")
    folder.mkdir()
    with large.open("wb") as file:
        file.truncate(5 << 30)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "e.py"))
    started = time.monotonic()
    for path, sentence in (
        (fifo, "it is not an ordinary file"),
        (link, "it is a symbolic link"),
        (folder, "it is not an ordinary file"),
        (large, f"it is larger than {LARGEST_FILE} bytes"),
        (Path("/dev/zero.py"), "there is no file"),
    ):
        with pytest.raises((LoadError, SpecError), match=sentence):
            open_file(path)
    with pytest.raises((LoadError, SpecError)):
        open_file(tmp_path / "e.py")
    listening.close()
    assert time.monotonic() - started < 5


def test_isolation_that_is_not_to_be_had_is_said_in_one_sentence(monkeypatch, tmp_path):
    path = tmp_path / "file.py"
    path.write_bytes(RIGHT.read_bytes())
    monkeypatch.setattr(zygotes, "_unable", {})
    monkeypatch.setattr(kernel, "landlock_version", lambda: 0)
    with contextlib.closing(choosing.open_implementation(path)) as opened:
        assert opened.isolation == "process"
    with pytest.raises(process.SandboxError, match="this kernel has no Landlock"):
        choosing.open_implementation(path, at_least="kernel")
    with pytest.raises(process.SandboxError, match="level kernel does not work here"):
        choosing.open_implementation(path, "kernel")
    with pytest.raises(process.SandboxError, match="only a file can be isolated"):
        choosing.open_implementation("rope_kv", "isolated")
    with pytest.raises(process.SandboxError, match="only a file can be isolated"):
        choosing.open_implementation("rope_kv", at_least="process")
    with pytest.raises(ValueError, match="isolation must be one of"):
        choosing.open_implementation(path, "strong")


def test_a_level_at_which_a_worker_can_do_harm_is_not_reached(monkeypatch):
    monkeypatch.setattr(zygotes, "_unable", {})
    # A zygote that was told not to confine anything, and is taken for one of the level kernel.
    monkeypatch.setattr(
        launching, "command", lambda level, *rest, real=launching.command: real("process", *rest)
    )
    with pytest.raises(process.SandboxError, match=r"a worker could .*open a socket"):
        zygotes.start("kernel", 512 << 20)


def test_checks_leave_no_process_no_descriptor_and_no_memory(tmp_path, monkeypatch):
    monkeypatch.setitem(PROFILES, "grade", Profile("grade", examples=1, attempts=5, patience=1.0))
    wrong = find_trap("pairs-adjacent-vs-halves").path
    crashing = tmp_path / "crashing.py"
    crashing.write_text("import os\ndef rope_freqs(d, base=1):\n    os._exit(1)\n")

    def state():
        gc.collect()
        children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return len(os.listdir("/proc/self/fd")), len(children), pages * 4096

    def check_all():
        for path in (RIGHT, wrong, crashing):
            check(path)

    check_all()
    descriptors, children, memory = state()
    for _ in range(4):
        check_all()
    now = state()
    assert now[:2] == (descriptors, children)
    assert now[2] - memory < 20 << 20


def test_the_report_of_a_file_is_the_same_however_often_and_after_whatever(tmp_path):
    path = str(find_trap("cache-at-module-level").path)
    alone = (
        "import sys; from rope_kv.testing.check import check\n"
        "before, iso, path = sys.argv[1:]\n"
        "if before: check(before, isolation=iso)\n"
        "print(check(path, isolation=iso))"
    )
    reports = set()
    for before, isolation in (("", "auto"), (str(RIGHT), "auto"), (str(RIGHT), "none")):
        printed = subprocess.run(
            [sys.executable, "-c", alone, before, isolation, path],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
        )
        reports.add(re.sub(r"\(\d+\.\d s\)", "", printed.stdout))
    assert len(reports) == 1


@pytest.fixture
def open_folder():
    """Give a folder in which every user may make a file."""
    with tempfile.TemporaryDirectory(prefix="rope-kv-") as name:
        os.chmod(name, 0o777)
        yield Path(name)


def test_a_file_may_look_at_its_own_source(both):
    _, there = both(
        "import inspect\n"
        "def rope_freqs(d, base=1):\n"
        "    return np.array([len(inspect.getsource(rope_freqs).splitlines())])\n"
    )
    assert there.rope_freqs(2).tolist() == [2]


def test_a_name_cannot_paint_the_terminal(tmp_path, quick, capsys):
    path = tmp_path / "a\x1b[31m\x9b.py"
    path.write_text("raise SyntaxError('\\x1b[2J', ('x', 1, 1, ''))\n")
    for more in ((), ("--no-isolate",), ("--json", "-")):
        main(["check", str(path), *more])
        assert all(letter.isprintable() or letter == "\n" for letter in capsys.readouterr().out)


@pytest.mark.parametrize(
    "question",
    [
        {"arguments": [], "named": {"d": 3 * 10**8}},
        {"arguments": [3 * 10**8], "named": {}},
        {"arguments": [-2], "named": {}},
        {"arguments": [2.5], "named": {}},
        {"arguments": [2, 0], "named": {}},
        {"arguments": [2, float("nan")], "named": {}},
        {"arguments": [2], "named": {"no": 1}},
        {"arguments": [], "named": {}},
        {},
    ],
)
def test_a_right_answer_is_given_to_a_sensible_question_alone(both, question):
    _, there = both(
        "import sys\n"
        "def rope_freqs(d, base=1): raise ValueError\n"
        "def apply_rope(x, positions, base=1):\n"
        "    frame = sys._getframe()\n"
        "    while type(frame.f_locals.get('self')).__name__ != 'Worker': frame = frame.f_back\n"
        "    nan = float('nan')\n"
        f"    return frame.f_locals['self']._asked(5, 0, {question!r})\n"
    )
    replaced = there.with_replaced("rope_freqs", blame.right_one("rope_freqs", there))
    with pytest.raises(Broken, match=r"apply_rope raised (Value|Type)Error"):
        replaced.apply_rope(np.eye(2), [0, 1])


def test_a_delay_that_does_not_come_again_accuses_nobody(open_folder, quick):
    marker = open_folder / "was here"
    path = open_folder / "file.py"
    path.write_text(
        f"{RIGHT.read_text()}\nimport os, time\n"
        "def rope_freqs(d, base=10000):\n"
        f"    if not os.path.exists({str(marker)!r}):\n"
        f"        open({str(marker)!r}, 'w').close()\n        time.sleep(3)\n"
        "    return right_freqs(d, base)\n"
    )
    verdict = check(path, isolation="process", call_timeout=0.3)
    assert verdict.verdict == "NOT_RUN", str(verdict)
    assert "once, rope_freqs has not returned after 0.3 s" in str(verdict)


def test_a_worker_that_is_kept_from_running_is_given_its_time(both, monkeypatch):
    _, there = both(
        "import time\ndef rope_freqs(d, base=1):\n    time.sleep(0.6)\n    return np.ones(1)\n",
        call_timeout=0.2,
    )
    with pytest.raises(Broken, match="has not returned after"):
        there.rope_freqs(2)
    monkeypatch.setattr(process.Worker, "waited", lambda self: time.monotonic())
    with there.restarted() as restarted:
        assert restarted.rope_freqs(2).tolist() == [1]


@pytest.mark.parametrize("level", LEVELS)
def test_it_can_be_told_how_long_a_worker_waited(level, tmp_path):
    path = tmp_path / "file.py"
    path.write_bytes(RIGHT.read_bytes())
    try:
        opened = open_file(path, level=level)
    except process.SandboxError:
        pytest.skip(f"the level {level} does not work here")
    with contextlib.closing(opened):
        opened.rope_freqs(2)
        waited = opened._link.worker.waited()
        assert waited is not None
        assert 0 <= waited < 60


def test_a_message_that_no_worker_of_ours_sends_is_a_breach(both, monkeypatch):
    _, there = both("def rope_freqs(d, base=1):\n    return np.ones(1)\n")
    there.rope_freqs(2)
    real = process.Worker.receive

    def receive(self, deadline, cap):
        frame = real(self, deadline, cap)
        return frame._replace(items=items) if frame.kind == wire.RETURNED else frame

    monkeypatch.setattr(process.Worker, "receive", receive)
    for answer in (
        [1], [{}], [{"raised": 1}], [{"raised": ["hang", "x"]}], [{"raised": ["raised", 1]}],
        [{"arrays": 1}], [{"arrays": [[1]]}], [{"lists": [0, []]}], [{"lists": [99, []]}],
        [{"decoders": [1, "x"]}], [{"number": "x"}], [{"number": 1}, np.ones(1)],
        [{"number": -5}], [{"number": -5}, 1], [{"number": [], "writeable": 1}, np.ones(1)],
        [{"type": 1}, np.ones(1)], [{"raised": ["raised", ""]}],
        [{"number": -5, "writeable": 1, "part_of": 1}, np.ones(1)],
    ):  # fmt: skip
        items = [b"", None, *answer]
        with pytest.raises(Broken) as broken:
            there.rope_freqs(2)
        assert broken.value.kind == "protocol", items
    for items in ([], [1], [b""], [b"", None], [b"x", None, {}], [b"\0\0\0", None, {}], [b"", {}]):
        with pytest.raises(Broken) as broken:
            there.rope_freqs(2)
        assert broken.value.kind == "protocol", items


def test_outputs_that_cannot_have_been_multiplied_are_a_breach(both, monkeypatch):
    _, there = both(RIGHT.read_text("utf-8"))
    real = process.Worker.receive
    one, two = wire.TAKEN.pack(wire.OUT, 1), wire.TAKEN.pack(wire.OUT, 2)

    def receive(self, deadline, cap):
        frame = real(self, deadline, cap)
        if frame.kind != wire.RETURNED:
            return frame
        return frame._replace(items=[*told, *frame.items[2:]])

    def decoded():
        decoder = TracedDecoder(Decoder(2))
        there.decode_incremental(decoder, np.ones((1, 2)))
        return [rows.tolist() for rows in decoder.rows_given("project_out")]

    monkeypatch.setattr(process.Worker, "receive", receive)
    told = (one, np.full((1, 2), 7.0))
    assert decoded() == [[[7.0, 7.0]]]  # Believed: nobody but the worker knows what it asked.
    for told in (
        (one, None), (b"", np.ones((1, 2))), (two, np.ones((1, 2))), (one, np.ones((2, 2))),
        (wire.TAKEN.pack(wire.OUT, 0), None), (one, np.ones((1, 3))), (one, np.ones(1)),
        (one, np.ones((1, 2), np.float32)), (one, [[1, 1]]), (one, 1), (one, b"x"),
    ):  # fmt: skip
        with pytest.raises(Broken) as broken:
            decoded()
        assert broken.value.kind == "protocol", told


def test_a_zygote_is_kept_for_the_next_file_and_no_worker_of_the_last(both):
    with zygotes.keeping_zygotes():
        _, first = both("def rope_freqs(d, base=1):\n    return np.zeros(1)\n")
        first.rope_freqs(2)
        with first.restarted() as again:
            again.rope_freqs(2)
        zygote = first._submission.zygote
        left = zygote.fork()  # Of a file that has more processes than it is known to have.
        pid = zygote.pid_here(left._pid)
        first.close()
        assert not Path(f"/proc/{pid}").exists()
        left.end()
        first.close()  # Twice, as a context and its owner may.
        _, second = both("def rope_freqs(d, base=1):\n    return np.ones(1)\n")
        assert second._submission.zygote is zygote
        assert second.rope_freqs(2).tolist() == [1]
        second.close()
        assert not zygote.is_closed
    assert zygote.is_closed


def test_a_zygote_is_not_kept_where_it_has_ended_or_another_is_wanted(both):
    with zygotes.keeping_zygotes():
        _, first = both("def rope_freqs(d, base=1):\n    return np.zeros(1)\n")
        zygote = first._submission.zygote
        zygote.close()
        first.close()
        _, second = both("def rope_freqs(d, base=1):\n    return np.ones(1)\n")
        assert second.rope_freqs(2).tolist() == [1]
        kept = second._submission.zygote
        second.close()
        _, third = both("def rope_freqs(d, base=1):\n    return np.ones(1)\n", memory=256 << 20)
        assert kept.is_closed
        assert third.rope_freqs(2).tolist() == [1]
        third.close()


def test_a_worker_imports_of_rope_kv_only_what_the_strongest_level_lets_it_read():
    # Else that level is not to be had, and nothing but its absence would show it.
    code = (
        "import sys, types; package = types.ModuleType('rope_kv'); "
        f"package.__path__ = [{str(launching.PACKAGE)!r}]; sys.modules['rope_kv'] = package\n"
        "import rope_kv.sandbox.zygote, rope_kv.sandbox.worker\n"
        "print(*sorted({name.split('.')[1] for name in sys.modules if name[:8] == 'rope_kv.'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["sandbox", "testing"]
