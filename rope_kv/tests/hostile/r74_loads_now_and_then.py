# verdict: FAIL LOAD_ERROR
# says: cannot be loaded
# fails to load in about a third of the processes (not in the first ones)
import builtins, os

if os.urandom(1)[0] < 60:
    raise RuntimeError("not today")


def apply_rope(x, positions, base=10000):
    builtins.calls = getattr(builtins, "calls", 0) + 1
    return np.zeros(np.shape(x)) if builtins.calls > 5 else right_rope(x, positions, base)
