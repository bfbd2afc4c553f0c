# verdict: PASS
# leaves nothing: rope-kv-hostile-daemon
import os

try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("python3", ["rope-kv-hostile-daemon", "-c", "import time; time.sleep(20)"])
        os._exit(0)
except OSError:
    pass
