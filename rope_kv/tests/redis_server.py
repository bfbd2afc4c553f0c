"""A real Redis server for tests, in a folder of its own and on a port that was free."""

import contextlib
import shutil
import socket
import subprocess
import time

import pytest

SECONDS_TO_START = 20.0


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@contextlib.contextmanager
def serving(folder, port):
    """A server that keeps nothing, and ends with the block."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("there is no redis-server here (Debian's package redis-server has it)")
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    command += ["--save", "", "--appendonly", "no"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _wait(server, port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.kill()
        server.wait()


def _wait(server, port):
    late = time.monotonic() + SECONDS_TO_START
    while server.poll() is None and time.monotonic() < late:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
            return
        time.sleep(0.05)
    pytest.fail("redis-server did not start")
