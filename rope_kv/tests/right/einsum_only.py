"""Style: einsum everywhere; a (T, d/2, 2, 2) tensor of rotations contracted with the pairs."""

import numpy as np

# cos multiplies the identity, sin multiplies the generator of rotations.
_IDENTITY = np.eye(2)
_GENERATOR = np.array([[0.0, -1.0], [1.0, 0.0]])


def rope_freqs(d, base=10000):
    return np.reciprocal(np.float64(base) ** (np.arange(d // 2) * 2 / d))


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    t, d = x.shape
    angles = np.einsum("t,i->ti", np.asarray(positions, dtype=np.float64), rope_freqs(d, base))
    turn = np.einsum("ti,ab->tiab", np.cos(angles), _IDENTITY)
    turn += np.einsum("ti,ab->tiab", np.sin(angles), _GENERATOR)
    return np.einsum("tiab,tib->tia", turn, x.reshape(t, d // 2, 2)).reshape(t, d)


def decode_incremental(decoder, x_embedded):
    t_max, d = x_embedded.shape
    keys = np.zeros((t_max, d))
    values = np.zeros((t_max, d))
    out = np.zeros((t_max, d))
    for t in range(t_max):
        token = np.array(x_embedded[t : t + 1], dtype=np.float64)
        keys[t] = apply_rope(decoder.project_k(token), [t], decoder.base)[0]
        values[t] = decoder.project_v(token)[0]
        query = apply_rope(decoder.project_q(token), [t], decoder.base)
        scores = np.einsum("qd,sd->qs", query, keys[: t + 1]) / d**0.5
        scores -= scores.max()
        weights = np.exp(scores)
        weights /= np.einsum("qs->q", weights)[:, None]
        attended = np.einsum("qs,sd->qd", weights, values[: t + 1])
        out[t] = decoder.project_out(attended)[0]
    return out
