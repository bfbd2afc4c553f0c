# verdict: TIMEOUT
# call timeout: 0.4
# time limit: 4
# says: has not returned after
import signal

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGXCPU, signal.SIGALRM):
    signal.signal(number, signal.SIG_IGN)


def apply_rope(x, positions, base=10000):
    while True:
        pass
