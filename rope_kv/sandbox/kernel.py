"""What the kernel refuses a worker: files, system calls, memory, and rights it does not need.

Standard library only, Linux by ctypes. Each function raises OSError where the kernel cannot do
what it is asked; none can be undone by the process that called it.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import struct
import sys
from collections.abc import Iterable

from . import syscalls

IS_LINUX = sys.platform.startswith("linux")
_libc = ctypes.CDLL(None, use_errno=True) if IS_LINUX else None

# linux/prctl.h
_SET_PDEATHSIG, _SET_DUMPABLE = 1, 4
_SET_SECCOMP, _CAPBSET_DROP, _SET_NO_NEW_PRIVS = 22, 24, 38
_CAPABILITY_VERSION_3 = 0x20080522
_LAST_CAPABILITY = 63
NOBODY = 65534

# linux/landlock.h; the numbers of the calls are the same on every machine
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_FILE_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # how many bits
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_READ_WRITE = _READ_FILE | _WRITE_FILE

# linux/filter.h, linux/seccomp.h
_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16
_KILL_PROCESS, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_X32 = 0x40000000
# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC
_FCNTL_COMMANDS = (0, 1, 2, 3, 4, 1030)


def die_with_parent() -> None:
    """Have this process killed when its parent ends."""
    if IS_LINUX:
        _prctl(_SET_PDEATHSIG, signal.SIGKILL)


def set_dumpable(yes: bool) -> None:
    """Let other processes of this user read and write this one's memory, or not."""
    if IS_LINUX:
        _prctl(_SET_DUMPABLE, int(yes))


def no_new_privileges() -> None:
    """Give up, for good, gaining rights by executing a file."""
    _prctl(_SET_NO_NEW_PRIVS, 1)


def limit_resources(memory: int) -> None:
    """Limit this process: `memory` bytes of address space, no file, no core, no new process."""
    import resource

    limits = {
        "RLIMIT_AS": memory,
        "RLIMIT_FSIZE": 0,
        "RLIMIT_CORE": 0,
        "RLIMIT_NOFILE": 32,
        "RLIMIT_NPROC": 0,  # Refuses threads as well; the kernel ignores it for root.
    }
    for name, most in limits.items():
        # macOS has no RLIMIT_AS that works, and refuses some that are below what is in use.
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(getattr(resource, name), (most, most))


def drop_root(needed: Iterable[str], anyway: bool = False) -> None:
    """Stop being root, if this process is: become a user of its own, or keep no capability.

    The paths `needed` must stay readable: where they are root's alone and not `anyway`, the
    process stays root by name, without any of its powers.
    """
    if not IS_LINUX or os.geteuid() != 0:
        return
    if anyway or stays_readable(needed):
        for uid in (2_000_000_000 + os.getpid(), NOBODY):
            with contextlib.suppress(OSError):
                with contextlib.suppress(PermissionError):
                    os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
                return
    _drop_capabilities()


def stays_readable(paths: Iterable[str]) -> bool:
    """Return whether this process can read the paths when it is no longer root."""
    is_root = IS_LINUX and os.geteuid() == 0
    return not is_root or all(_anyone_can_read(path) for path in paths)


def _anyone_can_read(path: str) -> bool:
    try:
        while path != "/":
            mode = os.stat(path).st_mode
            if not mode & (0o001 if os.path.isdir(path) else 0o004):
                return False
            path = os.path.dirname(path)
    except OSError:
        return False
    return True


def _drop_capabilities() -> None:
    for capability in range(_LAST_CAPABILITY + 1):
        with contextlib.suppress(OSError):  # Not a capability of this kernel.
            _prctl(_CAPBSET_DROP, capability)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    assert _libc is not None
    _checked(_libc.capset(header, nothing))


def landlock_version() -> int:
    """Return the version of Landlock that this kernel has; 0 for none."""
    if _libc is None:
        return 0
    return max(0, int(_libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)))


def restrict_files(readable: Iterable[str], writable: Iterable[str] = ()) -> None:
    """Let this process open files below `readable`, to read, and the files `writable`; no other.

    Paths that do not exist are left out.
    """
    version = landlock_version()
    if version == 0:
        raise OSError(errno.ENOSYS, "this kernel has no Landlock")
    rights = (1 << _FILE_RIGHTS_BY_ABI.get(version, 16)) - 1
    # struct landlock_ruleset_attr: files; from version 4 TCP; from version 6 signals and
    # abstract sockets.
    attributes = [rights] + [0b11] * (version >= 4) + [0b11] * (version >= 6)
    attribute = struct.pack(f"={len(attributes)}Q", *attributes)
    assert _libc is not None
    ruleset = _checked(
        _libc.syscall(_LANDLOCK_CREATE, attribute, ctypes.c_size_t(len(attribute)), 0)
    )
    try:
        for path in readable:
            _allow_below(ruleset, path, _READ & rights)
        for path in writable:
            _allow_below(ruleset, path, _READ_WRITE & rights)
        _checked(_libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0))
    finally:
        os.close(ruleset)


def _allow_below(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):
            rights &= _EXECUTE | _READ_FILE | _WRITE_FILE
        rule = struct.pack("=Qi", rights, descriptor)
        assert _libc is not None
        _checked(_libc.syscall(_LANDLOCK_ADD, ruleset, 1, rule, 0))
    finally:
        os.close(descriptor)


def restrict_calls() -> None:
    """Refuse this process every system call that is not in the table of syscalls.py."""
    machine = syscalls.this_machine()
    if machine is None or _libc is None:
        raise OSError(errno.ENOSYS, "no table of system calls for this machine")
    program = _filter(machine, os.getpid())
    code = b"".join(program)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(program), ctypes.addressof(buffer))
    _prctl(_SET_SECCOMP, 2, ctypes.create_string_buffer(header, len(header)))


def _filter(machine: syscalls.Machine, pid: int) -> list[bytes]:
    """Return the filter's instructions, struct sock_filter each."""
    refuse = _instruction(_RETURN, _ERRNO | errno.EPERM)
    allow = _instruction(_RETURN, _ALLOW)
    program = [
        _instruction(_LOAD, _ARCH_AT),
        _instruction(_JUMP_IF_EQUAL, machine.audit, 1, 0),
        _instruction(_RETURN, _KILL_PROCESS),
        _instruction(_LOAD, _NUMBER_AT),
        _instruction(_JUMP_IF_AT_LEAST, _X32, 0, 1),
        refuse,
    ]
    for number in machine.allowed.values():
        program += [_instruction(_JUMP_IF_EQUAL, number, 0, 1), allow]
    for number in machine.to_itself.values():
        program += _where(number, 0, (pid,), refuse)
    number_again = _instruction(_LOAD, _NUMBER_AT)
    for command in _FCNTL_COMMANDS:
        program += _where(machine.fcntl, 1, (command,), number_again)
    # The third argument is where new limits would be read from: it must be nowhere.
    program += _where(machine.prlimit64, 2, (0, 0), refuse)
    program += [
        _instruction(_JUMP_IF_EQUAL, machine.clone3, 0, 1),
        _instruction(_RETURN, _ERRNO | errno.ENOSYS),
        refuse,
    ]
    return program


def _where(number: int, argument: int, halves: tuple[int, ...], otherwise: bytes) -> list[bytes]:
    """Return instructions that allow a call whose argument has these 32-bit halves, low first.

    An argument that the kernel itself cuts to 32 bits has one half. `otherwise` is what comes
    where it has not.
    """
    body = []
    for i, half in enumerate(halves):
        left = len(halves) - i - 1
        body += [
            _instruction(_LOAD, _ARGUMENTS_AT + 8 * argument + 4 * i),
            _instruction(_JUMP_IF_EQUAL, half, 0, 2 * left + 1),
        ]
    body += [_instruction(_RETURN, _ALLOW), otherwise]
    return [_instruction(_JUMP_IF_EQUAL, number, 0, len(body)), *body]


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _prctl(option: int, *arguments: object) -> int:
    assert _libc is not None
    padded = [*arguments, *(0,) * (4 - len(arguments))]
    values = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in padded]
    return _checked(_libc.prctl(option, *values))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return int(result)
