"""The other processes, from the grader's side: started, spoken to under a deadline, and ended."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

from . import kernel, launching, wire
from .levels import Level

# A zygote imports numpy while the disk may be cold; then it answers in a millisecond.
_SECONDS_TO_START = 60.0
SECONDS_TO_ANSWER = 5.0
# Most answers take less. Sleeping for them would cost more: a core that sleeps wakes in 45 us.
_seconds_awake = 100e-6
# How often a worker that is kept from running is given its time again.
MOST_PUT_OFF = 10
_yield = getattr(os, "sched_yield", lambda: None)


def leave_cores_to_others() -> None:
    """Sleep for every answer from now on: another process has work for the core meanwhile."""
    global _seconds_awake
    _seconds_awake = 0.0


class SandboxError(Exception):
    """The code cannot be isolated as was asked for; the message says why and what to do."""


class LateError(Exception):
    """A worker has not answered before the deadline."""


class GoneError(Exception):
    """A worker has ended."""


class Deadline:
    """When a worker must have answered: some seconds from now.

    It is put off, a few times, while other processes keep the worker from running: nothing is
    accused of a delay that is the machine's.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._times = 0

    def left(self) -> float:
        """Return how many seconds are left; not above 0 when it has passed."""
        return self._end - time.monotonic()

    def is_put_off(self, worker: Worker) -> bool:
        """Return whether the worker is given its time again."""
        self._times += 1
        if self._times > MOST_PUT_OFF or not worker.is_kept_waiting(self._seconds / 4):
            return False
        self._end = time.monotonic() + self._seconds
        return True


class Worker:
    """A worker, as its grader has it: a socket, and a process that answers on it."""

    def __init__(self, parent: Zygote, connection: socket.socket, pid: int) -> None:
        self._parent = parent
        self._connection = connection
        self._pid = pid
        self._received = bytearray()
        connection.setblocking(False)
        self._readable = select.poll()
        self._readable.register(connection, select.POLLIN)
        self._pidfd = -1
        if parent.level != "bwrap" and hasattr(os, "pidfd_open"):
            with contextlib.suppress(OSError):
                self._pidfd = os.pidfd_open(pid)

    def send(self, frame: bytes, deadline: Deadline) -> None:
        """Write a frame; LateError where the worker does not take it before the deadline."""
        if self._received:
            raise wire.WireError("an answer that nothing asked for")
        rest = memoryview(frame)
        while rest:
            try:
                rest = rest[self._connection.send(rest) :]
            except BlockingIOError:
                left = deadline.left()
                if left <= 0 or not select.select([], [self._connection], [], left)[1]:
                    raise LateError from None
            except OSError:
                raise GoneError from None

    def receive(self, deadline: Deadline, cap: int) -> wire.Frame:
        """Return the next frame, of at most `cap` bytes, that arrives before the deadline.

        LateError where none has, GoneError where the worker ends, WireError for what is no frame.
        """
        awake_until = time.monotonic() + _seconds_awake
        while (frame := wire.first_frame(self._received, cap)) is None:
            while not self._readable.poll(0) and time.monotonic() < awake_until:
                _yield()
            left = deadline.left()
            if left <= 0 or not self._readable.poll(left * 1000 + 1):
                if deadline.is_put_off(self):
                    continue
                raise LateError
            try:
                content = self._connection.recv(1 << 16)
            except BlockingIOError:
                continue
            except OSError:
                raise GoneError from None
            if not content:
                raise GoneError
            self._received += content
        return frame

    def is_kept_waiting(self, seconds: float) -> bool:
        """Return whether other processes keep the worker from running.

        It is so where they do for half of the next `seconds`.
        """
        before = self.waited()
        time.sleep(seconds)
        after = self.waited()
        return before is not None and after is not None and after - before > seconds / 2

    def waited(self) -> float | None:
        """Return for how many seconds the worker could have run and did not; None if not known."""
        try:
            pid = self._parent.pid_here(self._pid)
            return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) * 1e-9
        except (OSError, ValueError, IndexError):
            return None

    def end(self) -> str:
        """Kill the process if it still lives, free all that it held, and say how it ended."""
        if self._connection.fileno() < 0:
            return "has been ended before"
        self._connection.close()
        if self._pidfd >= 0:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            os.close(self._pidfd)
        return self._parent.end(self._pid)


class Zygote:
    """The parent of the workers of one submission, at one level of isolation."""

    def __init__(self, level: Level, memory: int) -> None:
        self.level = level
        if level == "process":
            # A worker may be of the same user: it must not write its verdict into our memory.
            kernel.set_dumpable(False)
        ours, theirs = socket.socketpair()
        with theirs:
            self._control = ours
            command = launching.command(level, theirs.fileno(), memory)
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=launching.environment(),
                cwd="/",
                start_new_session=True,
            )
        self._control.settimeout(_SECONDS_TO_START)
        try:
            answer = self._control.recv(1000)
        except OSError:
            answer = b""
        self._control.settimeout(SECONDS_TO_ANSWER)
        if answer != wire.READY:
            self.close()
            why = answer[1:].decode(errors="replace") or "its process did not start"
            raise SandboxError(f"the isolation level {level} does not work here: {why}")

    def fork(self) -> Worker:
        """Return a new worker."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                request = wire.REQUEST.pack(b"F", 0)
                socket.send_fds(self._control, [request], [theirs.fileno()])
                (pid,) = wire.REPLY.unpack(self._control.recv(wire.REPLY.size))
            except (OSError, ValueError, struct.error):
                ours.close()
                self.close()
                raise GoneError from None
        return Worker(self, ours, pid)

    def end(self, pid: int) -> str:
        """Kill a worker if it still lives, and say how it ended."""
        try:
            self._control.sendall(wire.REQUEST.pack(b"W", pid))
            (status,) = wire.REPLY.unpack(self._control.recv(wire.REPLY.size))
        except (OSError, ValueError, struct.error):
            self.close()
            return "was ended along with the process that watches over it"
        if status < 0:
            return "ended"
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            with contextlib.suppress(ValueError):
                return f"was ended by signal {signal.Signals(number).name}"
            return f"was ended by signal {number}"
        return f"ended with exit status {os.WEXITSTATUS(status)}"

    def end_all(self) -> bool:
        """Kill the workers that still live; return whether new ones can be had."""
        try:
            self._control.sendall(wire.REQUEST.pack(b"A", 0))
            return self._control.recv(wire.REPLY.size) == wire.REPLY.pack(0)
        except OSError:
            return False

    def pid_here(self, pid: int) -> int:
        """Return the pid by which this process knows a worker; ValueError if it does not."""
        if self.level != "bwrap":
            return pid
        found = [self._process.pid]
        for one in found:  # It grows as children are found.
            facts = Path(f"/proc/{one}/status").read_text()
            names = next(line for line in facts.splitlines() if line.startswith("NSpid:")).split()
            if one != found[0] and int(names[-1]) == pid:
                return one
            children = Path(f"/proc/{one}/task/{one}/children").read_text()
            found += map(int, children.split())
        raise ValueError(f"no child has the pid {pid}")

    @property
    def is_closed(self) -> bool:
        """Whether no worker can be had any more."""
        return self._control.fileno() < 0

    def close(self) -> None:
        """End the process and all its workers."""
        self._control.close()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
