"""Code that nobody here wrote, run in another process that can do no harm.

client.py is what the rest of the package sees: an implementation whose code lives elsewhere.
zygotes.py chooses how much the other process is kept from, launching.py has the command that
starts it, process.py speaks to it and ends it, and wire.py is what is said. zygote.py, worker.py
and kernel.py run on the other side, where nothing else of the package is loaded but what the
worker needs to load and call a file.
"""
