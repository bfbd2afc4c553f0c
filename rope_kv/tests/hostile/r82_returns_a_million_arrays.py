# verdict: FAIL
# says: feed returned a list
capabilities = {"chunks": True, "batch": True}


class Many(RightSession):
    def feed(self, rows):
        return [np.ones(2)] * 1_000_000


def start_batch(decoder, size):
    return Many(decoder)


start = Many
