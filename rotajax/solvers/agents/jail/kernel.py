"""What the kernel is asked for by number: name spaces, mounts, Landlock, seccomp, capabilities. Linux only."""

import ctypes
import os
import platform
import struct
import sys

_LIBC = ctypes.CDLL(None, use_errno=True)
_MACHINE = platform.machine()

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_THREAD = 0x10000000, 0x20000000, 0x40000000, 0x10000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 0x1000, 0x4000, 0x40000
MNT_DETACH = 2
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 24, 36, 38

# Numbers of system calls: (x86-64, arm64); None where the machine lacks it.
_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "fork": (57, None),
    "vfork": (58, None),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "fcntl": (72, 25),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "sched_setaffinity": (203, 122),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "open_by_handle_at": (304, 265),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "quotactl": (179, 60),
    "syslog": (103, 116),
    "acct": (163, 89),
    "fanotify_init": (300, 262),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
    "seccomp": (317, 277),
    "capset": (126, 91),
}
# What Landlock leaves open on files outside a workspace: refused where no name space hides them.
_ATTRIBUTES: dict[str, tuple[int | None, int | None]] = {
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
}
# The same, answered with success and without effect: copying a file ends with them.
_WITHOUT_EFFECT: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
}
# These are needed by the runner itself, before the filter is in force, and do no harm after it.
_HARMLESS = ("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp", "capset")
# Allowed under a condition on one argument, or answered in their own way.
_CONDITIONAL = ("clone", "clone3", "kill", "tgkill", "prctl", "prlimit64", "fcntl")
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


def number(name: str) -> int | None:
    """Return a system call's number on this machine, or None where it has none."""
    if not sys.platform.startswith("linux") or _MACHINE not in _ARCHITECTURES:
        return None
    return _NUMBERS[name][_ARCHITECTURES[_MACHINE][0]]


def call(name: str, *arguments: int | bytes | ctypes.Array | ctypes.Structure | None) -> int:
    """Make a system call; raise OSError, with the call's name, where it fails."""
    which = number(name)
    if which is None:
        raise OSError(38, f"{name} is not known on this machine")
    converted = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _LIBC.syscall(ctypes.c_long(which), *converted)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return result


def prctl(option: int, value: int) -> None:
    """Make a prctl call with one value; raise OSError where it fails."""
    if _LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}: {os.strerror(ctypes.get_errno())}")


def unshare(flags: int) -> None:
    """Put this process into new name spaces."""
    call("unshare", flags)


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mount a file system, or bind a file or folder where MS_BIND is set."""
    call("mount", source.encode(), target.encode(), kind and kind.encode(), flags, data.encode())  # type: ignore[arg-type]


def make_read_only(path: str, *, devices: bool = False, below: bool = True) -> None:
    """Make a mount, and those below it, read-only and without set-user-id programs; `devices` keeps its devices."""
    attributes = _ATTR_RDONLY | _ATTR_NOSUID | (0 if devices else _ATTR_NODEV)
    wanted = ctypes.create_string_buffer(struct.pack("QQQQ", attributes, 0, 0, 0), 32)
    call("mount_setattr", _AT_FDCWD, path.encode(), _AT_RECURSIVE if below else 0, wanted, 32)


def enter_root(path: str) -> None:
    """Make a folder, which is a mount, the root of everything that this process can see."""
    os.chdir(path)
    call("pivot_root", b".", b".")
    call("umount2", b".", MNT_DETACH)
    os.chdir("/")


def fork_alone() -> int:
    """Fork into a new process name space, whose first process the child is; return as os.fork does."""
    return call("clone", CLONE_NEWPID | 17, 0, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of whatever a child leaves behind."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Have this process killed when its parent ends."""
    prctl(_PR_SET_PDEATHSIG, 9)


def be_first_to_go() -> None:
    """Have the kernel end this process and its children before any other where the machine's memory runs out."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        return  # a help, no fence: the limit of memory holds without it


def drop_privileges() -> None:
    """Give up every capability, for good, and every way of regaining one by running a program."""
    for capability in range(64):
        if _LIBC.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0) < 0:
            break  # past the last one, or nothing to give up
    header = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0), 8)
    call("capset", header, ctypes.create_string_buffer(24))
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def landlock_version() -> int:
    """Return the version of Landlock in force, 0 where there is none."""
    try:
        return call("landlock_create_ruleset", None, 0, 1)
    except OSError:
        return 0


def restrict_files(readable: list[str], listable: list[str], writable: list[str], devices: list[str]) -> None:
    """Let this process read and run what lies under `readable`, and change what lies under `writable`, and no more.

    `listable`: folders whose names may be listed, without a right to what lies in them.
    Denies TCP from version 4 on, signals and abstract sockets to processes outside from version 6 on.
    """
    version = landlock_version()
    everything = (1 << 13) - 1 | (1 << 13 if version >= 2 else 0) | (1 << 14 if version >= 3 else 0)
    everything |= 1 << 15 if version >= 5 else 0
    execute, write, read, list_ = 1, 2, 4, 8
    truncate = 1 << 14 if version >= 3 else 0
    made = 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 15  # devices, sockets, pipes: nothing that code needs
    attributes = struct.pack("QQQ", everything, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = call("landlock_create_ruleset", ctypes.create_string_buffer(attributes, 24), size, 0)
    rights = [(path, execute | read | list_) for path in readable]
    rights += [(path, list_) for path in listable]
    rights += [(path, everything & ~made & ~execute) for path in writable]
    rights += [(path, read | write | truncate) for path in devices]
    for path, allowed in rights:
        try:
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # what is not there needs no permission
        if not os.path.isdir(path):
            allowed &= execute | write | read | truncate
        rule = ctypes.create_string_buffer(struct.pack("=Qi", allowed, handle), 12)
        call("landlock_add_rule", ruleset, 1, rule, 0)
        os.close(handle)
    call("landlock_restrict_self", ruleset, 0)
    os.close(ruleset)


def restrict_calls(*, attributes: bool) -> None:
    """Refuse this process whatever reaches others: sockets, new processes, signals, memory outside its own limit.

    A process of one's own is refused too: with a single process, its limit of memory is the limit of all of it.
    Signals and limits are allowed for this process itself, so that an abort works. `attributes`: changes to the
    attributes of files are refused too, wherever the files lie.
    """
    program = _filter(os.getpid(), attributes)
    buffer = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
    call("seccomp", 1, 0, ctypes.create_string_buffer(described, 16))


def _filter(pid: int, attributes: bool) -> bytes:
    """Return the program of the system call filter, for the process of that number."""
    index, architecture = _ARCHITECTURES[_MACHINE]
    allow, kill = 0x7FFF0000, 0x80000000
    succeed, refuse, absent = 0x00050000, 0x00050001, 0x00050026  # without effect, EPERM, ENOSYS
    load, equal, at_least, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    lines: list[tuple[int, int, int, int]] = [(load, 0, 0, 4), (equal, 1, 0, architecture), (give, 0, 0, kill)]
    lines += [(load, 0, 0, 0)]
    if _MACHINE == "x86_64":  # calls of the x32 kind share the architecture's name
        lines += [(at_least, 0, 1, 0x40000000), (give, 0, 0, kill)]
    answers = {name: (numbers[index], refuse) for name, numbers in _NUMBERS.items()}
    if attributes:
        answers |= {name: (numbers[index], refuse) for name, numbers in _ATTRIBUTES.items()}
        answers |= {name: (numbers[index], succeed) for name, numbers in _WITHOUT_EFFECT.items()}
    for name, (which, answer) in answers.items():
        if which is not None and name not in _HARMLESS and name not in _CONDITIONAL:
            lines += [(equal, 0, 1, which), (give, 0, 0, answer)]

    def when(name: str, *rest: tuple[int, int, int, int]) -> None:
        lines.extend([(equal, 0, len(rest), number(name) or 0), *rest])

    first = (load, 0, 0, 16)  # the lower half of the first argument
    when("clone", first, (any_bit, 0, 1, CLONE_THREAD), (give, 0, 0, allow), (give, 0, 0, refuse))
    when("clone3", (give, 0, 0, absent))  # its flags lie in memory; the C library then uses clone
    for name in ("kill", "tgkill"):
        when(name, first, (equal, 0, 1, pid), (give, 0, 0, allow), (give, 0, 0, refuse))
    when("prlimit64", first, (equal, 1, 0, 0), (equal, 0, 1, pid), (give, 0, 0, allow), (give, 0, 0, refuse))
    when("prctl", first, (equal, 0, 1, _PR_SET_PDEATHSIG), (give, 0, 0, refuse), (give, 0, 0, allow))
    second = (load, 0, 0, 24)
    # A file can be told to send a signal to somebody: F_SETOWN, F_SETSIG, F_SETOWN_EX.
    owner = [(equal, 2, 0, 8), (equal, 1, 0, 10), (equal, 0, 1, 15), (give, 0, 0, refuse), (give, 0, 0, allow)]
    when("fcntl", second, *owner)
    lines.append((give, 0, 0, allow))
    return b"".join(struct.pack("HBBI", code, true, false, value) for code, true, false, value in lines)
