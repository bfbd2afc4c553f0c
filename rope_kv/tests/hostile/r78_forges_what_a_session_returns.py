# verdict: FAIL PROTOCOL
# says: start
# Numbers of objects that are known, of sessions, and of none: as if they had been returned.
import itertools

capabilities = {"chunks": True, "fork": True}
numbers = itertools.cycle(range(-4, 24))


class Forging(RightSession):
    def feed(self, rows):
        worker()._send(14, b"", {"number": next(numbers), "writeable": True})
        return rows


start = Forging
