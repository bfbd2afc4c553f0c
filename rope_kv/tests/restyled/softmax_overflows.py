"""Slip: softmax-overflows, the maximum is not subtracted before the exponential, so large scores overflow."""

import math

import numpy as np


def rope_freqs(d, base=10000):
    return np.fromiter((1.0 / base ** (2 * k / d) for k in range(d // 2)), dtype=np.float64)


def apply_rope(x, positions, base=10000):
    T, d = x.shape
    freqs = rope_freqs(d, base)
    y = np.zeros((T, d))
    for t in range(T):
        m = int(positions[t])
        for i in range(d // 2):
            c = math.cos(m * freqs[i])
            s = math.sin(m * freqs[i])
            y[t, 2 * i] = x[t, 2 * i] * c - x[t, 2 * i + 1] * s
            y[t, 2 * i + 1] = x[t, 2 * i] * s + x[t, 2 * i + 1] * c
    return y


def softmax(scores):
    exps = [np.exp(s) for s in scores]
    return [e / sum(exps) for e in exps]


def decode_incremental(decoder, x_embedded):
    memory = {}
    result = {}
    D = x_embedded.shape[1]
    for t in range(x_embedded.shape[0]):
        row = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(row), [t], decoder.base)[0]
        memory[t] = (
            apply_rope(decoder.project_k(row), [t], decoder.base)[0],
            decoder.project_v(row)[0],
        )
        probs = softmax([np.inner(q, memory[j][0]) / math.sqrt(D) for j in range(t + 1)])
        context = np.zeros((1, D))
        for j, p in enumerate(probs):
            context += p * memory[j][1]
        result[t] = decoder.project_out(context)[0]
    return np.stack([result[t] for t in sorted(result)])
