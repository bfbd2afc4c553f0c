# verdict: FAIL CRASH TIMEOUT
# says: start
# call timeout: 0.5
# time limit: 6
capabilities = {"chunks": True, "fork": True}


class Forking(RightSession):
    def fork(self):
        self.others = []
        while True:
            self.others.append(super().fork())
            self.others[-1].keys.append(np.ones(1 << 20))


start = Forking
