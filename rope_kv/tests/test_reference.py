"""What the reference adds to the properties: its cache, its decoder, its refusals."""

import numpy as np
import pytest

from rope_kv import Decoder, KVCache, apply_rope, decode_incremental, rope_freqs

X = np.ones((2, 4))


def test_the_cache_keeps_rows_and_their_positions_as_it_grows():
    cache = KVCache(2)
    for n in range(37):
        cache.append([n, n], [-n, -n], position=3 * n)
    assert len(cache) == 37
    np.testing.assert_array_equal(cache.keys[:, 0], np.arange(37))
    np.testing.assert_array_equal(cache.values[:, 0], -np.arange(37))
    np.testing.assert_array_equal(cache.positions, 3 * np.arange(37))


def test_the_next_position_follows_the_newest_and_not_the_length():
    cache = KVCache(2)
    assert cache.next_position == 0
    cache.append([1, 0], [0, 1], position=100)
    assert cache.next_position == 101
    assert len(cache) == 1


def test_the_store_is_copied_a_logarithmic_number_of_times():
    cache, stores = KVCache(2), set()
    for n in range(1000):
        cache.append([0, 0], [0, 0], n)
        stores.add(id(cache._keys))
    assert len(stores) <= 10


def test_seed_0_is_identity_and_others_are_fixed_and_differ():
    for name in ("Wq", "Wk", "Wv", "Wo"):
        np.testing.assert_array_equal(getattr(Decoder(4), name), np.eye(4))
        assert np.any(getattr(Decoder(4, seed=1), name) != getattr(Decoder(4, seed=2), name))
    # Stored counterexamples name a seed, so the weights of a seed must never change.
    drawn = [[1.6243453636632417, -0.6117564136500754], [-0.5281717522634557, -1.0729686221561705]]
    np.testing.assert_allclose(Decoder(2, seed=1).Wq, np.array(drawn) / np.sqrt(2), rtol=1e-14)


def test_each_projection_uses_its_own_weights():
    decoder, rows = Decoder(4, seed=3), np.arange(8.0).reshape(2, 4)
    for letter, name in zip("qkvo", ("q", "k", "v", "out"), strict=True):
        weights = getattr(decoder, f"W{letter}")
        np.testing.assert_array_equal(getattr(decoder, f"project_{name}")(rows), rows @ weights)


def test_a_decoder_says_how_to_make_it_again():
    assert repr(Decoder(4)) == "Decoder(4)"
    assert repr(Decoder(6, base=500.0, seed=2)) == "Decoder(6, base=500.0, seed=2)"


def test_no_rows_give_no_rows():
    assert apply_rope(np.empty((0, 4)), []).shape == (0, 4)
    assert decode_incremental(Decoder(4), np.empty((0, 4))).shape == (0, 4)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: rope_freqs(3), ValueError, "d must be an even integer of at least 2, found 3"),
        (lambda: rope_freqs(0), ValueError, "d must be an even integer of at least 2, found 0"),
        (lambda: rope_freqs(4.0), TypeError, "d must be an even integer, found 4.0 of type float"),
        (lambda: rope_freqs(True), ValueError, "d must be an even integer"),
        (lambda: rope_freqs(4, 0), ValueError, "base must be finite and above 0, found 0"),
        (lambda: rope_freqs(4, -1), ValueError, "base must be finite and above 0, found -1"),
        (lambda: rope_freqs(4, np.inf), ValueError, "base must be finite and above 0, found inf"),
        (lambda: rope_freqs(4, np.nan), ValueError, "base must be finite and above 0, found nan"),
        (lambda: rope_freqs(4, 10**400), ValueError, "base must be finite and above 0"),
        (lambda: rope_freqs(4, "ten"), TypeError, "base must be a number, found 'ten'"),
        (lambda: rope_freqs(4, None), TypeError, "base must be a number, found None"),
        (lambda: apply_rope(X[0], [0]), ValueError, "x must be 2-D, one row a token, found shape"),
        (lambda: apply_rope(X[:, :3], [0, 1]), ValueError, "the number of columns of x must be"),
        (lambda: apply_rope([[1, 2], [3]], [0, 1]), ValueError, "rows of different lengths"),
        (lambda: apply_rope(X * 1j, [0, 1]), TypeError, "x must hold real numbers"),
        (lambda: apply_rope(X, [0]), ValueError, "one entry for each of the 2 rows of x"),
        (lambda: apply_rope(X, [[0], [1]]), ValueError, "one entry for each of the 2 rows"),
        (lambda: apply_rope(X, [0.0, 1.0]), TypeError, "positions must be integers, found"),
        (lambda: apply_rope(X, [True, False]), TypeError, "positions must be integers, found"),
        (lambda: apply_rope(X, [[0], [1, 2]]), ValueError, "one sequence of integers"),
        (lambda: apply_rope(X, [0, 1], 0), ValueError, "base must be finite and above 0"),
        (lambda: Decoder(5), ValueError, "width must be an even integer of at least 2, found 5"),
        (lambda: Decoder(4, base=-2), ValueError, "base must be finite and above 0, found -2"),
        (lambda: Decoder(4, seed=-1), ValueError, "seed must be from 0 to"),
        (lambda: Decoder(4, seed=1.5), TypeError, "seed must be an integer, found 1.5"),
        (lambda: Decoder(4).project_k(X[:, :2]), ValueError, "rows must have 4 columns"),
        (lambda: Decoder(4).forward_full(X[0]), ValueError, "x_embedded must be 2-D"),
        (lambda: decode_incremental(Decoder(4), X[0]), ValueError, "x_embedded must be 2-D"),
        (lambda: decode_incremental(Decoder(4), X[:, :2]), ValueError, "rows must have 4 columns"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, error, sentence):
    with pytest.raises(error) as refusal:
        call()
    assert type(refusal.value) is error
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)
