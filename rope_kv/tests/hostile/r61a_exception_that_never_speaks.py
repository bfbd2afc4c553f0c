# verdict: TIMEOUT
# call timeout: 0.4
# time limit: 4
# says: has not returned after
class Silent(Exception):
    def __str__(self):
        while True:
            pass


def apply_rope(x, positions, base=10000):
    raise Silent
