# verdict: PASS
# leaves nothing at kernel
# leaves nothing at bwrap
for i in range(1000):
    try:
        open(f"@FOLDER@/many-{i}", "w").close()
    except OSError:
        break
