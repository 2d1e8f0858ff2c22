"""Limits put in a night's way on purpose: does the run name the right one, and is the predicted gain what follows?

Each night sends new files past one limit. The next night sends as many with the limit twice as high: the run of the first one
has named its bottleneck, and forecast how many times as fast it would be then. Some limits need root and control groups
(version 1), a loop device, or psql; where these are missing, a row says so, which is a shortfall in the long form.
"""

import os
import shutil
import subprocess
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from centre import Centre
from data import KB, MB, even
from measure import workspace
from processes import CannotMeasure
from program import LAUNCHER
from relay import Relay
from row import Row, at_least, teller
from server import Server
from service import seconds_of

GROUPS = Path('/sys/fs/cgroup')
PERIOD_MICROSECONDS = 100_000
RIGHT_MIN = 7
ERROR_MAX = 0.25
LARGE = '8MB'  # a file above that is a unit by itself
DATA = 'data'
say = teller('foresight')

# Name, files, bytes of each.
LARGE_FILES, LARGE_FILES_SHORT = ('limits-large', 24, 16 * MB), ('limits-large-short', 4, 9 * MB)
SMALL_FILES = ('limits-small', 3000, 20 * KB)
RECEIPT_SECONDS = 0.008  # for each file of a receipt

JOINS = 'echo $$ > "{group}/cgroup.procs"\n'
SLOW_SFTP = """#!/bin/sh
if [ "$SSH_ORIGINAL_COMMAND" = internal-sftp ]; then
    {joins}    exec "{sftp_server}"
fi
exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"
"""
# The commands of this folder come first.
OWN_COMMANDS = """#!/bin/sh
if [ "$SSH_ORIGINAL_COMMAND" = internal-sftp ]; then
    exec "{sftp_server}"
fi
PATH="{folder}:$PATH" exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"
"""
SLOW_DIGESTS = """#!/bin/sh
{joins}exec "{tool}" "$@"
"""
DIGEST_TOOLS = 'openssl', 'sha256sum'
# The program begins in the group: a JVM looks up its groups only once.
SLOW_PROGRAM = """#!/bin/sh
{joins}exec "{program}" "$@"
"""
SLOW_RECEIPTS = """
    create or replace function slow_receipt() returns trigger language plpgsql as
        $$ begin perform pg_sleep({seconds} * cardinality(new.entry_nos)); return new; end $$;
    create or replace trigger slow_receipt before insert on receipt for each row execute function slow_receipt();
"""


@dataclass(frozen=True)
class Case:
    """A limit, the name that a run has for it, and how it is made.

    `parts` is called with the place, and gives the parts of a centre that differ. `hold` is called for each night with the
    centre, the place and 1 or 2, and is a context in which the limit holds; it yields the port of the site, or None.
    """

    name: str
    limit: str
    hold: object
    parts: object = lambda place: {}
    files: tuple = LARGE_FILES
    settings: tuple = ()


SFTP_SERVERS = ('/usr/lib/openssh/sftp-server', '/usr/libexec/openssh/sftp-server', '/usr/libexec/sftp-server', '/usr/lib/ssh/sftp-server')


def sftp_server():
    found = shutil.which('sftp-server') or next((path for path in SFTP_SERVERS if shutil.which(path)), None)
    if not found:
        raise CannotMeasure('sftp-server is missing (package openssh-sftp-server)')
    return found


def found(work, short):
    rows, right = [], 0
    for case in CASES_SHORT if short else CASES:
        with workspace(work) as (data_folder, folder):
            source = even(*(LARGE_FILES_SHORT if short else case.files), 1).make(data_folder)
            try:
                first, second = nights(case, folder, source)
            except CannotMeasure as missing:
                rows.append(Row(case.name, case.limit, f'not measured: {missing}', '' if short else 'not measured'))
                continue
        named, predicted, actual = first.named, first.speedup, first.seconds / second.seconds
        error = predicted / actual - 1
        right += named == case.limit
        say(f'{case.name}: {first} {second}')
        words = f'{named}; {first.seconds:.1f} s, then {second.seconds:.1f}: {actual:.2f} times as fast, forecast {predicted:.2f}'
        rows.append(Row(case.name, f'{case.limit}, ±{ERROR_MAX:.0%}', words, f'{error:+.0%}' if not short and abs(error) > ERROR_MAX else ''))
    rows.append(at_least('named right', right, RIGHT_MIN, f'{right} of {len(rows)}', not short))
    return rows


@dataclass(frozen=True)
class Told:
    """A night, and what its run says of itself."""

    seconds: float
    bottlenecks: list

    @property
    def best(self):
        return max(self.bottlenecks, key=lambda each: each['speedup'], default={'limit': 'none', 'speedup': 1})

    @property
    def named(self):
        return self.best['limit']

    @property
    def speedup(self):
        return self.best['speedup']

    def __str__(self):
        shares = ', '.join(f'{each["limit"]} {each["share"]:.2f} ({each["speedup"]:.2f})' for each in self.bottlenecks)
        return f'{self.seconds:.1f} s: {shares};'


def nights(case, folder, source):
    """Runs the two nights, after one without a limit that loads what a first night loads."""
    with ExitStack() as stack:
        place = Place(folder, source, stack)
        parts = case.parts(place)
        server = stack.enter_context(Server(folder / 'sshd', forced=parts.get('forced')))
        settings = dict(case.settings, DOZO_TRANSFER_LARGE=LARGE)
        centre = stack.enter_context(Centre(folder / 'centre', server, program=parts.get('program', LAUNCHER), **settings))
        warm = folder / 'warm'
        shutil.copytree(source, warm)
        centre.register([warm])
        centre.night()
        told = []
        for step in (1, 2):
            experiment = place.source(step)
            centre.register([experiment])
            with case.hold(centre, place, step) as port:
                centre.service.add_site(server, centre.site, port)
                run = centre.service.complete(centre.start())
            told.append(Told(seconds_of(run), run['bottlenecks']))
        return told


class Place:
    """Folders of a case, and what must be undone after it."""

    def __init__(self, folder, source, stack):
        self.folder = folder
        self.original = source
        self.stack = stack
        self.disk = None
        self.slow = None

    def source(self, step):
        """Returns files for a night of their own."""
        folder = (self.disk or self.folder) / f'{DATA}{step}'
        if not folder.exists():
            shutil.copytree(self.original, folder)
        return folder

    def script(self, name, text):
        path = self.folder / 'scripts' / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            text.format(
                joins=''.join(JOINS.format(group=each) for each in self.slow.folders),
                sftp_server=sftp_server(),
                tool=shutil.which(name),
                program=LAUNCHER,
                folder=path.parent,
            )
        )
        path.chmod(0o755)
        return path

    def group(self, *controllers):
        return self.stack.enter_context(Group(*controllers))

    def slow_disk(self):
        """Mounts a file system with the sources of both nights, read-only and with nothing of it in memory."""
        image, mounted = self.folder / 'image', self.folder / 'disk'
        mounted.mkdir()
        with open(image, 'wb') as file:
            file.truncate(3 * sum(path.stat().st_size for path in self.original.rglob('*') if path.is_file()) + 64 * MB)
        privileged('mkfs.ext4', '-q', '-F', image)
        privileged('mount', '-o', 'loop', image, mounted)
        try:
            for step in (1, 2):
                shutil.copytree(self.original, mounted / f'{DATA}{step}')
        finally:
            privileged('umount', mounted)
        privileged('mount', '-o', 'loop,ro', image, mounted)
        self.stack.callback(privileged, 'umount', mounted)
        self.disk = mounted


class Group:
    """A control group in these hierarchies, for a `with` block."""

    def __init__(self, *controllers):
        self.folders = [GROUPS / controller / f'dozo-bench-{os.getpid()}' for controller in controllers]

    def __enter__(self):
        try:
            for folder in self.folders:
                if not folder.parent.joinpath('cgroup.procs').exists():
                    raise CannotMeasure(f'{folder.parent} is missing: no control groups of version 1')
                folder.mkdir(exist_ok=True)
        except OSError as e:
            raise CannotMeasure(f'no control group: {e}') from e
        return self

    def __exit__(self, *_):
        for folder in self.folders:
            for process in (folder / 'cgroup.procs').read_text().split():
                (folder.parent / 'cgroup.procs').write_text(process)
            folder.rmdir()

    def write(self, name, value):
        (self.folders[0] / name).write_text(f'{value}\n')

    def processors(self, number):
        """Allows this many processors' time; None: all."""
        self.write('cpu.cfs_period_us', PERIOD_MICROSECONDS)
        self.write('cpu.cfs_quota_us', -1 if number is None else int(number * PERIOD_MICROSECONDS))


def privileged(*command):
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.CalledProcessError) as e:
        raise CannotMeasure(f'{command[0]}: {getattr(e, "stderr", b"").decode(errors="replace").strip() or e}') from e


def timetable(bytes_per_second):
    @contextmanager
    def hold(centre, place, step):
        centre.service.put('/sites/dr/timetable', {'rules': [f'daily 00:00-24:00 {step * bytes_per_second}']})
        yield None

    return hold


def link(round_trip_ms, megabits):
    @contextmanager
    def hold(centre, place, step):
        with Relay(round_trip_ms, centre.server.port, step * megabits) as relay:
            yield relay.port

    return hold


@contextmanager
def half_the_distance(centre, place, step):
    with Relay(100 / step, centre.server.port) as relay:
        yield relay.port


@contextmanager
def slow_disk(centre, place, step):
    device = os.stat(place.disk).st_dev
    place.slow.write('blkio.throttle.read_bps_device', f'{os.major(device)}:{os.minor(device)} {step * 20 * MB}')
    place.slow.write('cgroup.procs', centre.service.process.pid)
    yield None


def with_slow_disk(place):
    place.slow_disk()
    place.slow = place.group('blkio')
    return {}


def processors(number):
    @contextmanager
    def hold(centre, place, step):
        place.slow.processors(step * number)
        try:
            yield None
        finally:
            place.slow.processors(None)

    return hold


def with_slow_sftp(place):
    place.slow = place.group('cpu')
    return {'forced': place.script('forced', SLOW_SFTP)}


def with_slow_digests(place):
    place.slow = place.group('cpu')
    for tool in filter(shutil.which, DIGEST_TOOLS):
        place.script(tool, SLOW_DIGESTS)
    return {'forced': place.script('forced', OWN_COMMANDS)}


def with_slow_service(place):
    place.slow = place.group('cpu', 'cpuacct')
    return {'program': place.script('dozo', SLOW_PROGRAM)}


@contextmanager
def slow_receipts(centre, place, step):
    centre.sql(SLOW_RECEIPTS.format(seconds=RECEIPT_SECONDS / step))
    yield None


CASES = (
    Case('timetable, 20 MB/s', 'TIMETABLE', timetable(20 * MB)),
    Case('link, 160 Mbit/s', 'LINK', link(1.4, 160)),
    Case('round trip of 100 ms, one channel', 'ROUND_TRIPS', half_the_distance, settings=(('DOZO_TRANSFER_LANES', '1'),)),
    Case('source, 20 MB/s', 'SOURCE', slow_disk, with_slow_disk),
    Case('0.3 processors', 'PROCESSORS', processors(0.3), with_slow_service),
    Case("0.012 processors for the site's SFTP", 'WRITING', processors(0.012), with_slow_sftp),
    Case("0.01 processors for the site's digests", 'PROVING', processors(0.01), with_slow_digests),
    Case('database, 8 ms a file', 'RECORDING', slow_receipts, files=SMALL_FILES, settings=(('DOZO_TRANSFER_BUNDLE_ENTRIES', '50'),)),
)
CASES_SHORT = CASES[1:2]
