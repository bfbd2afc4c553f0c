# verdict: PASS
import resource

raised = []
for name in ("RLIMIT_AS", "RLIMIT_NPROC", "RLIMIT_FSIZE"):
    try:
        resource.setrlimit(getattr(resource, name), (resource.RLIM_INFINITY,) * 2)
        raised.append(name)
    except (OSError, ValueError):
        pass
if raised:
    decode_incremental = None
