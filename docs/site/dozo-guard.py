#!/usr/bin/env python3
"""An SFTP server for a site of Dozo that a stolen key cannot harm: see hardened-site.md.

It is the forced command of Dozo's account:  ForceCommand python3 -IS /usr/local/lib/dozo-guard.py ROOT
For a partner with a quota (partners.md):    python3 -IS /usr/local/lib/dozo-guard.py ROOT QUOTA COUNT KEY
To count anew what is stored, as root:       python3 -IS /usr/local/lib/dozo-guard.py --count ROOT QUOTA COUNT

A file can be written, cut, set and removed only under a temporary name: below ROOT/.dozo/incoming, or below a folder
.dozo-incoming, where `dozo copy` keeps its own. It gets its final name by a rename, which never replaces anything. A
final name is given up only to Dozo's versions, where the bytes stay. A stored file can get another final name in its
experiment, but never a temporary one. Nothing else can happen to it. Nothing outside of ROOT can be reached, and no link
is ever followed. No command is run for the client.

It speaks SFTP version 3 itself, instead of filtering for another server, because only who opens the files can know that
what is judged and what is done are the same file. All processes of this script hold a lock on a file while they write
to it or rename it: so a handle loses its power when its file is renamed, in whatever process.
"""

import ctypes, errno, fcntl, hashlib, itertools, os, re, stat, struct, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

# Raise it when Dozo must know the difference: GUARD in SiteProbe.java names the version that it expects.
EXTENSIONS = {b"guard-1@dozo": b"1", b"sync@dozo": b"1", b"challenge@dozo": b"1", b"check-file": b"1",
              b"copy-data": b"1", b"fsync@openssh.com": b"1", b"hardlink@openssh.com": b"1",
              b"limits@openssh.com": b"1", b"posix-rename@openssh.com": b"1", b"statvfs@openssh.com": b"2"}
OK, END, NO_SUCH_FILE, DENIED, FAILURE, BAD_MESSAGE, UNSUPPORTED, QUOTA_USED_UP = 0, 1, 2, 3, 4, 5, 8, 15
CODES = {errno.ENOENT: NO_SUCH_FILE, errno.ENOTDIR: NO_SUCH_FILE, errno.ELOOP: NO_SUCH_FILE,
         errno.EACCES: DENIED, errno.EPERM: DENIED, errno.ENAMETOOLONG: BAD_MESSAGE}
STATUS, HANDLE, DATA, NAME, ATTRIBUTES, REPLY = 101, 102, 103, 104, 105, 201
READ, WRITE, APPEND, CREATE, TRUNCATE, EXCLUSIVE = 1, 2, 4, 8, 16, 32
HAS_SIZE, HAS_OWNER, HAS_MODE, HAS_TIMES = 1, 2, 4, 8
PACKET_BYTES_MAX = 256 << 10
CONTENT_BYTES_MAX = PACKET_BYTES_MAX - 1024
HANDLES_MAX = 256
NAMES_MAX = 60000  # ext4: 65,000. At the limit a file could no longer be moved to its versions.
BLOCK_BYTES = 1 << 20
INCOMING, VERSIONS = [b".dozo", b"incoming"], [b".dozo", b"versions"]
COPYING = re.compile(rb"\.dozo-incoming(-[1-9][0-9]*)?")


class Refused(Exception):
    """What was asked is against the rules, or not known here; its code is the answer."""

    def __init__(self, code, why):
        super().__init__(why)
        self.code = code


def denied(why):
    return Refused(DENIED, why)


# The rules. Names are the parts of a path below the root.

def is_temporary(names):
    """Whether a path is, or is below, a folder of temporary names. Bags have no such folder: data is deeper in them."""
    return names[:2] == INCOMING or names[:1] != [b".dozo"] and any(map(COPYING.fullmatch, names[:3]))


def is_version(kept, final):
    """Whether Dozo keeps earlier copies of `final` under the name `kept`: VERSIONS/project/experiment/number/…."""
    return (len(final) > 2 and final[0] != b".dozo" and kept[:2] == VERSIONS and kept[2:4] == final[:2]
            and kept[4:5] != [] and kept[4].isdigit() and kept[5:-1] == final[2:-1] and len(kept) == len(final) + 3
            and re.fullmatch(re.escape(final[-1]) + rb"(~[1-9][0-9]*)?", kept[-1]) is not None)


def check_rename(old, new, is_folder):
    publishes = is_temporary(old) and new[:2] != VERSIONS
    keeps = is_version(new, old)
    puts_back = is_version(old, new)
    if not (keeps or (publishes or puts_back) and not is_folder):
        raise denied("a final name can only be given up to the versions of the same name")


def check_hard_link(old, new):
    # NB: never to or from a temporary name, whatever else protects it: it could be written then.
    in_one_bag = len(old) > 3 and len(new) > 3 and old[:3] == new[:3] and old[2] == b"data" and old[0] != b".dozo"
    if not in_one_bag or is_temporary(old) or is_temporary(new):
        raise denied("only a file in the data of an experiment can get another name, and only there")


def check_link(names):
    if not is_temporary(names) and names[:1] == [b".dozo"]:
        raise denied("no links among Dozo's own files")


def check_mode(mode, is_folder):
    if mode & (0o700 if is_folder else 0o400) != (0o700 if is_folder else 0o400):
        raise denied("nothing can be made unreadable")


# Paths: opened name by name, so that no link is followed and nothing outside of the root is reached.

def parts(path):
    below = bytes(path)
    if below.startswith(b"/"):
        if not (below + b"/").startswith(ROOT + b"/"):
            raise denied("outside of the root")
        below = below[len(ROOT):]
    names = [name for name in below.split(b"/") if name not in (b"", b".")]
    if b".." in names or b"\0" in below:
        raise denied("paths do not lead upwards here")
    return names


def opened_folder(names, flags=os.O_PATH):
    fd = os.dup(ROOT_FD) if names or flags & os.O_PATH else os.open(b".", os.O_RDONLY, dir_fd=ROOT_FD)
    for i, name in enumerate(names):
        above = fd
        how = flags if i == len(names) - 1 else os.O_PATH
        try:
            fd = os.open(name, how | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
        finally:
            os.close(above)
    return fd


@contextmanager
def parent(names):
    """Opens the folder of a path; returns it with the path's last name."""
    fd = opened_folder(names[:-1])
    try:
        yield fd, names[-1] if names else b"."
    finally:
        os.close(fd)


def opened_file(name, folder, flags):
    # A device or a fifo would block; there is none unless somebody at the site makes one.
    return os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY, 0o600, dir_fd=folder)


def is_same(fd, name, folder):
    try:
        return os.path.samestat(os.fstat(fd), os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        return False


@contextmanager
def locked(fd, how):
    fcntl.flock(fd, how)
    try:
        yield
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)


class Open:
    """An open file or folder."""

    def __init__(self, fd, folder=None, name=None):
        self.fd, self.folder, self.name = fd, folder, name
        self.entries = self.handle = None

    @contextmanager
    def writing(self):
        """Lets the file be changed, as long as it has the temporary name under which it was opened, and no other."""
        if self.name is None:
            raise denied("not open for writing")
        with locked(self.fd, fcntl.LOCK_SH):
            if not is_same(self.fd, self.name, self.folder) or os.fstat(self.fd).st_nlink != 1:
                raise denied("the file is no longer a temporary one")
            yield self.fd

    def close(self):
        if self.entries is not None:
            self.entries.close()
        for fd in (self.fd, self.folder):
            if fd is not None:
                os.close(fd)


def open_to_write(names, flags):
    if not is_temporary(names):
        raise denied("only temporary files can be written")
    with parent(names) as (folder, name):
        with storing(lambda: growth_by_name(name, folder) if flags & os.O_CREAT else 0):
            fd = opened_file(name, folder, flags)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise denied("not a regular file")
        return Open(fd, os.dup(folder), name)


def rename(old, new):
    with parent(old) as (a, name), parent(new) as (b, free):
        before = os.stat(name, dir_fd=a, follow_symlinks=False)
        is_folder, is_file = stat.S_ISDIR(before.st_mode), stat.S_ISREG(before.st_mode)
        check_rename(old, new, is_folder)
        fd = opened_file(name, a, os.O_RDONLY) if is_file else os.dup(ROOT_FD)
        try:
            # A file is locked itself, so that nobody writes to it; everything else shares one lock.
            with locked(fd, fcntl.LOCK_EX):
                if not os.path.samestat(before, os.stat(name, dir_fd=a, follow_symlinks=False)):
                    raise FileNotFoundError(errno.ENOENT, "renamed meanwhile")
                if is_file and not os.path.samestat(before, os.fstat(fd)):
                    raise FileNotFoundError(errno.ENOENT, "renamed meanwhile")
                if is_folder:
                    rename_folder(name, a, free, b)
                else:
                    # Unlike a rename, a link never replaces anything.
                    os.link(name, free, src_dir_fd=a, dst_dir_fd=b, follow_symlinks=False)
                    os.unlink(name, dir_fd=a)
        finally:
            os.close(fd)


def hard_link(old, new):
    check_hard_link(old, new)
    with parent(old) as (a, name), parent(new) as (b, free):
        before = os.stat(name, dir_fd=a, follow_symlinks=False)
        if not stat.S_ISREG(before.st_mode):
            raise denied("not a regular file")
        if before.st_nlink >= NAMES_MAX:
            raise OSError(errno.EMLINK, os.strerror(errno.EMLINK))
        with storing(lambda: growth_by_name(free, b)):
            os.link(name, free, src_dir_fd=a, dst_dir_fd=b, follow_symlinks=False)


def rename_folder(name, a, free, b):
    try:
        os.stat(free, dir_fd=b, follow_symlinks=False)
    except FileNotFoundError:
        # If somebody makes that name now: the system replaces only an empty folder.
        os.rename(name, free, src_dir_fd=a, dst_dir_fd=b)
        return
    raise FileExistsError(errno.EEXIST, "in use")


# The quota of a partner. Each file, folder and link counts as ENTRY_BYTES, and a file also as its size. COUNT is outside of
# the root; all processes of this script change it, under a lock. Without a quota nothing is counted.

ENTRY_BYTES = 4096
KEYS_MAX = 16
COUNTS = re.compile(rb"used ([0-9]{20}) changes ([0-9]{20}) counted ([0-9]{20}) quota ([0-9]{20})\n")
COUNTS_BYTES = 111
COUNT_FD, QUOTA = None, 0


def open_count(quota, file):
    global COUNT_FD, QUOTA
    QUOTA = int(quota)
    COUNT_FD = os.open(file, os.O_RDWR | os.O_NOFOLLOW)


def counts():
    """Returns the bytes in use, the number of changes so far, and when all was counted; None if that is not known."""
    found = COUNTS.fullmatch(os.pread(COUNT_FD, COUNTS_BYTES, 0))
    return tuple(map(int, found.groups()[:3])) if found else None


def write_counts(used, changes, counted):
    os.pwrite(COUNT_FD, b"used %020d changes %020d counted %020d quota %020d\n" % (used, changes, counted, QUOTA), 0)


def add_to_count(by):
    used, changes, counted = counts()
    if by > 0 and used + by > QUOTA:
        raise Refused(QUOTA_USED_UP, "the quota is used up")
    write_counts(max(0, used + by), changes + 1, counted)


@contextmanager
def storing(growth):
    """Counts what a change adds, before it, and what it removes, after it: who dies in between counts too much."""
    if COUNT_FD is None:
        yield
        return
    with locked(COUNT_FD, fcntl.LOCK_EX):
        if counts() is None:
            raise Refused(QUOTA_USED_UP, "what is stored here is not counted: root counts it by dozo-guard.py --count")
        by = growth()
        if by > 0:
            add_to_count(by)
        try:
            yield
        except BaseException:
            if by > 0:
                add_to_count(-by)
            raise
        if by < 0:
            add_to_count(by)


def size_of(fd):
    return os.fstat(fd).st_size


def resize(fd, size):
    with storing(lambda: size - size_of(fd)):
        os.ftruncate(fd, size)


def grow(fd, end):
    """Counts what a write up to `end` adds. The file has that size at once: others who write to it count from there."""
    if COUNT_FD is not None and end > size_of(fd):
        with storing(lambda: max(0, end - size_of(fd))):
            if end > size_of(fd):
                os.ftruncate(fd, end)


def growth_by_name(name, folder):
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
        return 0
    except FileNotFoundError:
        return ENTRY_BYTES


def growth_by_removal(name, folder):
    facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
    return -ENTRY_BYTES - (facts.st_size if stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1 else 0)


def room(blocks, block_bytes, bytes_max):
    return min(blocks, max(0, bytes_max) // block_bytes)


def note_contact(key):
    """Notes when somebody logged in with this key, below the counts."""
    if not re.fullmatch("SHA256:[A-Za-z0-9+/]{43}", key):
        end("expected the fingerprint of a key")
    with locked(COUNT_FD, fcntl.LOCK_EX):
        keys = os.pread(COUNT_FD, 4096, COUNTS_BYTES).splitlines(True) if counts() else []
        line = b"key %s %020d\n" % (key.encode(), time.time())
        at = next((i for i, known in enumerate(keys) if known[:-21] == line[:-21]), len(keys))
        if counts() and at < KEYS_MAX:
            os.pwrite(COUNT_FD, line, COUNTS_BYTES + at * len(line))


def stored_bytes():
    """Reads sizes of all that is stored. Names of one file are in one experiment, so only those of one are remembered."""
    total, others = 0, {}

    def fail(failure):
        raise failure

    for _, folders, files, fd in os.fwalk(b".", onerror=fail, follow_symlinks=False, dir_fd=ROOT_FD):
        total += ENTRY_BYTES * (len(folders) + len(files))
        for name in files:
            facts = os.stat(name, dir_fd=fd, follow_symlinks=False)
            if stat.S_ISREG(facts.st_mode):
                left = others.pop(facts.st_ino, 0)
                total += 0 if left else facts.st_size
                if (left or facts.st_nlink) > 1:
                    others[facts.st_ino] = (left or facts.st_nlink) - 1
    return total


def count_anew():
    """Counts what is stored, if nothing changes meanwhile. Says so if it was counted wrong."""
    before = counts()
    total = stored_bytes()
    with locked(COUNT_FD, fcntl.LOCK_EX):
        now = counts()
        if (now and now[1]) != (before and before[1]):
            return "something was stored meanwhile; count again when nothing is being sent"
        if now and now[0] != total:
            print(f"dozo-guard: {now[0]} bytes were counted, {total} are stored; corrected", flush=True)
        write_counts(total, now[1] + 1 if now else 0, int(time.time()))
        os.fsync(COUNT_FD)
    return None


# Packets.

class Request:
    """A packet's body, read from its beginning."""

    def __init__(self, body):
        self.body, self.at = body, 0

    def take(self, length):
        self.at += length
        if self.at > len(self.body):
            raise Refused(BAD_MESSAGE, "the packet is shorter than it says")
        return self.body[self.at - length:self.at]

    def number(self, length=4):
        return int.from_bytes(self.take(length), "big")

    def text(self):
        return self.take(self.number())

    def names(self):
        return parts(self.text())

    def open(self):
        try:
            return HANDLES[bytes(self.text())]
        except KeyError:
            raise Refused(FAILURE, "no such handle") from None

    def attributes(self):
        """Reads what is to be set: size, mode, times; None what is not."""
        flags = self.number()
        if flags & ~(HAS_SIZE | HAS_MODE | HAS_TIMES):
            raise denied("only size, mode and times can be set")
        size = self.number(8) if flags & HAS_SIZE else None
        mode = self.number() if flags & HAS_MODE else None
        times = (self.number(), self.number()) if flags & HAS_TIMES else None
        return size, mode, times


def text(value):
    return struct.pack(">I", len(value)) + value


def status(code, why=""):
    return STATUS, struct.pack(">I", code) + text(why.encode()) + text(b"en")


def attributes(facts):
    return struct.pack(">IQIIIII", HAS_SIZE | HAS_OWNER | HAS_MODE | HAS_TIMES, facts.st_size, facts.st_uid, facts.st_gid,
                       facts.st_mode, int(facts.st_atime) & 0xFFFFFFFF, int(facts.st_mtime) & 0xFFFFFFFF)


def one_name(name):
    return NAME, struct.pack(">I", 1) + text(name) + text(name) + struct.pack(">I", 0)


def new_handle(opened):
    if len(HANDLES) >= HANDLES_MAX:
        opened.close()
        raise Refused(FAILURE, "too many open files")
    opened.handle = struct.pack(">Q", next(NUMBERS))
    HANDLES[opened.handle] = opened
    return HANDLE, text(opened.handle)


# Requests. Each returns the type and the body of its answer; nothing: it is done.

def do_open(request):
    names, flags = request.names(), request.number()
    _, mode, _ = request.attributes()
    if flags & APPEND:
        raise Refused(UNSUPPORTED, "no appending")
    if not flags & (WRITE | CREATE | TRUNCATE):
        with parent(names) as (folder, name):
            return new_handle(Open(opened_file(name, folder, os.O_RDONLY)))
    how = os.O_RDWR if flags & READ else os.O_WRONLY
    how |= (os.O_CREAT if flags & CREATE else 0) | (os.O_EXCL if flags & EXCLUSIVE else 0)
    opened = open_to_write(names, how)
    try:
        # NB: not by O_TRUNC, which might cut a file that has just got its final name.
        with opened.writing() as fd:
            if flags & TRUNCATE:
                resize(fd, 0)
            if mode is not None and flags & EXCLUSIVE:
                check_mode(mode, False)
                os.fchmod(fd, mode & 0o777)
    except BaseException:
        opened.close()
        raise
    return new_handle(opened)


def do_close(request):
    opened = request.open()
    HANDLES.pop(opened.handle)
    opened.close()


def do_read(request):
    opened, offset, length = request.open(), request.number(8), request.number()
    data = os.pread(opened.fd, min(length, CONTENT_BYTES_MAX), offset)
    return (DATA, text(data)) if data else status(END)


def do_write(request):
    opened, offset, data = request.open(), request.number(8), request.text()
    with opened.writing() as fd:
        grow(fd, offset + len(data))
        write_all(fd, data, offset)


def write_all(fd, data, offset):
    done = 0
    while done < len(data):
        done += os.pwrite(fd, data[done:], offset + done)


def do_lstat(request):
    with parent(request.names()) as (folder, name):
        return ATTRIBUTES, attributes(os.stat(name, dir_fd=folder, follow_symlinks=False))


def do_fstat(request):
    return ATTRIBUTES, attributes(os.fstat(request.open().fd))


def set_facts(fd, size, mode, times):
    if mode is not None:
        check_mode(mode, stat.S_ISDIR(os.fstat(fd).st_mode))
    if size is not None:
        resize(fd, size)
    if mode is not None:
        os.fchmod(fd, mode & 0o777)
    if times is not None:
        os.utime(fd, times)


def do_setstat(request):
    names, (size, mode, times) = request.names(), request.attributes()
    if not names or names[:1] == [b".dozo"] and not is_temporary(names):
        raise denied("not of Dozo's own files and folders")
    if size is not None:
        opened = open_to_write(names, os.O_WRONLY)
        try:
            with opened.writing() as fd:
                set_facts(fd, size, mode, times)
        finally:
            opened.close()
        return
    # Mode and times may also be set of a final file: Dozo does when only these have changed at the source.
    with parent(names) as (folder, name):
        fd = opened_file(name, folder, os.O_RDONLY)
        try:
            set_facts(fd, None, mode, times)
        finally:
            os.close(fd)


def do_fsetstat(request):
    opened, asked = request.open(), request.attributes()
    with opened.writing() as fd:
        set_facts(fd, *asked)


def do_opendir(request):
    return new_handle(Open(opened_folder(request.names(), os.O_RDONLY)))


def do_readdir(request):
    opened = request.open()
    if opened.entries is None:
        opened.entries = os.scandir(opened.fd)
    count, body = 0, []
    for entry in opened.entries:
        try:
            facts = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        name = os.fsencode(entry.name)
        shown = f"{stat.filemode(facts.st_mode)} {facts.st_size:15} ".encode() + name
        body.append(text(name) + text(shown) + attributes(facts))
        count += 1
        if count == 100:
            break
    return (NAME, struct.pack(">I", count) + b"".join(body)) if count else status(END)


def do_remove(request, remove=os.unlink):
    names = request.names()
    if not is_temporary(names):
        raise denied("only temporary files can be removed")
    with parent(names) as (folder, name), storing(lambda: growth_by_removal(name, folder)):
        remove(name, dir_fd=folder)


def do_rmdir(request):
    do_remove(request, os.rmdir)


def do_mkdir(request):
    with parent(request.names()) as (folder, name):
        _, mode, _ = request.attributes()
        with storing(lambda: growth_by_name(name, folder)):
            os.mkdir(name, 0o700 | (mode or 0) & 0o777, dir_fd=folder)


def do_realpath(request):
    return one_name(b"/".join([ROOT, *request.names()]) or b"/")


def do_rename(request):
    rename(request.names(), request.names())


def do_hard_link(request):
    hard_link(request.names(), request.names())


def do_readlink(request):
    with parent(request.names()) as (folder, name):
        return one_name(os.readlink(name, dir_fd=folder))


def do_symlink(request):
    # OpenSSH has the text first, and all clients have followed.
    target, names = bytes(request.text()), request.names()
    check_link(names)
    with parent(names) as (folder, name), storing(lambda: growth_by_name(name, folder)):
        os.symlink(target, name, dir_fd=folder)


def do_statvfs(request):
    s = os.fstatvfs(ROOT_FD)
    blocks, free, available = s.f_blocks, s.f_bfree, s.f_bavail
    if COUNT_FD is not None:
        left = QUOTA - (counts() or (QUOTA,))[0]
        blocks, free, available = (room(n, s.f_frsize, most) for n, most in ((blocks, QUOTA), (free, left), (available, left)))
    return REPLY, struct.pack(">11Q", s.f_bsize, s.f_frsize, blocks, free, available, s.f_files, s.f_ffree,
                              s.f_favail, 0, s.f_flag & (os.ST_RDONLY | os.ST_NOSUID), s.f_namemax)


def do_limits(request):
    return REPLY, struct.pack(">4Q", PACKET_BYTES_MAX, CONTENT_BYTES_MAX, CONTENT_BYTES_MAX, HANDLES_MAX)


def do_fsync(request):
    os.fsync(request.open().fd)


def do_copy_data(request):
    source, begin, length = request.open(), request.number(8), request.number(8)
    target, at = request.open(), request.number(8)
    with target.writing() as fd:
        done = 0
        while length == 0 or done < length:
            data = os.pread(source.fd, min(BLOCK_BYTES, length - done or BLOCK_BYTES), begin + done)
            if not data:
                break
            grow(fd, at + done + len(data))
            write_all(fd, data, at + done)
            done += len(data)


def begin_sync(request):
    return sync


def sync():
    if LIBC.syncfs(ROOT_FD) != 0:
        raise OSError(ctypes.get_errno(), "sync failed")
    if COUNT_FD is not None:
        os.fsync(COUNT_FD)


def begin_check_file(request):
    names, algorithms = request.names(), bytes(request.text()).split(b",")
    offset, length, block = request.number(8), request.number(8), request.number()
    if b"sha256" not in algorithms or block != 0:
        raise Refused(UNSUPPORTED, "SHA-256 of the whole only")
    return lambda: (REPLY, text(b"check-file") + text(b"sha256") + digest(names, offset, length))


def begin_challenge(request):
    names, salt, item = request.names(), bytes(request.text()), bytes(request.text())
    offset, length = request.number(8), request.number(8)
    if not re.fullmatch(rb"[0-9a-f]{64}", salt) or not re.fullmatch(rb"[0-9a-f]{64}", item) or length == 0:
        raise Refused(BAD_MESSAGE, "not a challenge")
    head = b"dozo-challenge-1\n%b\n%b\n%d\n%d\n" % (salt, item, offset, length)
    return lambda: (REPLY, digest(names, offset, length, head))


def digest(names, offset, length, head=b""):
    with parent(names) as (folder, name):
        fd = opened_file(name, folder, os.O_RDONLY)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise denied("not a regular file")
        sha, at, end = hashlib.sha256(head), offset, offset + length if length else None
        buffer = memoryview(bytearray(BLOCK_BYTES))
        while end is None or at < end:
            read = os.preadv(fd, [buffer if end is None else buffer[:min(BLOCK_BYTES, end - at)]], at)
            if read == 0:
                break
            sha.update(buffer[:read])
            at += read
        return sha.digest()
    finally:
        os.close(fd)


# By name: of what may take long, only the beginning is done at once; the rest runs beside the next requests.
EXTENDED = {b"posix-rename@openssh.com": do_rename, b"statvfs@openssh.com": do_statvfs, b"limits@openssh.com": do_limits,
            b"fsync@openssh.com": do_fsync, b"hardlink@openssh.com": do_hard_link, b"copy-data": do_copy_data,
            b"sync@dozo": begin_sync, b"check-file-name": begin_check_file, b"challenge@dozo": begin_challenge}
REQUESTS = {3: do_open, 4: do_close, 5: do_read, 6: do_write, 7: do_lstat, 8: do_fstat, 9: do_setstat, 10: do_fsetstat,
            11: do_opendir, 12: do_readdir, 13: do_remove, 14: do_mkdir, 15: do_rmdir, 16: do_realpath, 17: do_lstat,
            18: do_rename, 19: do_readlink, 20: do_symlink}
HANDLES, NUMBERS = {}, itertools.count()
LIBC = ctypes.CDLL(None, use_errno=True)
ANSWERING = threading.Lock()


def answered(work):
    """Returns what the work returns, or its failure as an answer."""
    try:
        return work() or status(OK)
    except Refused as refused:
        return status(refused.code, str(refused))
    except OSError as failed:
        return status(CODES.get(failed.errno, FAILURE), os.strerror(failed.errno or errno.EIO))
    except (ValueError, OverflowError):
        return status(BAD_MESSAGE, "not a valid request")


def send(number, answer):
    kind, body = answer
    with ANSWERING:
        sys.stdout.buffer.write(struct.pack(">IBI", len(body) + 5, kind, number))
        sys.stdout.buffer.write(body)
        sys.stdout.buffer.flush()


def answer(kind, request):
    if kind == 200:
        kind = bytes(request.text())
    work = REQUESTS.get(kind) or EXTENDED.get(kind)
    if work is None:
        raise Refused(UNSUPPORTED, "not offered here")
    return work(request)


def serve():
    buffer = memoryview(bytearray(PACKET_BYTES_MAX))
    pool = ThreadPoolExecutor(4)
    while head := sys.stdin.buffer.read(4):
        length = int.from_bytes(head, "big")
        if len(head) < 4 or not 5 <= length <= PACKET_BYTES_MAX:
            return "not an SFTP packet"
        if sys.stdin.buffer.readinto(buffer[:length]) < length:
            return "the last packet is cut"
        kind, number, request = buffer[0], int.from_bytes(buffer[1:5], "big"), Request(buffer[5:length])
        if kind == 1:
            send(3, (2, b"".join(text(name) + text(value) for name, value in EXTENSIONS.items())))
            continue
        done = answered(lambda: answer(kind, request))
        if callable(done):
            pool.submit(lambda number=number, rest=done: send(number, answered(rest)))
        else:
            send(number, done)
    return None


def end(why=None):
    """Ends at once, whatever is still being digested."""
    if why:
        print("dozo-guard:", why, file=sys.stderr, flush=True)
    os._exit(1 if why else 0)


if __name__ == "__main__":
    counting = sys.argv[1:2] == ["--count"]
    arguments = sys.argv[2:] if counting else sys.argv[1:]
    # sshd names here what the client asked for: the subsystem's program, or a command, which is not run.
    asked = os.environ.get("SSH_ORIGINAL_COMMAND", "")
    if not counting and not re.fullmatch(r"(internal-sftp|\S*/sftp-server)( .*)?", asked):
        end("this account speaks SFTP only; no command is run")
    if len(arguments) not in ((3,) if counting else (1, 4)) or not arguments[0].startswith("/"):
        end("expected the absolute path of the site's root, and for a partner the quota in bytes, the file of the count, a key")
    ROOT = os.fsencode(arguments[0]).rstrip(b"/")
    try:
        ROOT_FD = os.open(ROOT or b"/", os.O_RDONLY | os.O_DIRECTORY)
        if len(arguments) > 1:
            open_count(*arguments[1:3])
        if counting:
            end(count_anew())
        if COUNT_FD is not None:
            note_contact(arguments[3])
        end(serve())
    except BrokenPipeError:
        end("the client is gone")
    except (OSError, ValueError) as failed:
        end(f"{sys.argv[1]}: {failed}")
