"""What a file declares: isolated, it is understood and refused as in this process."""

import contextlib

import pytest
from libraries import opening

from rope_kv.sandbox import process, wire
from rope_kv.sandbox.client import open_file
from rope_kv.testing.capabilities import NOTHING_DECLARED, Capabilities
from rope_kv.testing.check import check
from rope_kv.testing.loading import LoadError, load


@pytest.fixture
def both(tmp_path):
    """Give a function that opens the library in this process and isolated."""
    with opening(tmp_path) as open_both:
        yield open_both


@pytest.mark.parametrize(
    "declared",
    ["{'crops': True}", "{'dtype': 'float8'}", "{'layout': None}", "3", "{'sinks': 1}", "{1: 2}",
     "{'paths': ['start']}", "{'paths': 'one'}", "{'paths': ['a'] * 33}", "{'min_width': 3}",
     "{'x' * 10**6: 1}", "{'paths': [1]}", "1 / 0", "[*globals()]"],
)  # fmt: skip
def test_what_cannot_be_declared_is_said_as_in_this_process(tmp_path, declared):
    path = tmp_path / "file.py"
    path.write_text(
        "class Mine:\n    rope_freqs = apply_rope = None\n    @property\n"
        f"    def capabilities(self):\n        return {declared}\nmine = Mine()\n"
    )
    sentences = []
    for opened in (lambda: load(f"{path}:mine"), lambda: open_file(path, "mine")):
        with pytest.raises(LoadError) as refused:
            opened()
        sentences.append(str(refused.value))
    assert sentences[0] == sentences[1]
    assert "\n" not in sentences[0]


def test_what_is_declared_is_what_is_declared_here(both, tmp_path):
    here, there = both("capabilities |= dict(layout='half', scaling=['ntk'], max_position=99)\n")
    assert there.capabilities == here.capabilities
    assert there.fresh().capabilities == here.capabilities
    path = tmp_path / "plain.py"
    path.write_text("")
    with contextlib.closing(open_file(path)) as opened:
        assert opened.capabilities == NOTHING_DECLARED


def test_bfloat16_is_refused_in_one_sentence(tmp_path):
    path = tmp_path / "file.py"
    path.write_text("capabilities = {'dtype': 'bfloat16'}\n")
    verdict = check(path)
    assert verdict.verdict == "LOAD_ERROR"
    assert verdict.message == (
        "file.py cannot be loaded: bfloat16 needs ml_dtypes; isolated code has the standard "
        "library and numpy alone (--no-isolate runs it in process)"
    )


@pytest.mark.parametrize(
    ("items", "sentence"),
    [
        *(([odd], "it sent what no file has to send") for odd in (None, 1, b"x", "{}")),
        ([], "it sent what no file has to send"),
        ([{}, {}], "it sent what no file has to send"),
        ([{"crop": 1}], "capability crop is True or False, found 1"),
        ([{"no": 1}], "there is no capability 'no'"),
        ([{"dtype": "bfloat16"}], "bfloat16 needs ml_dtypes; isolated code has"),
        ([{"paths": [["x"]]}], "capability paths is a list of names"),
        ([{"paths": {"x": 1}}], "capability paths is a list of names"),
        ([{"max_position": 10**400}], ""),
    ],
)
def test_what_a_worker_says_is_declared_is_not_believed(tmp_path, monkeypatch, items, sentence):
    path = tmp_path / "file.py"
    path.write_text("")
    real = process.Worker.receive

    def receive(self, deadline, cap):
        frame = real(self, deadline, cap)
        return frame._replace(items=items) if frame.kind == wire.LOADED else frame

    monkeypatch.setattr(process.Worker, "receive", receive)
    if sentence:
        with pytest.raises(LoadError, match=r"file\.py cannot be loaded: ") as refused:
            open_file(path)
        assert sentence in str(refused.value)
    else:
        with contextlib.closing(open_file(path)) as opened:
            assert opened.capabilities == Capabilities.of(items[0])
