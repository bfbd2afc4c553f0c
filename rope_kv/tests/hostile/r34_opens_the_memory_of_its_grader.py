# verdict: PASS
import os
import re

opened = []
pid = os.getppid()
for _ in range(2):  # The zygote, then the grader.
    for name in ("mem", "environ", "maps"):
        try:
            os.close(os.open(f"/proc/{pid}/{name}", os.O_RDONLY))
            opened.append((pid, name))
        except OSError:
            pass
    try:
        pid = int(re.search(r"PPid:\t(\d+)", open(f"/proc/{pid}/status").read())[1])
    except OSError:
        break
if opened:
    raise RuntimeError(f"opened {opened}")
