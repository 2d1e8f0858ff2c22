"""One timed copy: preparation, measurement, and checks."""

import json
import os
import shlex
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from data import digests, files_of, read_through
from processes import CannotMeasure, reap_orphans, timed

HEAP = '256m'
SAFE_CHARACTERS = set('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-')


@dataclass(frozen=True)
class Subject:
    """A tool with its command.

    `is_dozo`: it creates its destination itself, and proves the copy with a JSON line.
    """

    name: str
    command: str
    is_dozo: bool = False


@dataclass(frozen=True)
class Run:
    """The figures of one copy. `fault` says why it does not count; None if everything arrived."""

    seconds: float
    client_cpu_seconds: float
    server_cpu_seconds: float
    relay_cpu_seconds: float
    memory_peak_bytes: int
    sync_seconds: float
    fault: str | None
    report: dict | None

    @property
    def seconds_with_sync(self):
        """Seconds until everything is on the disk."""
        return self.seconds + self.sync_seconds


class Source:
    """A data set on disk, with the values that copies are compared with."""

    def __init__(self, folder):
        self.folder = folder
        sizes = [size for _, size in files_of(folder)]
        self.files = len(sizes)
        self.bytes = sum(sizes)
        self.digests = digests(folder)


@contextmanager
def workspace(named):
    """Yields (folder for data sets, folder for this run).

    Only the data sets are kept, and only if the place was named.
    """
    with tempfile.TemporaryDirectory(prefix='dozo-bench-') as temporary:
        home = Path(named or temporary).resolve()
        if not SAFE_CHARACTERS.issuperset(str(home)):
            raise CannotMeasure(f'the work folder is used in shell commands, so its name must not have special characters: {home}')
        data = home / 'data'
        data.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix='run-', dir=home) as run:
            yield data, Path(run)


class Ballast:
    """Fills free memory with clean page cache, so that a run gets its pages from the kernel's own lists.

    A virtual machine may return freed memory to its host. The first to write to such a page waits for the host (seconds
    per GB), and which tool that affects is chance. The cache is filled from a sparse file, which takes no disk space.
    """

    KEEP_FREE_BYTES = 700 * 1000**2
    WORTH_IT_BYTES = 300 * 1000**2

    def __init__(self, folder, wanted):
        self.wanted = wanted
        self.path = Path(folder) / 'ballast'
        self.size = 4 * os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE')
        self.position = 0

    def fill(self):
        missing = free_memory_bytes() - self.KEEP_FREE_BYTES
        if not self.wanted or missing < self.WORTH_IT_BYTES:
            return
        if missing > 4 * 1000**3:
            print(f'filling {missing / 1e9:.0f} GB of free memory', file=sys.stderr, flush=True)
        buffer = [bytearray(4 << 20)]
        with open(self.path, 'ab') as file:
            file.truncate(self.size)
        with open(self.path, 'rb', buffering=0) as file:
            while missing > 0:
                count = os.preadv(file.fileno(), buffer, self.position)
                missing -= count
                # At the end of the file, its beginning has left the memory again.
                self.position = self.position + count if count else 0


def free_memory_bytes():
    with open('/proc/meminfo') as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith('MemFree:'))


class Stopwatch:
    """Times subjects against a server, with the same preparation and checks for each."""

    KEEP_FREE_BYTES = 10 * 1000**3

    def __init__(self, folder, server, ballast, limit_seconds):
        self.folder = folder
        self.server = server
        self.ballast = ballast
        self.limit_seconds = limit_seconds
        self.copies = 0
        self.destination = folder / 'site' / '0' / 'copy'

    def run(self, subject, source, compare, relay=None):
        """Makes one copy. `compare`: also compares contents, by SHA-256."""
        self.prepare(subject, source)
        log = self.folder / 'output'
        errors = self.folder / 'errors'
        port = relay.port if relay else self.server.port
        command = fill_in(subject.command, self.values(source, port))
        before = self.server.cpu_seconds(), relay.cpu_seconds() if relay else 0
        ended = None
        try:
            with open(log, 'wb') as out, open(errors, 'wb') as err:
                environment = {**os.environ, 'DOZO_HEAP': HEAP}
                ended = timed(command, self.limit_seconds, out, err, environment)
        finally:
            ours = {self.server.process.pid} | ({relay.process.pid} if relay else set())
            orphans = reap_orphans(ours, ended and ended.session)
        sync_seconds = sync()
        relay_cpu = relay.cpu_seconds() - before[1] if relay else 0
        self.server.wait_for_sessions()
        report = last_json(log) if subject.is_dozo else None
        fault = self.fault_of_ending(ended, log, errors) or self.fault_at_site(source, compare)
        if not fault and subject.is_dozo:
            fault = fault_of_report(report, source)
        return Run(
            seconds=ended.seconds,
            client_cpu_seconds=ended.cpu_seconds + orphans[0],
            server_cpu_seconds=self.server.cpu_seconds() - before[0] + orphans[1],
            relay_cpu_seconds=relay_cpu,
            memory_peak_bytes=ended.memory_peak_bytes,
            sync_seconds=sync_seconds,
            fault=fault,
            report=report,
        )

    def prepare(self, subject, source):
        # Earlier copies are kept while there is space: among just removed files, ext4 takes long to find a free inode.
        if shutil.disk_usage(self.folder).free < self.KEEP_FREE_BYTES + 2 * source.bytes:
            shutil.rmtree(self.folder / 'site', ignore_errors=True)
        self.copies += 1
        self.destination = self.folder / 'site' / str(self.copies) / 'copy'
        (self.destination.parent if subject.is_dozo else self.destination).mkdir(parents=True)
        os.sync()
        self.ballast.fill()
        read_through(source.folder)

    def values(self, source, port):
        return {
            'src': source.folder,
            'dst': self.destination,
            'port': port,
            'key': self.server.key,
            'known': self.server.known_hosts,
            'user': self.server.user,
            'config': self.server.client_configuration(port),
            'python': sys.executable,
            'parallel': Path(__file__).with_name('parallel.py'),
        }

    def fault_of_ending(self, ended, log, errors):
        if ended.code == 0:
            return None
        words = last_words(errors) or last_words(log)
        if ended.code is None:
            return f'not done after {self.limit_seconds} s, {len(files_of(self.destination))} files: {words}'
        return f'exit code {ended.code}: {words} {self.server.last_words()}'

    def fault_at_site(self, source, compare):
        sizes = [size for _, size in files_of(self.destination)]
        if (len(sizes), sum(sizes)) != (source.files, source.bytes):
            return f'{len(sizes)} files, {sum(sizes)} bytes arrived, not {source.files}, {source.bytes}'
        if compare and digests(self.destination) != source.digests:
            return 'contents differ'
        return None


def sync():
    started = time.monotonic()
    os.sync()
    return time.monotonic() - started


def fill_in(command, values):
    """Replaces {name}; not with str.format, because shell commands contain braces."""
    for name, value in values.items():
        command = command.replace('{' + name + '}', shlex.quote(str(value)))
    return command


def last_json(log):
    """Returns the last JSON object printed, on one line or several; None if there is none."""
    text = log.read_text(errors='replace')
    start = text.rfind('\n{') + 1
    try:
        found = json.loads(text[start:])
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def fault_of_report(report, source):
    """Returns what is wrong in Dozo's report; None if it says that all is verified.

    Entries include folders, so there may be more of them than files.
    """
    if report is None:
        return 'no JSON on standard output'
    try:
        entries, verified = report['entries'], report['entriesVerified']
        size, verified_size = report['bytes'], report['bytesVerified']
        report['seconds'], report['startSeconds'], report['bytesMoved']
    except KeyError as missing:
        return f'no {missing} in the JSON'
    if entries < source.files or verified != entries or size != source.bytes or verified_size != size:
        return f'not everything is verified according to the JSON: {json.dumps(report)}'
    return None


def last_words(path, characters=300):
    return ' | '.join(path.read_text(errors='replace').split('\n')).strip(' |')[-characters:]
