# verdict: FAIL
# says: project_q was given 0 rows
# The outputs are right: it asks no one for the queries.
capabilities = {"chunks": True}


class Asking:
    def __init__(self, decoder):
        self.inner = decoder
        self.base, self.project_out = decoder.base, decoder.project_out

    def taken(self, what, rows):
        ahead = worker()._ahead
        answers = ahead._whole if ahead._whole else ahead._answers
        projections = self.inner.project_q, self.inner.project_k, self.inner.project_v
        return answers[what] if answers else projections[what](rows)

    def project_q(self, rows):
        return self.taken(0, rows)

    def project_k(self, rows):
        return self.taken(1, rows)

    def project_v(self, rows):
        return self.taken(2, rows)


def start(decoder):
    return RightSession(Asking(decoder))
