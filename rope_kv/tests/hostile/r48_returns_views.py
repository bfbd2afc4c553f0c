# verdict: PASS
def rope_freqs(d, base=10000):
    return right_freqs(d, base)[::-1].copy()[::-1]


def apply_rope(x, positions, base=10000):
    y = right_rope(x, positions, base)
    larger = np.full((2 * len(y), y.shape[1]), np.nan)
    larger[::2] = y
    return larger[::2]


def decode_incremental(decoder, x):
    return np.asfortranarray(right_decode(decoder, x))
