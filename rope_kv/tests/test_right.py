"""What is right is computed once where it is remembered, and always the same."""

import types

import numpy as np
import pytest

from rope_kv import oracle
from rope_kv.decoder import Decoder
from rope_kv.testing import right
from rope_kv.testing.loading import load

X = np.random.RandomState(0).rand(3, 4)


@pytest.fixture
def computed(monkeypatch):
    """What the oracle was asked for."""
    asked = []
    for name in ("frequencies", "rotate", "forward"):
        real = getattr(oracle, name)

        def spy(*arguments, _name=name, _real=real, **named):
            asked.append(_name)
            return _real(*arguments, **named)

        monkeypatch.setattr(oracle, name, spy)
    return asked


def all_kinds(impl):
    """Right answers of each function, each for some arguments that differ in one thing."""
    for d, base in ((4, 10.0), (2, 10.0), (4, 2.0)):
        yield right.frequencies(impl, d, base)
    for x, base in ((X, 10.0), (X + 1, 10.0), (X, 2.0)):
        yield right.rotation(impl, x, [0, 1, 2], base)
    yield right.rotation(impl, X, [0, 1, 3], 10.0)
    altered = Decoder(4, seed=1)
    altered.Wv = altered.Wv + 1
    for decoder in (Decoder(4, seed=1), Decoder(4, seed=2), Decoder(4, 2.0, 1), altered):
        yield right.decoding(impl, X, decoder)
    yield right.decoding(impl, X[:2], altered)


def test_what_is_remembered_is_what_is_computed():
    impl = load("rope_kv")
    due = [(one.expected, one.within) for one in all_kinds(impl)]
    with right.remembering():
        for _ in range(2):
            for one, (expected, within) in zip(all_kinds(impl), due, strict=True):
                np.testing.assert_array_equal(one.expected, expected)
                np.testing.assert_array_equal(one.within, within)


def test_each_answer_is_computed_once_in_the_block_and_anew_after_it(computed):
    impl = load("rope_kv")
    with right.remembering():
        first = [one.expected for one in all_kinds(impl)]
        count = len(computed)
        assert all(one.expected is kept for one, kept in zip(all_kinds(impl), first, strict=True))
        assert len(computed) == count
        with pytest.raises(ValueError, match="read-only"):
            first[0][0] = 0
    assert next(all_kinds(impl)).expected is not first[0]


def test_precision_and_layout_are_remembered_apart():
    declared = {"layout": "half", "dtype": "float32"}
    half = load(types.SimpleNamespace(capabilities=declared, apply_rope=lambda x, positions: x))
    with right.remembering():
        for impl in (load("rope_kv"), half):
            one = right.rotation(impl, X, [1, 2, 3], 10.0)
            layout = impl.capabilities.layout
            np.testing.assert_array_equal(
                one.expected, oracle.rotate(X, [1, 2, 3], 10.0, layout=layout)
            )


def test_no_more_is_remembered_than_fits(monkeypatch):
    monkeypatch.setattr(right, "MOST_REMEMBERED", 2)
    impl = load("rope_kv")
    with right.remembering():
        for d in (2, 4, 6, 8):
            assert len(right.frequencies(impl, d, 10.0).expected) == d // 2
            assert len(right._remembered) <= 2
