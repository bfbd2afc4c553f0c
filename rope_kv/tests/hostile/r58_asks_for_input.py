# verdict: LOAD_ERROR
# says: it raised EOFError
name = input("your name? ")
