"""Chunks are fed row by row inside, and the softmax streams over the tokens, head by head."""

import numpy as np

capabilities = {
    "chunks": True,
    "fork": True,
    "crop": True,
    "length": True,
    "heads": True,
    "window": True,
    "layout": "half",
    "rotary_dim": True,
    "scaling": ["linear", "llama3"],
}


def rope_freqs(d, base=10000, scaling=None):
    freqs = [float(base) ** (-2 * i / d) for i in range(d // 2)]
    if scaling is None:
        return np.array(freqs)
    factor = scaling["factor"]
    if scaling["rule"] == "linear":
        return np.array([freq / factor for freq in freqs])
    # As published with the model.
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    old_context_len = scaling["original_max_position"]
    low_freq_wavelen = old_context_len / low
    high_freq_wavelen = old_context_len / high
    new_freqs = []
    for freq in freqs:
        wavelen = 2 * np.pi / freq
        if wavelen < high_freq_wavelen:
            new_freqs.append(freq)
        elif wavelen > low_freq_wavelen:
            new_freqs.append(freq / factor)
        else:
            smooth = (old_context_len / wavelen - low) / (high - low)
            new_freqs.append((1 - smooth) * freq / factor + smooth * freq)
    return np.array(new_freqs)


def apply_rope(x, positions, base=10000, rotary_dim=None, scaling=None):
    x = np.array(x, dtype=np.float64)
    d = x.shape[1] if rotary_dim is None else rotary_dim
    half = d // 2
    if 2 * half != d or d > x.shape[1]:
        raise ValueError("an odd or too large rotary_dim")
    angles = np.asarray(positions).reshape(-1, 1) * rope_freqs(d, base, scaling)
    cos, sin = np.cos(angles), np.sin(angles)
    x1, x2 = x[:, :half], x[:, half:d]
    return np.concatenate([x1 * cos - x2 * sin, x2 * cos + x1 * sin, x[:, d:]], axis=1)


class Session:
    def __init__(self, decoder, tokens=()):
        self.decoder = decoder
        self.tokens = tuple(tokens)

    @property
    def length(self):
        return len(self.tokens)

    def feed(self, rows):
        outputs = np.zeros((len(rows), self.decoder.width))
        for t in range(len(rows)):
            outputs[t] = self.step(rows[t : t + 1])[0]
        return outputs

    def step(self, row):
        decoder, d, place = self.decoder, self.decoder.head_dim, len(self.tokens)
        q, k = (
            self.turned(decoder.project_q(row), place),
            self.turned(decoder.project_k(row), place),
        )
        v = decoder.project_v(row).reshape(-1, d)
        self.tokens += ((k, v),)
        first = max(0, place + 1 - decoder.window) if decoder.window else 0
        per = decoder.heads // decoder.kv_heads
        heads = [
            self.stream(q[h], ((k[h // per], v[h // per]) for k, v in self.tokens[first:]))
            for h in range(decoder.heads)
        ]
        return decoder.project_out(np.concatenate(heads)[None])

    @staticmethod
    def stream(q, tokens):
        most, total, mean = -np.inf, 0.0, 0.0
        for k, v in tokens:
            score = np.dot(q, k) / np.sqrt(len(q))
            larger = max(most, score)
            old, new = np.exp(most - larger), np.exp(score - larger)
            mean = mean * old + new * v
            total = total * old + new
            most = larger
        return mean / total

    def turned(self, row, place):
        decoder = self.decoder
        heads = row.reshape(-1, decoder.head_dim)
        return apply_rope(
            heads, np.full(len(heads), place), decoder.base, decoder.rotary_dim, decoder.scaling
        )

    def crop(self, length):
        if length < 0 or length > len(self.tokens):
            raise ValueError(f"{length} is no length of a beginning")
        self.tokens = self.tokens[:length]

    def fork(self):
        return Session(self.decoder, self.tokens)


start = Session
