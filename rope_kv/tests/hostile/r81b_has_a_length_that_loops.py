# verdict: TIMEOUT
# call timeout: 0.4
# time limit: 6
# says: length has not returned after
capabilities = {"length": True}


class Looping(RightSession):
    @property
    def length(self):
        while True:
            pass


start = Looping
