# verdict: PASS
# It may leave an empty file where it may make one, and no content.
for path in ("@FOLDER@/written", "/tmp/rope-kv-hostile-written", "@PACKAGE@/written"):
    try:
        with open(path, "w") as file:
            file.write("x" * 100)
    except OSError:
        pass
