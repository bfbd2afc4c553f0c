"""The command: what it prints, what it writes, how it exits."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from rope_kv import traps
from rope_kv.cli import main
from rope_kv.sandbox import kernel, zygotes
from rope_kv.sandbox.levels import LEVELS
from rope_kv.testing.capabilities import NOTHING_DECLARED
from rope_kv.testing.loading import load
from rope_kv.testing.profiles import PROFILES, Profile
from rope_kv.testing.property import all_properties, properties_for

HERE = Path(__file__).parent
HALVES = str(traps.find_trap("pairs-adjacent-vs-halves").path)


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def quick(monkeypatch):
    """Make the profile grade a short one, where what is found does not matter."""
    monkeypatch.setitem(PROFILES, "grade", Profile("grade", 5, attempts=20, patience=4.0))


def run(capsys, *arguments):
    status = main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_check_of_the_reference_passes_and_leaves_nothing_behind(capsys):
    status, out, err = run(capsys, "check", "rope_kv")
    assert (status, err) == (0, "")
    assert out.startswith("rope_kv 0.1.0 · rope_kv · profile grade")
    shown = properties_for(load("rope_kv").capabilities)
    assert f"PASS  {len(shown) - 1} held, 0 broken, 0 not checked" in out
    assert os.listdir() == []


def test_check_of_a_trap_shows_the_failure_and_a_replay_that_works(capsys):
    Path("regressions").mkdir()
    status, out, _ = run(capsys, "check", HALVES)
    assert status == 1
    block = out.split("\n\n")[1].splitlines()
    assert block[0].startswith("apply_rope · each adjacent pair turns by its own angle")
    assert block[0].endswith("FAIL")
    assert block[1:5] == [
        "  law        (x₂ᵢ + j·x₂ᵢ₊₁) ↦ (x₂ᵢ + j·x₂ᵢ₊₁)·exp(j·p·θᵢ)",
        "  smallest   apply_rope([[1, 0, 0, 0]], positions=[1])",
        "  expected   [[ 0.5403  0.8415  0       0 ]]",
        "  yours      [[ 0.5403  0       0.8415  0 ]]",
    ]
    assert block[5].startswith("  differs    first at [0, 1], ")
    assert block[5].endswith(" times the rounding bound")
    line = next(line for line in block if line.startswith("  replay"))
    command = shlex.split(line)[1:]
    assert command[:2] == ["rope-kv", "replay"]
    status, out, _ = run(capsys, *command[1:])
    assert status == 1
    assert "each adjacent pair turns by its own angle" in out
    status, out, _ = run(capsys, "replay", command[2])
    assert (status, out) == (0, "rope_kv: 1 held, 0 broken of 1\n")
    assert "decode_incremental  held" in run(capsys, "check", HALVES)[1]


def test_counterexamples_go_where_they_are_told_and_nowhere_unasked(capsys, quick):
    run(capsys, "check", HALVES)
    assert os.listdir() == []
    run(capsys, "check", HALVES, "--record", "here")
    assert os.listdir() == ["here"]
    assert os.listdir("here")
    assert not [name for name in os.listdir("here") if not name.endswith(".json")]
    Path("regressions").mkdir()
    run(capsys, "check", HALVES, "--no-record")
    assert os.listdir("regressions") == []


def test_json_goes_to_a_file_or_alone_to_standard_output(capsys, quick):
    status, out, _ = run(capsys, "check", HALVES, "--json", "verdict.json")
    assert (status, "FAIL" in out) == (1, True)
    status, out, _ = run(capsys, "check", HALVES, "--json", "-")
    assert status == 1
    to_stdout, to_file = json.loads(out), json.loads(Path("verdict.json").read_text("utf-8"))
    assert to_stdout["verdict"] == to_file["verdict"] == "FAIL"
    assert to_stdout["functions"] == {
        "rope_freqs": "held",
        "apply_rope": "broken",
        "decode_incremental": "held",
    }


def test_json_takes_the_place_of_an_older_verdict_and_of_nothing_else(capsys, quick):
    Path("solution.py").write_text("# all my work\n")
    for mine in ("solution.py", "notes.json"):
        Path(mine).write_text('{"all": "my work"}\n')
        status, _, err = run(capsys, "check", "rope_kv", "--json", mine)
        assert (status, err) == (
            2,
            f"rope-kv: {mine} exists and is no verdict: choose another name\n",
        )
        assert Path(mine).read_text() == '{"all": "my work"}\n'
    for _ in range(2):
        assert run(capsys, "check", "rope_kv", "--json", "verdict.json")[0] == 0
    assert sorted(os.listdir()) == ["notes.json", "solution.py", "verdict.json"]


def test_an_output_that_cannot_be_written_is_one_sentence():
    command = shlex.join([sys.executable, "-m", "rope_kv", "properties"])
    for redirection, status, said in ((">&-", 0, ""), (">/dev/full", 2, "cannot use the output")):
        if "/dev/full" in redirection and not Path("/dev/full").exists():
            continue
        done = subprocess.run(
            f"{command} {redirection}", shell=True, stderr=subprocess.PIPE, text=True
        )
        assert done.returncode == status, done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_a_new_file_loads_fails_every_property_and_says_what_to_do(capsys):
    assert run(capsys, "new", "my-solution.py")[0] == 0
    status, out, _ = run(capsys, "check", "my-solution.py")
    assert status == 1
    assert f"0 held, {len(properties_for(NOTHING_DECLARED)) - 1} broken" in out
    for sentence in ("rope_freqs: return the d/2", "apply_rope: turn each", "project row t, turn"):
        assert sentence in " ".join(out.split())
    before = Path("my-solution.py").read_bytes()
    status, _, err = run(capsys, "new", "my-solution.py")
    assert status == 2
    assert err == "rope-kv: my-solution.py exists already: choose another name\n"
    assert Path("my-solution.py").read_bytes() == before


def test_a_file_that_does_not_load_exits_1_with_a_sentence(capsys):
    Path("a.py").write_text("import nothing_of_that_name\n")
    status, out, err = run(capsys, "check", "a.py")
    assert (status, err) == (1, "")
    assert "LOAD_ERROR  a.py cannot be loaded: it raised ModuleNotFoundError" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["check", "nowhere.py"], "there is no file nowhere.py"),
        (["check", "rope_kv", "--json", "no/such/x.json"], "a file in a folder that exists"),
        (["check", "rope_kv", "--json", "."], "a file in a folder that exists"),
        (
            ["check", "rope_kv", "--json", ""],
            "--json has an empty name: is the variable that should hold it set?",
        ),
        (["check", "an_empty_folder"], "an_empty_folder is a folder without code of its own"),
        (["check", "notes.txt"], "the file notes.txt does not end in .py"),
        (["new", "notes"], "the name of the new file must end in .py, found 'notes'"),
        (["replay", "nowhere"], "there is no nowhere"),
        (["replay", "an_empty_folder"], "no counterexample in an_empty_folder"),
        (["replay", "--impl", "nowhere.py"], "there is no file nowhere.py"),
        (["new", "no/such/folder/x.py"], "cannot write no/such/folder/x.py"),
        (["traps", "no-such-trap"], "there is no trap 'no-such-trap'"),
        (["traps", "../cli"], "there is no trap '../cli'"),
        (["traps", "--path"], "--path needs the NAME of a trap"),
    ],
)
def test_misuse_exits_2_with_one_sentence(capsys, arguments, sentence):
    Path("an_empty_folder").mkdir()
    Path("notes.txt").touch()
    status, _, err = run(capsys, *arguments)
    assert status == 2
    assert err.startswith("rope-kv: ")
    assert sentence in err
    assert err.count("\n") == 1


def test_misspelt_options_exit_2(capsys):
    Path("a file").touch()
    for arguments in (
        [],
        ["chekc"],
        ["check"],
        ["check", "rope_kv", "--profile", "quick"],
        ["check", "rope_kv", "--record", ""],
        ["check", "rope_kv", "--record", "a file"],
    ):
        with pytest.raises(SystemExit) as leaving:
            main(arguments)
        assert leaving.value.code == 2
    capsys.readouterr()


def test_replay_runs_what_rope_kv_brings_along(capsys):
    status, out, _ = run(capsys, "replay")
    assert status == 0
    assert " held, 0 broken of " in out
    status, out, _ = run(capsys, "replay", "--impl", HALVES)
    assert status == 1
    assert "stored in" in out


def level_of(out):
    return out.splitlines()[0].rpartition("isolation level ")[2].split()[0]


def test_a_file_runs_isolated_and_a_module_in_process_and_the_report_says_so(capsys, quick):
    out = run(capsys, "check", HALVES)[1]
    assert level_of(out) in LEVELS
    out = run(capsys, "check", HALVES, "--no-isolate")[1]
    assert out.splitlines()[0].endswith(" · in process, not isolated")
    document = json.loads(run(capsys, "check", HALVES, "--json", "-")[1])
    assert document["isolation"] in LEVELS
    document = json.loads(run(capsys, "check", HALVES, "--no-isolate", "--json", "-")[1])
    assert document["isolation"] == "none"
    status, out, err = run(capsys, "check", "rope_kv", "--isolate")
    assert (status, out) == (2, "")
    assert err == "rope-kv: rope_kv is no file, and only a file can be isolated\n"


def test_isolation_that_is_required_is_reached_or_nothing_runs(capsys, monkeypatch, quick):
    best = level_of(run(capsys, "check", HALVES, "--require-isolation", "process")[1])
    assert best == level_of(run(capsys, "check", HALVES, "--require-isolation", best)[1])
    monkeypatch.setattr(zygotes, "_unable", {})
    monkeypatch.setattr(kernel, "landlock_version", lambda: 0)
    for command in (("check", HALVES), ("replay", "--impl", HALVES)):
        status, out, err = run(capsys, *command, "--require-isolation", "kernel")
        assert (status, out) == (2, "")
        assert err == (
            "rope-kv: the isolation level kernel is not to be had here, only process: "
            "the isolation level kernel does not work here: this kernel has no Landlock\n"
        )
    out = run(capsys, "check", HALVES)[1]
    assert "isolation level process (protects against bugs, not against malice)" in out


def test_what_takes_too_long_is_no_pass_and_says_so(capsys, quick):
    right = (HERE / "hostile" / "_right.py").read_text()
    Path("slow.py").write_text(
        right + "import time\ndef rope_freqs(d, base=1e4):\n"
        "    time.sleep(0.05)\n    return right_freqs(d, base)\n"
    )
    status, out, _ = run(capsys, "check", "slow.py", "--time-limit", "1")
    assert status == 1
    assert "not run: the time limit of 1 s was reached" in out
    assert "\nNOT_RUN  " in out
    status, out, _ = run(capsys, "check", "slow.py", "--call-timeout", "0.02", "--time-limit", "9")
    assert status == 1
    assert "has not returned after 0.02 s" in out
    assert "\nTIMEOUT  " in out
    status, out, _ = run(
        capsys, "replay", "--impl", "slow.py", "--call-timeout", "0.02", "--time-limit", "2"
    )
    assert status == 1
    assert " not run of " in out


def test_code_that_needs_more_memory_than_it_may_have_is_told_so(capsys, quick):
    Path("large.py").write_text("import numpy as np\nx = np.ones(1 << 25)\n")
    status, out, _ = run(capsys, "check", "large.py", "--memory", "256")
    assert status == 1
    assert "LOAD_ERROR  large.py cannot be loaded: it raised" in out
    assert "Unable to allocate 256. MiB" in out
    out = run(capsys, "check", "large.py", "--memory", "1024")[1]
    assert "rope_freqs is missing" in out


def test_one_thread_is_enough_for_the_command():
    code = (
        "import os; from rope_kv import cli; import sys\n"
        "assert 'numpy' not in sys.modules\n"
        "cli.main(['properties'])\n"
        "print(os.environ['OPENBLAS_NUM_THREADS'], 'numpy' in sys.modules)"
    )
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        env=environment | {"PYTHONUTF8": "1"},
        encoding="utf-8",
    )
    assert done.stdout.splitlines()[-1] == "1 True"


def test_properties_lists_every_law(capsys):
    status, out, _ = run(capsys, "properties")
    assert status == 0
    for prop in all_properties():
        assert prop.name in out
    assert "⟨R(m)·q, R(n)·k⟩ = ⟨R(m+s)·q, R(n+s)·k⟩" in out


def test_traps_are_listed_printed_and_found(capsys):
    _, out, _ = run(capsys, "traps")
    assert len(out.splitlines()) == len(traps.all_traps())
    _, out, _ = run(capsys, "traps", "recompute-all")
    assert out.startswith('"""The growing prefix is projected again')
    assert run(capsys, "traps", "recompute_all", "--path")[1].endswith("recompute_all.py\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_every_terminal_can_show_the_report(encoding):
    done = subprocess.run(
        [sys.executable, "-m", "rope_kv", "check", HALVES],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert done.returncode == 1
    assert done.stderr == b""
    text = done.stdout.decode(encoding)
    law = {
        "utf-8": "(x₂ᵢ + j·x₂ᵢ₊₁) ↦ (x₂ᵢ + j·x₂ᵢ₊₁)·exp(j·p·θᵢ)",
        "ascii": "(x2_i + j*x2_i+_1) -> (x2_i + j*x2_i+_1)*exp(j*p*theta_i)",
    }
    assert law.get(encoding, law["ascii"]) in text


def test_a_reader_that_closes_early_is_no_error():
    done = subprocess.run(
        f"{shlex.quote(sys.executable)} -m rope_kv properties | head -1",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""


def test_help_does_not_import_hypothesis():
    code = (
        "import sys; from rope_kv.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "assert 'hypothesis' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_check_of_what_holds_imports_nothing_that_is_for_libraries_mistakes_or_pages():
    right = str(Path(__file__).parent / "right/einsum_only.py")
    code = (
        "import sys; from rope_kv.cli import main\n"
        f"main(['check', {right!r}, '--no-isolate', '--time-limit', '1e-9'])\n"
        "print(*(name for name in sys.modules if name.startswith('rope_kv')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "rope_kv.properties.test_rotation" in loaded
    assert not loaded & {
        "rope_kv.properties.setups",
        "rope_kv.properties.test_sessions",
        "rope_kv.reports.html",
        "rope_kv.testing.diagnosis",
        "rope_kv.testing.scene",
    }
