# verdict: LOAD_ERROR
# says: it raised SystemExit: 0
raise SystemExit(0)
