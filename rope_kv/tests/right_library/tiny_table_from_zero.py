"""A table of twelve rows, read from its first; sessions, a batch and a decode that end there."""

import numpy as np

capabilities = {
    "positions": "from zero",
    "max_position": 12,
    "sessions": True,
    "length": True,
    "crop": True,
    "fork": True,
    "batch": True,
    "reorder": True,
    "select": True,
    "capacity": True,
}
END = 12


def rope_freqs(d, base=10000):
    return base ** (-np.arange(0, d, 2) / d)


def rows_of_table(positions, d, base):
    if len(positions) and not 0 <= min(positions) <= max(positions) < END:
        raise IndexError(f"the table ends at {END}")
    angles = np.arange(END)[:, None] * rope_freqs(d, base)
    return np.exp(1j * angles)[list(positions)]


def turned(x, positions, base):
    x = np.array(x, dtype=np.float64)
    z = (x[:, 0::2] + 1j * x[:, 1::2]) * rows_of_table(positions, x.shape[1], base)
    x[:, 0::2], x[:, 1::2] = z.real, z.imag
    return x


def apply_rope(x, positions, base=10000):
    if [*positions] != [*range(len(positions))]:
        raise ValueError("only whole sequences, from their first token")
    return turned(x, positions, base)


class Session:
    def __init__(self, decoder, capacity=END):
        self.decoder, self.room = decoder, min(capacity, END)
        self.store = []

    @property
    def length(self):
        return len(self.store)

    def feed(self, rows):
        decoder, place = self.decoder, len(self.store)
        if place >= self.room:
            raise OverflowError("no more tokens")
        q, k = (
            turned(project(rows), [place], decoder.base)
            for project in (decoder.project_q, decoder.project_k)
        )
        self.store.append((k[0], decoder.project_v(rows)[0]))
        keys, values = (np.array(part) for part in zip(*self.store, strict=True))
        scores = q @ keys.T / np.sqrt(decoder.width)
        weights = np.exp(scores - scores.max())
        return decoder.project_out(weights / weights.sum() @ values)

    def crop(self, length):
        if not 0 <= length <= len(self.store):
            raise ValueError(length)
        self.store = self.store[:length]

    def fork(self):
        branch = Session(self.decoder, self.room)
        branch.store = self.store.copy()
        return branch


def start(decoder, capacity=END):
    return Session(decoder, capacity)


class Batch:
    def __init__(self, decoder, size):
        self.rows = [Session(decoder) for _ in range(size)]

    def feed(self, rows):
        return [
            np.concatenate([x[:0], *(session.feed(x[t : t + 1]) for t in range(len(x)))])
            for session, x in zip(self.rows, rows, strict=True)
        ]

    def reorder(self, indices):
        self.rows = [self.rows[index].fork() for index in indices]

    select = reorder


start_batch = Batch
