"""How fast the reference is, beside what one would write instead; not a test, and not run as one.

pip install -e '.[benchmark]' && pytest rope_kv/tests/benchmark_reference.py
"""

import numpy as np
import pytest

from rope_kv import Decoder, apply_rope, decode_incremental, start

ROWS, WIDTH = 4096, 128
TOKENS, HEAD = 2048, 64
rng = np.random.default_rng(0)
x = rng.standard_normal((ROWS, WIDTH))
positions = np.arange(ROWS)
tokens = rng.standard_normal((TOKENS, HEAD))
decoder = Decoder(HEAD, seed=1)


def by_even_and_odd(x, positions, base=10000):
    """The formula as most write it: two strided halves, cos and sin of every angle."""
    angles = np.multiply.outer(positions, base ** (-np.arange(0, x.shape[1], 2) / x.shape[1]))
    cos, sin = np.cos(angles), np.sin(angles)
    turned = np.empty_like(x)
    turned[:, 0::2] = x[:, 0::2] * cos - x[:, 1::2] * sin
    turned[:, 1::2] = x[:, 0::2] * sin + x[:, 1::2] * cos
    return turned


def in_place(x, positions, base=10000):
    """A complex product in place: no temporary but the turns, cos and sin of every angle."""
    angles = np.multiply.outer(positions, base ** (-np.arange(0, x.shape[1], 2) / x.shape[1]))
    turns = np.empty(angles.shape, dtype=complex)
    np.cos(angles, out=turns.real)
    np.sin(angles, out=turns.imag)
    turns *= x.view(complex)
    return turns.view(float)


def by_blocks(x, positions, base=10000, block=64):
    """The same with the turns of 64·a + b from those of 64·a and of b, and no check at all."""
    theta = base ** (-np.arange(0, x.shape[1], 2) / x.shape[1])
    blocks, places = np.divmod(positions, block)
    starts, of = np.unique(blocks, return_inverse=True)
    turns = np.exp(1j * np.multiply.outer(block * starts, theta))[of]
    turns *= np.exp(1j * np.multiply.outer(np.arange(block), theta))[places]
    turns *= x.view(complex)
    return turns.view(float)


def concatenating(decoder, x):
    """The textbook's loop: keys and values are concatenated at every step."""
    keys, values, outputs = np.empty((0, HEAD)), np.empty((0, HEAD)), []
    for t in range(len(x)):
        row = x[t : t + 1]
        q = by_even_and_odd(decoder.project_q(row), [t], decoder.base)
        k = by_even_and_odd(decoder.project_k(row), [t], decoder.base)
        keys = np.concatenate([keys, k])
        values = np.concatenate([values, decoder.project_v(row)])
        scores = q @ keys.T / np.sqrt(HEAD)
        weights = np.exp(scores - scores.max())
        outputs.append(decoder.project_out(weights / weights.sum() @ values))
    return np.concatenate(outputs)


def concatenating_lists(decoder, x):
    """The same with lists of rows, of which arrays are made anew at every step."""
    keys, values, outputs = [], [], []
    for t in range(len(x)):
        row = x[t : t + 1]
        q = by_even_and_odd(decoder.project_q(row), [t], decoder.base)
        keys = [*keys, by_even_and_odd(decoder.project_k(row), [t], decoder.base)[0]]
        values = [*values, decoder.project_v(row)[0]]
        scores = q @ np.array(keys).T / np.sqrt(HEAD)
        weights = np.exp(scores - scores.max())
        outputs.append(decoder.project_out(weights / weights.sum() @ np.array(values)))
    return np.concatenate(outputs)


def by_session(decoder, x):
    """A session, fed row by row."""
    session = start(decoder)
    return np.concatenate([session.feed(x[t : t + 1]) for t in range(len(x))])


@pytest.mark.benchmark(group="apply_rope, (4096, 128)")
@pytest.mark.parametrize("rotate", [apply_rope, by_even_and_odd, in_place, by_blocks])
def test_rotation(benchmark, rotate):
    turned = benchmark(rotate, x, positions)
    np.testing.assert_allclose(turned, apply_rope(x, positions), atol=1e-10)


@pytest.mark.benchmark(group="decoding, T = 2048, D = 64")
@pytest.mark.parametrize(
    "decode", [decode_incremental, by_session, concatenating, concatenating_lists]
)
def test_decoding(benchmark, decode):
    decoded = benchmark.pedantic(decode, (decoder, tokens), rounds=3)
    np.testing.assert_allclose(decoded, decode_incremental(decoder, tokens), atol=1e-10)
