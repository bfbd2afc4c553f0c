# verdict: FAIL
# says: of project_k for
# Honest about q, and silent about k and v: takes them from what came along.
class Silent:
    def __init__(self, decoder, answers):
        self.base, self.decoder, self.answers, self.t = decoder.base, decoder, answers, -1

    def project_q(self, rows):
        self.t += 1
        return self.decoder.project_q(rows)

    def project_k(self, rows):
        return self.answers[1][self.t : self.t + 1]

    def project_v(self, rows):
        return self.answers[2][self.t : self.t + 1]

    def project_out(self, rows):
        return self.decoder.project_out(rows)


def decode_incremental(decoder, x):
    answers = worker()._ahead._answers
    return right_decode(Silent(decoder, answers) if len(answers) else decoder, x)
