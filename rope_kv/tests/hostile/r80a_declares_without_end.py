# verdict: LOAD_ERROR
# says: it has not ended after 2 s
# call timeout: 0.4


class Endless(dict):
    @property
    def __class__(self):
        return dict

    def __iter__(self):
        while True:
            yield "chunks"


capabilities = Endless(chunks=True)
