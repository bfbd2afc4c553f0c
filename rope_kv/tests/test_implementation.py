"""How the code under test is found, loaded and called."""

import sys
import types
from pathlib import Path

import numpy as np
import pytest

import rope_kv
from rope_kv.testing.comparison import Broken
from rope_kv.testing.implementation import FUNCTIONS
from rope_kv.testing.loading import LoadError, SpecError, load

RIGHT = """
import numpy as np
def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)
"""


def missing(impl):
    """The functions of the contract that the code does not have."""
    found = []
    for name, arguments in zip(FUNCTIONS, ((2,), (np.eye(2), [0, 1]), (None, None)), strict=True):
        try:
            getattr(impl, name)(*arguments)
        except Broken as broken:
            found += [name] if broken.kind == "missing" else []
    return found


def written(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["student.py", "müller-hw 3.final.py", "1st.py", "numpy.py"])
def test_a_file_of_any_name_loads(tmp_path, name):
    impl = load(str(written(tmp_path, name, RIGHT)))
    np.testing.assert_allclose(impl.rope_freqs(4), [1, 0.01])
    assert impl.name == name


def test_an_attribute_of_a_file_loads(tmp_path):
    text = "class Mine:\n    @staticmethod\n    def rope_freqs(d, base=10000):\n        return d\n"
    path = written(tmp_path, "a.py", text + "class holder:\n    mine = Mine()\n")
    assert load(f"{path}:Mine").rope_freqs(4) == 4
    assert load(f"{path}:holder.mine").rope_freqs(4) == 4


def test_a_module_an_attribute_of_one_and_an_object_load():
    assert load("rope_kv").rope_freqs(8).shape == (4,)
    assert missing(load("rope_kv.rope")) == ["decode_incremental"]
    assert missing(load(rope_kv)) == []
    assert load(types.SimpleNamespace(rope_freqs=lambda d: d)).rope_freqs(2) == 2
    assert missing(load("rope_kv.rope:apply_rope")) == list(FUNCTIONS)


def test_dataclasses_postponed_annotations_and_neighbours_load(tmp_path):
    written(tmp_path, "helper.py", "FACTOR = 3\n")
    (tmp_path / "table.txt").write_text("7")
    text = (
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from pathlib import Path\n"
        "from helper import FACTOR\n"
        "HERE = int(open('table.txt').read())\n"
        "BESIDE = int((Path(__file__).parent / 'table.txt').read_text())\n"
        "@dataclass\nclass Config:\n    base: float = 1.0\n"
        "def rope_freqs(d, base=1):\n    return Config().base * FACTOR + HERE + BESIDE\n"
    )
    cwd = Path.cwd()
    assert load(written(tmp_path, "a-b.py", text)).rope_freqs(2) == 17
    assert Path.cwd() == cwd
    assert str(tmp_path) not in sys.path
    assert "helper" not in sys.modules
    assert not [name for name in sys.modules if name.startswith("submission")]


def test_neighbours_of_two_students_are_kept_apart(tmp_path):
    found = []
    for factor in (3, 5):
        folder = tmp_path / str(factor)
        folder.mkdir()
        written(folder, "helper.py", f"FACTOR = {factor}\n")
        text = "from helper import FACTOR\ndef rope_freqs(d, base=1):\n    return FACTOR\n"
        found.append(load(written(folder, "a.py", text)).rope_freqs(2))
    assert found == [3, 5]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("def f(:\n", "SyntaxError: invalid syntax (line 1)"),
        ("x = 1\nx / 0\n", "it raised ZeroDivisionError: division by zero (line 2)"),
        ("import no_such_package\n", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("raise SystemExit(3)\n", "it raised SystemExit: 3 (line 1)"),
        ("class E(Exception):\n  def __str__(self): 1/0\nraise E\n", "message cannot be shown"),
        ("\0", "cannot be loaded: "),
    ],
)
def test_a_file_that_fails_to_load_says_why_in_one_line(tmp_path, text, sentence):
    with pytest.raises(LoadError) as failure:
        load(written(tmp_path, "a.py", text))
    assert sentence in str(failure.value)
    assert str(failure.value).startswith("a.py cannot be loaded")
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("nowhere.py", "there is no file nowhere.py"),
        ("no_such_module_here", "there is no module no_such_module_here"),
        ("rope_kv:nothing", "rope_kv has no 'nothing'"),
        ("rope_kv.rope:apply_rope.x", "rope_kv.rope has no 'apply_rope.x'"),
        ("what/is/this", "cannot tell what 'what/is/this' is"),
    ],
)
def test_what_is_not_there_is_said_in_one_sentence(spec, sentence):
    with pytest.raises(SpecError) as failure:
        load(spec)
    assert sentence in str(failure.value)


def test_what_the_code_raises_becomes_one_sentence_with_its_line(tmp_path):
    text = "def rope_freqs(d, base=1):\n    raise ValueError('two\\nlines ' + 'x' * 1000)\n"
    with pytest.raises(Broken) as broken:
        load(written(tmp_path, "a.py", text)).rope_freqs(2)
    assert broken.value.kind == "raised"
    assert broken.value.sentence.startswith("rope_freqs raised ValueError: two lines xxx")
    assert broken.value.sentence.endswith("(line 2)")
    assert len(broken.value.sentence) < 400


def test_what_a_called_function_raises_is_said_with_the_line_that_called_it(tmp_path):
    text = "def pairs(d):\n    return [][d]\n\ndef rope_freqs(d, base=1):\n    return pairs(d)\n"
    with pytest.raises(Broken) as broken:
        load(written(tmp_path, "a.py", text)).rope_freqs(2)
    assert broken.value.sentence.endswith("out of range (line 2, called from line 5)")


def test_what_the_code_raises_cannot_paint_the_terminal(tmp_path):
    text = "def rope_freqs(d, base=1):\n    raise ValueError('\\x1b[2J\\udc80 ok')\n"
    with pytest.raises(Broken) as broken:
        load(written(tmp_path, "a.py", text)).rope_freqs(2)
    assert "ValueError: \\x1b[2J\\xdc80 ok" in broken.value.sentence


def test_a_file_finds_its_modules_while_it_runs(tmp_path):
    written(tmp_path, "helper.py", "FACTOR = 3\n")
    text = (
        "from __future__ import annotations\n"
        "import pickle, sys\n"
        "class Kept:\n    pass\n"
        "def rope_freqs(d, base=1):\n"
        "    import dataclasses, helper\n"
        "    @dataclasses.dataclass\n    class Local:\n        x: int\n"
        "    pickle.loads(pickle.dumps(Kept()))\n"
        "    sys.stdout.reconfigure(encoding='utf-8')\n"
        "    sys.stdout.fileno()\n"
        "    assert sys.modules[__name__].rope_freqs is rope_freqs\n"
        "    return Local(helper.FACTOR).x\n"
    )
    impl = load(written(tmp_path, "a.py", text))
    assert [impl.rope_freqs(2), impl.rope_freqs(2)] == [3, 3]
    assert "helper" not in sys.modules
    assert str(tmp_path) not in sys.path


def test_a_missing_function_is_one_sentence():
    with pytest.raises(Broken, match=r"apply_rope is missing: .* has no function of that name"):
        load(types.SimpleNamespace()).apply_rope([[1, 0]], [0])


def test_prints_and_warnings_of_the_code_do_not_reach_the_report(tmp_path, capfd):
    text = (
        "import warnings\nimport numpy as np\nprint('at import')\n"
        "def rope_freqs(d, base=1):\n"
        "    print('in a call')\n    warnings.warn('careful')\n    return np.exp(1e9)\n"
    )
    assert load(written(tmp_path, "a.py", text)).rope_freqs(2) == np.inf
    assert capfd.readouterr() == ("", "")


def test_fresh_forgets_what_a_file_remembers(tmp_path):
    text = "seen = []\ndef rope_freqs(d, base=1):\n    seen.append(d)\n    return len(seen)\n"
    impl = load(written(tmp_path, "a.py", text))
    assert [impl.rope_freqs(2), impl.rope_freqs(2), impl.fresh().rope_freqs(2)] == [1, 2, 1]


@pytest.mark.parametrize("how", ["file", "module", "object"])
def test_a_function_can_be_replaced_for_the_others(tmp_path, monkeypatch, how):
    text = "def rope_freqs(d):\n    return 1\ndef apply_rope(x, p):\n    return rope_freqs(2)\n"
    path = written(tmp_path, "replaceable.py", text)
    monkeypatch.syspath_prepend(tmp_path)
    if how == "file":
        impl = load(path)
    else:
        impl = load("replaceable")
        if how == "object":
            impl = load(
                types.SimpleNamespace(
                    rope_freqs=impl._code.rope_freqs, apply_rope=impl._code.apply_rope
                )
            )
    assert impl.with_replaced("rope_freqs", lambda d: 5).apply_rope([], []) == 5
    assert impl.apply_rope([], []) == 1
    sys.modules.pop("replaceable", None)
