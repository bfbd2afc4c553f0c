"""The oracle, pinned by a second formulation and by longer arithmetic."""

import math

import mpmath
import numpy as np
import pytest

from rope_kv import Decoder, oracle
from rope_kv.testing import bounds


def rotation_matrix(position, d, base):
    """R(position) as a block-diagonal matrix, equation (15) of the paper, entry by entry."""
    matrix = np.zeros((d, d))
    for i in range(d // 2):
        angle = position * base ** (-2 * i / d)
        matrix[2 * i, 2 * i] = matrix[2 * i + 1, 2 * i + 1] = math.cos(angle)
        matrix[2 * i + 1, 2 * i] = math.sin(angle)
        matrix[2 * i, 2 * i + 1] = -math.sin(angle)
    return matrix


def attention_by_loops(x, decoder):
    """Causal attention with one loop for each sum."""
    count, width = x.shape
    q, k, v = ([row @ weights for row in x] for weights in (decoder.Wq, decoder.Wk, decoder.Wv))
    out = []
    for t in range(count):
        scores = []
        for j in range(t + 1):
            turned_q = rotation_matrix(t, width, decoder.base) @ q[t]
            turned_k = rotation_matrix(j, width, decoder.base) @ k[j]
            scores.append(sum(a * b for a, b in zip(turned_q, turned_k, strict=True)))
        scores = [score / math.sqrt(width) for score in scores]
        weights = [math.exp(score - max(scores)) for score in scores]
        mean = sum(w * v[j] for j, w in enumerate(weights)) / sum(weights)
        out.append(mean @ decoder.Wo)
    return np.array(out)


def grouped_attention_by_loops(x, decoder, layout):
    """Attention with a loop for each head, token, seen token and pair, positions as they come."""
    d, r = decoder.head_dim, decoder.rotary_dim or decoder.head_dim
    q, k, v = (
        (x @ weights).reshape(len(x), -1, d) for weights in (decoder.Wq, decoder.Wk, decoder.Wv)
    )
    partner = r // 2 if layout == "half" else 1
    first = range(r // 2) if layout == "half" else range(0, r, 2)

    def score(t, j, query, key):
        total = float(query[r:] @ key[r:])
        for i, a in enumerate(first):
            b, angle = a + partner, (j - t) * decoder.base ** (-2 * i / r)
            along = query[a] * key[a] + query[b] * key[b]
            across = query[b] * key[a] - query[a] * key[b]
            total += along * math.cos(angle) + across * math.sin(angle)
        return total / math.sqrt(d)

    out = np.zeros((len(x), decoder.heads * d))
    for t in range(len(x)):
        oldest = 0 if decoder.window is None else t - decoder.window + 1
        seen = [j for j in range(t + 1) if j >= oldest or j < decoder.sinks]
        for h in range(decoder.heads):
            g = h * decoder.kv_heads // decoder.heads
            weights = np.exp([score(t, j, q[t, h], k[j, g]) for j in seen])
            mean = sum(w * v[j, g] for w, j in zip(weights, seen, strict=True)) / sum(weights)
            out[t, h * d : h * d + d] = mean
    return out @ decoder.Wo


def test_the_published_frequencies_of_width_8():
    np.testing.assert_allclose(
        oracle.frequencies(8, 10000), [1, 0.1, 0.01, 0.001], rtol=4e-16, atol=0
    )


@pytest.mark.parametrize(("d", "base"), [(2, 10000), (6, 500), (16, 0.5), (32, 1e6)])
def test_rotation_is_the_block_diagonal_matrix_of_the_paper(d, base):
    rng = np.random.RandomState(d)
    x, positions = rng.standard_normal((5, d)), [0, 1, -7, 300, 4096]
    by_matrix = [rotation_matrix(p, d, base) @ row for p, row in zip(positions, x, strict=True)]
    within = bounds.rotation(x, positions, base)
    assert np.all(np.abs(oracle.rotate(x, positions, base) - by_matrix) <= within / 2)


@pytest.mark.parametrize("position", [1, 257, 65537, 2**20 - 1, -(2**20)])
def test_rotation_at_large_positions_agrees_with_fifty_digits(position):
    d, base = 8, 500000
    x = np.array([[1.0, 0.0, 0.5, -2.0, 3.0, 1.0, -1.0, 0.25]])
    with mpmath.workdps(50):
        expected = []
        for i in range(d // 2):
            angle = position * mpmath.power(base, mpmath.mpf(-2 * i) / d)
            turned = mpmath.mpc(*x[0, 2 * i : 2 * i + 2]) * mpmath.expj(angle)
            expected += [float(turned.real), float(turned.imag)]
    within = bounds.rotation(x, [position], base)
    assert np.all(np.abs(oracle.rotate(x, [position], base) - expected) <= within / 2)


@pytest.mark.parametrize(("count", "width", "seed"), [(1, 2, 0), (4, 6, 1), (9, 8, 2)])
def test_the_full_pass_is_attention_by_loops(count, width, seed):
    x = np.random.RandomState(count).standard_normal((count, width))
    decoder = Decoder(width, base=100, seed=seed)
    difference = np.abs(oracle.forward(x, decoder) - attention_by_loops(x, decoder))
    assert np.all(difference <= bounds.decoding(x, decoder))


def test_the_weights_of_a_row_are_positive_up_to_itself_and_zero_after():
    rng = np.random.RandomState(0)
    weights = oracle.attention_weights(rng.standard_normal((5, 4)), rng.standard_normal((5, 4)))
    np.testing.assert_array_equal(weights > 0, np.tri(5, dtype=bool))
    np.testing.assert_allclose(weights.sum(axis=1), 1)


@pytest.mark.parametrize("layout", ["interleaved", "half", "interleaved to half"])
@pytest.mark.parametrize(
    "more",
    [
        {"heads": 2},
        {"heads": 4, "kv_heads": 2, "head_dim": 6, "rotary_dim": 4},
        {"heads": 3, "kv_heads": 1, "head_dim": 4},
        {"window": 1},
        {"window": 3, "sinks": 2},
        {"window": 2, "sinks": 1, "heads": 2, "kv_heads": 1, "head_dim": 8, "rotary_dim": 6},
    ],
    ids=str,
)
def test_heads_windows_and_layouts_are_attention_by_loops(layout, more):
    x = np.random.RandomState(7).standard_normal((7, 8))
    decoder = Decoder(8, base=100, seed=3, **more)
    difference = np.abs(
        oracle.forward(x, decoder, layout) - grouped_attention_by_loops(x, decoder, layout)
    )
    assert np.all(difference <= bounds.decoding(x, decoder, layout))


def test_a_row_that_is_turned_in_half_layout_is_one_whose_halves_are_turned_as_pairs():
    x = np.random.RandomState(1).standard_normal((3, 8))
    order = [0, 4, 1, 5, 2, 6, 3, 7]  # entry i of a half beside entry i of the other
    turned = oracle.rotate(x, [2, 0, -5], 100, layout="half")
    np.testing.assert_array_equal(turned[:, order], oracle.rotate(x[:, order], [2, 0, -5], 100))


def test_what_is_not_turned_stays_bit_for_bit():
    x = np.random.RandomState(2).standard_normal((4, 8))
    turned = oracle.rotate(x, [1, 2, 3, 4], 10000, rotary_dim=6)
    np.testing.assert_array_equal(turned[:, 6:], x[:, 6:])
    np.testing.assert_array_equal(turned[:, :6], oracle.rotate(x[:, :6], [1, 2, 3, 4], 10000))


def test_a_window_counts_the_token_itself():
    np.testing.assert_array_equal(oracle.visible(3, 1), np.eye(3, dtype=bool))
    seen = oracle.visible(5, 2, 1)
    np.testing.assert_array_equal(seen[4], [True, False, False, True, True])


def test_a_narrower_precision_allows_more_and_half_precision_no_more_of_an_angle():
    x, far = np.ones((1, 4)), [100_000]
    within = {
        name: bounds.rotation(x, far, 10000, precision=precision).max()
        for name, precision in bounds.PRECISIONS.items()
    }
    assert within["float64"] < within["float32"] < within["float16"] < within["bfloat16"]
    # Far away the error of a float32 angle is larger than that of rounding to 11 bits.
    assert within["float16"] < 1.5 * within["float32"]


@pytest.mark.parametrize("name", bounds.PRECISIONS)
def test_a_token_that_sees_itself_alone_is_its_value_however_loud_it_is(name):
    x, decoder = np.full((1, 2), 3.0), Decoder(2, seed=1)
    precision = bounds.PRECISIONS[name]
    within = bounds.decoding(x, decoder, precision=precision)
    largest = np.abs(x @ decoder.Wv) @ np.abs(decoder.Wo)
    assert np.all(within < 600 * precision.numbers * largest)
    quiet = bounds.decoding(x / 1024, decoder, precision=precision)
    assert np.all(quiet < 30 * precision.numbers * largest / 1024 + 100 * precision.small)


@pytest.mark.parametrize("name", bounds.PRECISIONS)
def test_no_answer_is_allowed_to_be_further_off_than_values_are_apart(name):
    x, decoder = 1e6 * np.array([[1, 2], [3, -1], [-2, 1.0]]), Decoder(2, seed=2)
    values = np.abs(x @ decoder.Wv).max(axis=0) @ np.abs(decoder.Wo)
    within = bounds.decoding(x, decoder, precision=bounds.PRECISIONS[name])
    assert np.all(within < 5 * values)


def test_nothing_in_few_digits_is_allowed_where_something_is_due():
    x = np.array([[1.0, 0, 0.5, 0], [0, 1, 0, -0.5], [0.5, 0, -1, 1]])
    within = bounds.decoding(x, Decoder(4), precision=bounds.PRECISIONS["bfloat16"])
    assert np.any(within < np.abs(oracle.forward(x, Decoder(4))))
