# verdict: TIMEOUT
# call timeout: 0.4
# time limit: 4
# says: has not returned after
import os
import signal


def apply_rope(x, positions, base=10000):
    os.kill(os.getpid(), signal.SIGSTOP)
    return right_rope(x, positions, base)
