"""The system calls that a worker may make: by name, and the numbers of two machines.

A list of what is allowed, and not of what is forbidden: a call that a later kernel adds is refused
without a change here. What is not needed to compute, to import a module that may be read, to
answer on the open socket, to close what is open and to end is not in it: no process, no thread, no
socket, no signal to another process, nothing that makes, renames, removes or alters a file.
"""

from __future__ import annotations

import platform
from typing import NamedTuple


class Machine(NamedTuple):
    """A machine's name for the kernel (AUDIT_ARCH), and the numbers of its system calls."""

    audit: int
    allowed: dict[str, int]
    to_itself: dict[str, int]  # kill, tgkill: allowed where the first argument is its own pid
    fcntl: int  # allowed for what asks about or copies a descriptor, not for who gets its signals
    prlimit64: int  # allowed for reading a limit
    clone3: int  # answered as if it did not exist


# fmt: off
_X86_64 = {
    "read": 0, "write": 1, "open": 2, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "poll": 7,
    "lseek": 8, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13,
    "rt_sigprocmask": 14, "rt_sigreturn": 15, "pread64": 17, "readv": 19, "writev": 20,
    "access": 21, "select": 23, "sched_yield": 24, "mremap": 25, "mincore": 27, "madvise": 28,
    "dup": 32, "dup2": 33, "pause": 34, "nanosleep": 35, "getitimer": 36, "getpid": 39,
    "exit": 60, "uname": 63, "getcwd": 79, "chdir": 80, "readlink": 89, "umask": 95,
    "gettimeofday": 96, "getrlimit": 97, "getrusage": 98, "sysinfo": 99, "times": 100,
    "getuid": 102, "getgid": 104, "geteuid": 107, "getegid": 108, "getppid": 110,
    "getpgrp": 111, "getgroups": 115, "getpgid": 121, "getsid": 124, "rt_sigpending": 127,
    "sigaltstack": 131, "gettid": 186, "time": 201, "futex": 202, "sched_getaffinity": 204,
    "getdents64": 217, "set_tid_address": 218, "restart_syscall": 219, "fadvise64": 221,
    "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230, "exit_group": 231,
    "openat": 257, "newfstatat": 262, "readlinkat": 267, "faccessat": 269, "pselect6": 270,
    "ppoll": 271, "set_robust_list": 273, "dup3": 292, "getcpu": 309, "getrandom": 318,
    "membarrier": 324, "statx": 332, "rseq": 334, "close_range": 436,
    "faccessat2": 439,
}
_AARCH64 = {
    "getcwd": 17, "dup": 23, "dup3": 24, "faccessat": 48, "chdir": 49, "openat": 56,
    "close": 57, "getdents64": 61, "lseek": 62, "read": 63, "write": 64, "readv": 65,
    "writev": 66, "pread64": 67, "pselect6": 72, "ppoll": 73, "readlinkat": 78,
    "newfstatat": 79, "fstat": 80, "exit": 93, "exit_group": 94, "set_tid_address": 96,
    "futex": 98, "set_robust_list": 99, "nanosleep": 101, "getitimer": 102,
    "clock_gettime": 113, "clock_getres": 114, "clock_nanosleep": 115, "sched_getaffinity": 123,
    "sched_yield": 124, "restart_syscall": 128, "sigaltstack": 132, "rt_sigaction": 134,
    "rt_sigprocmask": 135, "rt_sigpending": 136, "rt_sigreturn": 139, "times": 153,
    "getpgid": 155, "getsid": 156, "getgroups": 158, "uname": 160, "getrlimit": 163,
    "getrusage": 165, "umask": 166, "getcpu": 168, "gettimeofday": 169, "getpid": 172,
    "getppid": 173, "getuid": 174, "geteuid": 175, "getgid": 176, "getegid": 177, "gettid": 178,
    "sysinfo": 179, "brk": 214, "munmap": 215, "mremap": 216, "mmap": 222, "fadvise64": 223,
    "mprotect": 226, "mincore": 232, "madvise": 233, "getrandom": 278, "membarrier": 283,
    "statx": 291, "rseq": 293, "close_range": 436,
    "faccessat2": 439,
}
# fmt: on

MACHINES = {
    "x86_64": Machine(
        audit=0xC000003E,
        allowed=_X86_64,
        to_itself={"kill": 62, "tgkill": 234},
        fcntl=72,
        prlimit64=302,
        clone3=435,
    ),
    "aarch64": Machine(
        audit=0xC00000B7,
        allowed=_AARCH64,
        to_itself={"kill": 129, "tgkill": 131},
        fcntl=25,
        prlimit64=261,
        clone3=435,
    ),
}


def this_machine() -> Machine | None:
    """Return the table of the machine this runs on, or None where there is none."""
    return MACHINES.get(platform.machine())
