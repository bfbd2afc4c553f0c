# verdict: LOAD_ERROR
# call timeout: 0.4
# says: it has not ended after
while True:
    pass
