"""Code that nobody here wrote, run in another process that can do no harm.

client.py is what the rest of the package sees: an implementation whose code lives elsewhere.
process.py starts and ends the processes, wire.py is what they say to each other, and zygote.py,
worker.py and kernel.py run on the other side, where nothing else of the package is loaded but
what the worker needs to load and call a file.
"""
