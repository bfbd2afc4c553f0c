# verdict: FAIL
# says: rope_freqs raised TypeError
def rope_freqs(d):
    return right_freqs(d)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=float)
    pairs = x[:, 0::2] + 1j * x[:, 1::2]
    angles = np.outer(np.asarray(positions, dtype=float), right_freqs(x.shape[1], base))
    turned = pairs * np.exp(1j * angles)
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)
