"""Style: module-level tables of e^(ipf), grown by doubling, kept per (d, base), float64.

Row p = 1024 * block + offset is the product of one coarse and one fine rotation, so a table that
reaches position 2**20 is built from about 2000 rows of trigonometry.  Negative positions use the
conjugate.  The number of tables and the size of each are bounded.
"""

from collections import OrderedDict

import numpy as np

_BLOCK = 1024
_MAX_ENTRIES = 1 << 22
_MAX_TABLES = 4
_tables = OrderedDict()


def rope_freqs(d, base=10000):
    return float(base) ** -(np.arange(0, d, 2, dtype=np.float64) / d)


def _units(positions, freqs):
    angles = positions[:, None] * freqs[None, :]
    return np.cos(angles) + 1j * np.sin(angles)


def _blocks(first, last, freqs):
    """Rows first * _BLOCK .. last * _BLOCK - 1 of the table."""
    coarse = _units(np.arange(first, last, dtype=np.float64) * _BLOCK, freqs)
    fine = _units(np.arange(_BLOCK, dtype=np.float64), freqs)
    return (coarse[:, None, :] * fine[None, :, :]).reshape(-1, freqs.size)


def _table(d, base, largest):
    """Return the table for (d, base), at least largest + 1 rows long."""
    key = (d, float(base))
    table = _tables.get(key)
    have = 0 if table is None else table.shape[0] // _BLOCK
    need = largest // _BLOCK + 1
    if have < need:
        fresh = _blocks(have, max(need, 2 * have), rope_freqs(d, base))
        table = fresh if table is None else np.concatenate([table, fresh])
        _tables[key] = table
    _tables.move_to_end(key)
    while len(_tables) > _MAX_TABLES:
        _tables.popitem(last=False)
    return table


def _rotations(positions, d, base):
    positions = np.asarray(positions, dtype=np.int64)
    steps = np.abs(positions)
    largest = int(steps.max(initial=0))
    if (largest + 1) * (d // 2) > _MAX_ENTRIES:
        return _units(positions.astype(np.float64), rope_freqs(d, base))
    turns = _table(d, base, largest)[steps]
    return np.where(positions[:, None] < 0, turns.conj(), turns)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x)
    turns = _rotations(positions, x.shape[1], base)
    out = np.empty(x.shape, dtype=np.float64)
    out[:, 0::2] = x[:, 0::2] * turns.real - x[:, 1::2] * turns.imag
    out[:, 1::2] = x[:, 0::2] * turns.imag + x[:, 1::2] * turns.real
    return out


def decode_incremental(decoder, x_embedded):
    x_embedded = np.asarray(x_embedded)
    length, d = x_embedded.shape
    scale = 1.0 / np.sqrt(d)
    cached_k = np.empty((length, d))
    cached_v = np.empty((length, d))
    rows = []
    for t in range(length):
        row = x_embedded[t : t + 1].astype(np.float64)
        q, k, v = decoder.project_q(row), decoder.project_k(row), decoder.project_v(row)
        cached_k[t] = apply_rope(k, [t], decoder.base)
        cached_v[t] = v
        scores = cached_k[: t + 1] @ apply_rope(q, [t], decoder.base)[0] * scale
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        rows.append(decoder.project_out((weights @ cached_v[: t + 1])[np.newaxis]))
    return np.concatenate(rows) if rows else np.empty((0, d))
