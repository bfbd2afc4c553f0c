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
