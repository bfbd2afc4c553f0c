# verdict: FAIL
# says: length has more than 64 bits
capabilities = {"length": True}


class Long(RightSession):
    length = 10**1000


start = Long
