# verdict: TIMEOUT
# call timeout: 0.4
# time limit: 4
# says: has not returned after
# rows: 4
def decode_incremental(decoder, x):
    while len(x) >= 4:
        pass
    return right_decode(decoder, x)
