# verdict: LOAD_ERROR
# says: it sent what no file has to send


w = worker()
w._send(12, np.array([1, 2]), "text")
