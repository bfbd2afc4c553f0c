# verdict: PASS
import threading


def burn():
    while True:
        pass


try:
    threading.Thread(target=burn, daemon=True).start()
    decode_incremental = None
except RuntimeError:
    pass
