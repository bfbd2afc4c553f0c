"""Style: R(p) = R(1) ** p by repeated squaring of 2x2 rotations, in extended precision."""

import numpy as np

LD = np.longdouble


def _freqs(d, base):
    return np.exp(-np.log(LD(base)) * np.arange(0, d, 2) / d)


def rope_freqs(d, base=10000):
    return _freqs(d, base).astype(np.float64)


def _unit_rotations(d, base):
    """(d/2, 2, 2): how far each pair turns in one step."""
    freqs = _freqs(d, base)
    cos, sin = np.cos(freqs), np.sin(freqs)
    return np.array([[cos, -sin], [sin, cos]]).transpose(2, 0, 1)


def _power(rotations, exponent):
    """rotations ** exponent; the inverse of a rotation is its transpose."""
    if exponent < 0:
        rotations, exponent = rotations.transpose(0, 2, 1), -exponent
    result = np.broadcast_to(np.eye(2, dtype=LD), rotations.shape)
    while exponent:
        if exponent & 1:
            result = result @ rotations
        exponent >>= 1
        if exponent:
            rotations = rotations @ rotations
    return result


def apply_rope(x, positions, base=10000):
    n, d = x.shape
    unit = _unit_rotations(d, base)
    out = np.empty((n, d), dtype=np.float64)
    for t, position in enumerate(positions):
        pairs = x[t].astype(LD).reshape(d // 2, 2, 1)
        out[t] = (_power(unit, int(position)) @ pairs).reshape(d)
    return out


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    unit = _unit_rotations(d, decoder.base)
    turn = _power(unit, 0)
    keys, values = np.empty((n, d)), np.empty((n, d))
    out = np.empty((n, d))
    for t in range(n):
        row = x_embedded[t : t + 1]
        q = (turn @ decoder.project_q(row).reshape(d // 2, 2, 1)).reshape(d).astype(np.float64)
        keys[t] = (turn @ decoder.project_k(row).reshape(d // 2, 2, 1)).reshape(d)
        values[t] = decoder.project_v(row)[0]
        scores = keys[: t + 1] @ q / np.sqrt(d)
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        out[t] = decoder.project_out(weights[None] @ values[: t + 1])[0]
        turn = turn @ unit  # one position further
    return out
