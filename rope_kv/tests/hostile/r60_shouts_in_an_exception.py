# verdict: FAIL
# says: raised ValueError
def apply_rope(x, positions, base=10000):
    raise ValueError("\x1b[2J\x1b]0;PASS\x07 ]]> <script> \0 \u202e \r" + "A" * 1_000_000)
