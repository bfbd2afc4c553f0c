# verdict: NOT_RUN
# says: the time limit of 2 s was reached
# time limit: 2
import time


def apply_rope(x, positions, base=10000):
    time.sleep(0.1)
    return right_rope(x, positions, base)
