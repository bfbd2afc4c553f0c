# verdict: CRASH
# says: was ended by signal SIGSEGV
# rows: 3
import ctypes


def decode_incremental(decoder, x):
    if len(x) >= 3:
        ctypes.string_at(0)
    return right_decode(decoder, x)
