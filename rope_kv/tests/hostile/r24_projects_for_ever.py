# verdict: FAIL
# says: projected more than
def decode_incremental(decoder, x):
    while True:
        decoder.project_k(x[:1])
