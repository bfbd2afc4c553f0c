"""Rotary position embeddings and a KV cache: fill in the three functions.

Check your work with:  rope-kv check THIS_FILE
"""

import numpy as np


def rope_freqs(d, base=10000):
    """Return how far each pair of coordinates turns per token.

    d is even; the result is a float64 array (d/2,), radians per token. Pair i turns by
    1 / base**(2*i/d), so rope_freqs(8) is [1, 0.1, 0.01, 0.001].
    """
    raise NotImplementedError("rope_freqs: return the d/2 angles, 1 / base**(2*i/d) for pair i")


def apply_rope(x, positions, base=10000):
    """Return the rows of x, each adjacent pair turned by its position times its frequency.

    x is (T, d), positions holds T integers (a list or an array; any order, repeats, gaps,
    negative ones too). The result is a new float64 array (T, d): entries 2i and 2i+1 of row t
    are x[t, 2i] and x[t, 2i+1], turned by positions[t] * rope_freqs(d, base)[i] radians.
    """
    raise NotImplementedError("apply_rope: turn each adjacent pair of row t by positions[t]*freq")


def decode_incremental(decoder, x_embedded):
    """Return the attention output of each token, computed one token at a time.

    x_embedded is (T, D). The decoder has base, project_q, project_k, project_v and project_out,
    each for rows (n, D); its weights are not to be read. At step t:

    - project row t alone, with shape (1, D), once each to q, k and v;
    - turn q and k (never v) to the absolute position t, with decoder.base;
    - append k and v to the cache;
    - attend q over the whole cache: softmax(q·k / sqrt(D)) over all cached tokens, times v
      (scores may be large: exp must not overflow);
    - project_out the result: row t of the float64 array (T, D) to return.

    No row is projected twice, decoder.forward_full is not called, nothing is kept for the next
    call, and neither x_embedded nor the decoder is changed.
    """
    raise NotImplementedError("decode_incremental: project row t, turn q and k, attend the cache")
