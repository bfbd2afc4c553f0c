"""One big array of slots, a bitmap of those in use, handed out from the last; one row a feed."""

import math

import numpy as np

capabilities = {
    "sessions": True,
    "crop": True,
    "fork": True,
    "reset": True,
    "length": True,
    "capacity": True,
    "fill_unused": True,
}


def rope_freqs(d, base=10000):
    return np.array([math.pow(base, -2 * i / d) for i in range(d // 2)])


def apply_rope(x, positions, base=10000):
    turned = np.array(x, dtype=np.float64)
    for row, position in zip(turned, positions, strict=True):
        for i, theta in enumerate(rope_freqs(len(row), base)):
            a, b = row[2 * i], row[2 * i + 1]
            c, s = math.cos(position * theta), math.sin(position * theta)
            row[2 * i], row[2 * i + 1] = a * c - b * s, a * s + b * c
    return turned


class Slots:
    def __init__(self, decoder, capacity=None):
        self.decoder = decoder
        self.grows = capacity is None
        room = 8 if capacity is None else capacity
        self.store = np.full((2, room, decoder.head_dim), np.nan)
        self.used = np.zeros(room, dtype=bool)
        self.order = []

    @property
    def length(self):
        return len(self.order)

    def feed(self, rows):
        decoder = self.decoder
        (row,) = np.asarray(rows)
        if self.used.all():
            self.make_room()
        slot = int(np.flatnonzero(~self.used)[-1])
        place = [len(self.order)]
        q = apply_rope(decoder.project_q(row[None]), place, decoder.base)[0]
        self.store[0, slot] = apply_rope(decoder.project_k(row[None]), place, decoder.base)[0]
        self.store[1, slot] = decoder.project_v(row[None])[0]
        self.used[slot] = True
        self.order.append(slot)
        keys, values = self.store[:, self.used]
        scores = keys @ q / math.sqrt(len(q))
        weights = np.exp(scores - scores.max())
        return decoder.project_out((weights @ values / weights.sum())[None])

    def crop(self, length):
        if length not in range(len(self.order) + 1):
            raise ValueError(f"{length} tokens cannot be kept")
        for slot in self.order[length:]:
            self.used[slot] = False
        del self.order[length:]

    def reset(self):
        self.crop(0)

    def fork(self):
        other = Slots.__new__(Slots)
        other.__dict__.update(self.__dict__)
        other.store, other.used = self.store.copy(), self.used.copy()
        other.order = list(self.order)
        return other

    def fill_unused(self, value):
        self.store[:, ~self.used] = value

    def make_room(self):
        if not self.grows:
            raise MemoryError("no slot is free")
        self.store = np.concatenate([self.store, np.zeros_like(self.store)], axis=1)
        self.used = np.concatenate([self.used, np.zeros_like(self.used)])


def start(decoder, capacity=None):
    return Slots(decoder, capacity)


def decode_incremental(decoder, x):
    slots = Slots(decoder, capacity=max(1, len(x)))
    rows = [slots.feed(np.asarray(x[t : t + 1], dtype=float)) for t in range(len(x))]
    return np.concatenate(rows) if rows else np.empty(np.shape(x))
