"""A library of frequencies alone, each scaling rule a class."""

import numpy as np

capabilities = {
    "apply_rope": False,
    "decode_incremental": False,
    "scaling": ["linear", "ntk", "dynamic", "yarn", "llama3", "longrope"],
}


class Plain:
    def __init__(self, d, base, scaling):
        self.d, self.base, self.scaling = d, base, scaling

    def __getattr__(self, name):
        return self.scaling[name]

    def exponents(self):
        return np.arange(0, self.d, 2) / self.d

    def frequencies(self):
        return np.exp(-np.log(self.base) * self.exponents())


class Linear(Plain):
    def frequencies(self):
        return super().frequencies() / self.factor


class Ntk(Plain):
    growth = property(lambda self: self.factor)

    def frequencies(self):
        grown = np.log(self.base) + np.log(self.growth) * self.d / (self.d - 2)
        return np.exp(-grown * self.exponents())


class Dynamic(Ntk):
    @property
    def growth(self):
        beyond = max(0, self.length - self.original_max_position)
        return 1 + self.factor * beyond / self.original_max_position


class Yarn(Plain):
    def frequencies(self):
        theta = super().frequencies()
        ends = []
        for turns in (self.scaling.get("beta_fast", 32), self.scaling.get("beta_slow", 1)):
            ratio = self.original_max_position / (turns * 2 * np.pi)
            ends.append(self.d * np.log(ratio) / (2 * np.log(self.base)))
        low, high = max(int(np.floor(ends[0])), 0), min(int(np.ceil(ends[1])), self.d - 1)
        ramp = np.interp(np.arange(self.d // 2), [low, max(high, low + 0.001)], [0.0, 1.0])
        return theta * ((1 - ramp) + ramp / self.factor)


class Llama3(Plain):
    def frequencies(self):
        theta = super().frequencies()
        turns = theta * self.original_max_position / (2 * np.pi)
        ends = [self.low_freq_factor, self.high_freq_factor]
        return theta * np.interp(turns, ends, [1 / self.factor, 1.0])


class Longrope(Plain):
    def frequencies(self):
        beyond = self.length > self.original_max_position
        return super().frequencies() / (self.long_factor if beyond else self.short_factor)


def rope_freqs(d, base=10000, scaling=None):
    rule = globals()[scaling["rule"].capitalize()] if scaling else Plain
    return rule(d, base, scaling).frequencies()
