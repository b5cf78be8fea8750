"""`Room`: the place a runner sees, in name spaces where the kernel gives them, and the steps into it.

Paths: an absolute path that is shown read-only; one that is a symbolic link is shown as that link.
"""

import os
import resource
import tempfile

import files
import kernel

_DEVICES = ("null", "zero", "full", "random", "urandom")
# Where the new root is put together.
_BASES = ("/mnt", "/media", "/srv", "/sys", "/tmp")
# Inside name spaces: the number of the user that code runs as; outside, where we are root: one that owns nothing.
_INSIDE, _NOBODY = 1000, 65534


class Room:
    """A workspace, and what a process has to do to be shut into it.

    wanted: "namespaces", "landlock", "seccomp", each true or false; paths: what may be read, python among them;
    folders: what may be listed; packages: name -> path of what code may import besides the standard library;
    megabytes: the size of the workspace.
    """

    def __init__(
        self,
        wanted: dict[str, bool],
        python: str,
        paths: list[str],
        folders: list[str],
        packages: dict[str, str],
        megabytes: int,
    ):
        self.wanted = wanted
        self.python = python
        self.paths = paths
        self.folders = folders
        self.packages = packages
        self.root = os.geteuid() == 0
        self.temporary: str | None = None
        if wanted["landlock"] and not kernel.landlock_version():
            raise OSError(38, "landlock: the kernel has none")
        if wanted["namespaces"]:
            self._build_namespaces(megabytes)
            self.user = _INSIDE if self.root else None
        else:
            # An interpreter in root's own folder: code stays root, without any of root's rights.
            self.user = _NOBODY if self.root and _reachable(python) else None
            self._build_folder()

    def _build_namespaces(self, megabytes: int) -> None:
        """Enter new name spaces: no network, and a root that holds the readable paths and the workspace."""
        flags = kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
        _unshare_as_user(flags, self.root)
        kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
        # Our own mount table: what is under this name elsewhere is untouched. None of the paths may lie under it.
        sources = [os.path.realpath(path) for path in (*self.paths, *self.packages.values())]
        bases = [each for each in _BASES if os.path.isdir(each) and not any(s.startswith(each + "/") for s in sources)]
        base = bases[0]
        quiet = kernel.MS_NOSUID | kernel.MS_NODEV
        kernel.mount("tmpfs", base, "tmpfs", quiet, "size=4m,nr_inodes=20000,mode=755")
        for path in self.paths:
            _show(path, base + path)
        for device in _DEVICES:
            _show("/dev/" + device, f"{base}/dev/{device}", devices=True)
        for name, path in self.packages.items():
            _show(path, f"{base}/packages/{name}")
        self.workspace, self.library = "/workspace", "/packages"
        os.makedirs(base + self.library, exist_ok=True)
        os.mkdir(base + self.workspace)
        options = f"size={megabytes}m,nr_inodes=4096,mode=700"
        kernel.mount("tmpfs", base + self.workspace, "tmpfs", quiet | kernel.MS_NOEXEC, options)
        kernel.enter_root(base)
        if self.root:
            os.chown(self.workspace, _INSIDE, _INSIDE)
        kernel.make_read_only("/", below=False)

    def _build_folder(self) -> None:
        """Make a folder for the workspace on the disk, and one that leads to the packages."""
        self.temporary = tempfile.mkdtemp(prefix="rotajax-")
        self.workspace, self.library = self.temporary + "/workspace", self.temporary + "/packages"
        os.mkdir(self.workspace, 0o700)
        os.mkdir(self.library)
        for name, path in self.packages.items():
            os.symlink(path, f"{self.library}/{name}")
        if self.root:
            os.chmod(self.temporary, 0o711)
            os.chmod(self.library, 0o755)
        if self.user is not None:
            os.chown(self.workspace, self.user, self.user)

    def close(self) -> None:
        """Remove what is on the disk; the workspace of a name space goes with its last process."""
        if self.temporary:
            files.remove(self.temporary)

    def fork(self) -> int:
        """Fork a runner, alone in a process name space where there are any."""
        return kernel.fork_alone() if self.wanted["namespaces"] else os.fork()

    def shut(self, limits: dict[str, int]) -> None:
        """Shut the calling process in, for good: limits, user, rights, files, system calls. Its next step is exec.

        limits: by the names of `resource`, without RLIMIT_.
        """
        os.chdir(self.workspace)
        for name, value in limits.items():
            if name == "NPROC" and not self.wanted["namespaces"] and not self.root:
                value += _tasks_of(os.getuid())  # counts whatever the user runs
            kind = getattr(resource, "RLIMIT_" + name)
            hard = resource.getrlimit(kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, value))
        if self.user is not None:
            os.setgroups([])
            os.setresgid(self.user, self.user, self.user)
            os.setresuid(self.user, self.user, self.user)
        kernel.drop_privileges()
        kernel.die_with_parent()
        if self.wanted["landlock"]:
            readable = [*self.paths, *self.packages.values(), self.library]
            if self.wanted["namespaces"]:  # all that is here may be read
                readable = ["/"]
            kernel.restrict_files(readable, self.folders, [self.workspace], [f"/dev/{name}" for name in _DEVICES])
        if self.wanted["seccomp"]:
            kernel.restrict_calls(attributes=not self.wanted["namespaces"])


def _unshare_as_user(flags: int, root: bool) -> None:
    """Enter new name spaces, of users too, where root is root and code another user, or all of it one's own user."""
    user, group = os.geteuid(), os.getegid()
    # A table of two users can only be written from outside.
    ready, go = os.pipe(), os.pipe()
    writer = os.fork() if root else None
    if writer == 0:
        status = 1
        try:
            os.close(go[1])
            if os.read(go[0], 1):
                table = f"0 0 1\n{_INSIDE} {_NOBODY} 1\n"
                for name in ("uid_map", "gid_map"):
                    _write(f"/proc/{os.getppid()}/{name}", table)
                status = 0
        finally:
            os._exit(status)
    try:
        kernel.unshare(flags | kernel.CLONE_NEWUSER)
        if writer is None:
            _write("/proc/self/setgroups", "deny")
            _write("/proc/self/uid_map", f"{_INSIDE} {user} 1\n")
            _write("/proc/self/gid_map", f"{_INSIDE} {group} 1\n")
        else:
            os.write(go[1], b"1")
    finally:
        for handle in (*ready, *go):
            os.close(handle)
        if writer is not None and os.waitpid(writer, 0)[1]:
            raise OSError(1, "the table of users could not be written")


def _write(path: str, text: str) -> None:
    handle = os.open(path, os.O_WRONLY)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


def _show(path: str, target: str, *, devices: bool = False) -> None:
    """Show a file or folder at another place, read-only."""
    if not os.path.lexists(path) or os.path.lexists(target):
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.islink(path):
        os.symlink(os.readlink(path), target)
        return
    if os.path.isdir(path):
        os.mkdir(target)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    kernel.mount(path, target, None, kernel.MS_BIND | kernel.MS_REC)
    kernel.make_read_only(target, devices=devices)


def _reachable(path: str) -> bool:
    """Whether every folder on the way to a file may be entered, and the file run, by a user that owns nothing."""
    while True:
        if not os.stat(path).st_mode & 0o001:
            return False
        if path == "/":
            return True
        path = os.path.dirname(path)


def _tasks_of(user: int) -> int:
    """The threads that a user runs now."""
    count = 0
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.stat(f"/proc/{entry}").st_uid == user:
                count += len(os.listdir(f"/proc/{entry}/task"))
        except OSError:
            continue  # it ended meanwhile
    return count
