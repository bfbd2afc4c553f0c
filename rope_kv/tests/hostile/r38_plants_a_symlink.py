# verdict: PASS
# leaves nothing at kernel
# leaves nothing at bwrap
import os

try:
    os.symlink("/etc/passwd", "@FOLDER@/report.json")
except OSError:
    pass
