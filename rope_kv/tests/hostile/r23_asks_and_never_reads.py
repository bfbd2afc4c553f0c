# verdict: FAIL TIMEOUT PROTOCOL
# call timeout: 0.4
# time limit: 4
# says: decode_incremental


def decode_incremental(decoder, x):
    one = worker()
    rows = np.ones((64, x.shape[1]))
    for _ in range(10**6):
        one._send(13, b"", 0, decoder._number, rows)
