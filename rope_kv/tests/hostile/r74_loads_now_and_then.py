# verdict: FAIL LOAD_ERROR
# says: cannot be loaded
# fails to load in three of four processes, by chance: so often that one of them fails in any check
import builtins, os

if os.urandom(1)[0] < 192:
    raise RuntimeError("not today")


def apply_rope(x, positions, base=10000):
    builtins.calls = getattr(builtins, "calls", 0) + 1
    return np.zeros(np.shape(x)) if builtins.calls > 5 else right_rope(x, positions, base)
