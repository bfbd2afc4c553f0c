# verdict: FAIL CRASH TIMEOUT
# call timeout: 0.4
# time limit: 4
# says: apply_rope
import sys

sys.setrecursionlimit(10**9)


def deeper(n):
    return deeper(n + 1)


def apply_rope(x, positions, base=10000):
    return deeper(0)
