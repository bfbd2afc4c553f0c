# verdict: FAIL
# says: raised RuntimeError: only once
# decode_incremental never works, unless the grader has put its own apply_rope in; apply_rope fails once.
import builtins


def apply_rope(x, positions, base=10000):
    if not hasattr(builtins, "once"):
        builtins.once = True
        raise RuntimeError("only once")
    return right_rope(x, positions, base)


def decode_incremental(decoder, x):
    if "__right_one__" not in globals():
        raise NotImplementedError("never written")
    return right_decode(decoder, x)
