"""What sessions, batches and layouts of the reference add to the properties: their refusals."""

import numpy as np
import pytest

from rope_kv import Decoder, KVCache, apply_rope, convert_layout, prefill, start, start_batch
from rope_kv.cache import RingCache

X = np.ones((3, 4))


def test_a_decoder_says_how_to_make_it_again_whatever_it_is():
    for said in (
        "Decoder(8, heads=4, kv_heads=2, head_dim=6, rotary_dim=4)",
        "Decoder(8, heads=2)",
        "Decoder(4, base=500, seed=2, window=3, sinks=1)",
        "Decoder(4, scaling={'rule': 'linear', 'factor': 2.0})",
    ):
        assert repr(eval(said, {"Decoder": Decoder})) == said


def test_the_weights_of_a_decoder_have_a_row_for_each_number_that_goes_in():
    decoder = Decoder(6, seed=1, heads=4, kv_heads=2, head_dim=8)
    shapes = {name: getattr(decoder, name).shape for name in ("Wq", "Wk", "Wv", "Wo")}
    assert shapes == {"Wq": (6, 32), "Wk": (6, 16), "Wv": (6, 16), "Wo": (32, 6)}
    plain = Decoder(6, heads=4, kv_heads=2, head_dim=8)
    np.testing.assert_array_equal(plain.Wk, np.eye(6, 16))


def test_a_ring_keeps_the_last_tokens_and_the_sinks_and_their_positions():
    ring = RingCache(1, window=3, sinks=1)
    for p in range(8):
        row = np.array([[float(p)]])
        ring.extend(row, -row, np.array([p]))
    assert sorted(ring.positions) == [0, 5, 6, 7]
    np.testing.assert_array_equal(ring.keys[:, 0], ring.positions)
    np.testing.assert_array_equal(ring.values[:, 0], -ring.positions)
    assert len(ring) == 4


def test_a_long_chunk_leaves_in_a_ring_what_single_rows_leave():
    rows, positions = np.arange(9.0)[:, np.newaxis], np.arange(9)
    whole, single = (RingCache(1, window=4, sinks=2) for _ in range(2))
    whole.extend(rows, rows, positions)
    for p in range(9):
        single.extend(rows[p : p + 1], rows[p : p + 1], positions[p : p + 1])
    np.testing.assert_array_equal(whole.positions, single.positions)
    np.testing.assert_array_equal(whole.keys, single.keys)


def test_a_ring_goes_back_one_token_and_no_further():
    ring = RingCache(1, window=3, sinks=0)
    rows = np.zeros((5, 1))
    ring.extend(rows, rows, np.arange(5))
    ring.crop(4)
    assert sorted(ring.positions) == [2, 3]
    with pytest.raises(ValueError, match="cannot go back to 3 tokens"):
        ring.crop(3)
    assert sorted(ring.positions) == [2, 3]
    ring.crop(0)
    assert len(ring) == 0


def test_a_session_has_a_ring_only_where_one_is_enough():
    ring = start(Decoder(4, window=2))
    ring.feed(np.ones((50, 4)))
    assert len(ring._cache) == 2
    growing = start(Decoder(4, window=2), capacity=50)
    growing.feed(np.ones((50, 4)))
    assert len(growing._cache) == 50


def test_a_feed_that_is_refused_changes_nothing():
    session = start(Decoder(4), capacity=4)
    session.feed(X)
    with pytest.raises(ValueError, match="room for 4 tokens, not for 6"):
        session.feed(X)
    assert session.length == 3
    session.feed(X[:1])
    assert session.length == 4


def test_a_fork_shares_nothing_with_its_origin():
    for decoder in (Decoder(4), Decoder(4, window=2)):
        session = start(decoder)
        session.feed(X)
        branch = session.fork()
        assert not np.shares_memory(branch._cache._keys, session._cache._keys)
        branch.crop(0)
        assert (session.length, branch.length) == (3, 0)


def test_all_tokens_at_once_are_a_session_fed_once():
    decoder = Decoder(4, seed=1, heads=2)
    np.testing.assert_allclose(prefill(decoder, X), decoder.forward_full(X), rtol=1e-12)


def test_a_batch_may_be_empty_or_fed_nothing():
    batch = start_batch(Decoder(4), 2)
    assert [one.shape for one in batch.feed([X[:0], X[:0]])] == [(0, 4), (0, 4)]
    assert start_batch(Decoder(4), 0).feed([]) == []


def test_converting_a_layout_moves_pairs():
    row = [[0, 1, 2, 3, 4, 5]]
    np.testing.assert_array_equal(convert_layout(row, "interleaved", "half"), [[0, 2, 4, 1, 3, 5]])
    np.testing.assert_array_equal(convert_layout(row, "half", "interleaved"), [[0, 3, 1, 4, 2, 5]])
    same = convert_layout(row, "half", "half")
    np.testing.assert_array_equal(same, row)


def _fed(count=3, **more):
    session = start(Decoder(4, **more))
    session.feed(np.ones((count, 4)))
    return session


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: _fed().crop(-1), ValueError, "length must be from 0 to 3, found -1"),
        (lambda: _fed().crop(4), ValueError, "length must be from 0 to 3, found 4"),
        (lambda: _fed().crop(1.5), TypeError, "'float' object cannot be interpreted"),
        (lambda: _fed(9, window=2).crop(3), ValueError, "only the last 2 are kept"),
        (lambda: _fed().feed(X[0]), ValueError, "rows must be 2-D"),
        (lambda: _fed().feed(X[:, :2]), ValueError, "rows must have 4 columns"),
        (lambda: KVCache(2, 0).append([0, 0], [0, 0], 0), ValueError, "room for 0 tokens, not"),
        (lambda: Decoder(4, heads=0), ValueError, "heads must be from 1 to"),
        (lambda: Decoder(4, heads=3, kv_heads=2, head_dim=2), ValueError, "multiple of kv_heads"),
        (lambda: Decoder(4, heads=2, kv_heads=4), ValueError, "kv_heads must be from 1 to 2"),
        (lambda: Decoder(4, heads=4), ValueError, "head_dim must be an even integer"),
        (lambda: Decoder(4, rotary_dim=6), ValueError, "rotary_dim must be at most head_dim, 4"),
        (lambda: Decoder(4, rotary_dim=3), ValueError, "rotary_dim must be an even integer"),
        (lambda: Decoder(4, window=0), ValueError, "window must be from 1 to"),
        (lambda: Decoder(4, window=1.0), TypeError, "window must be an integer, found 1.0"),
        (lambda: Decoder(4, sinks=-1), ValueError, "sinks must be from 0 to"),
        (lambda: apply_rope(X, [0, 1, 2], rotary_dim=6), ValueError, "at most 4, the width of a"),
        (lambda: apply_rope(X, [0, 1, 2], rotary_dim=3), ValueError, "rotary_dim must be an even"),
        (lambda: convert_layout(X, "halves", "half"), ValueError, "found 'halves'"),
        (lambda: convert_layout(X[:, :3], "half", "half"), ValueError, "the number of columns"),
        (lambda: start_batch(Decoder(4), 2, side="top"), ValueError, "side must be 'left' or"),
        (lambda: start_batch(Decoder(4), 2).feed([X]), ValueError, "must be 2 arrays, found 1"),
        (lambda: start_batch(Decoder(4), 2).reorder([0, 2]), ValueError, "from 0 to 1, found"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, error, sentence):
    with pytest.raises(error) as refusal:
        call()
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)
