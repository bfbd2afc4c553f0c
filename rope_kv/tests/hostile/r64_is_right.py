# verdict: PASS

