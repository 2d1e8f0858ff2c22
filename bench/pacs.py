"""How fast a restore fills an empty Orthanc, beside storescu with the same files and an Orthanc's transfer to a peer.

Every round, each of them fills a new Orthanc. Afterwards all instances must be there; except by storescu, which rewrites
the headers of files, with the same bytes. A restore reads the site, proves each copy and looks up each instance twice;
its peers only send.
"""

import hashlib
import itertools
import json
import os
import random
import shutil
import statistics
import struct
import subprocess
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from centre import Centre
from data import MB
from measure import workspace
from processes import CannotMeasure, begin, cpu_seconds, stop, timed, wait_for
from row import Row, add_parts, chosen_parts, shown, teller
from server import Server, find_tool, free_port
from service import LIMIT_SECONDS, seconds_of
from table import spread

# Instances, and the rows and columns of their 16-bit pixels.
PARTS = {'small': (2_000, 256, 512), 'large': (8, 4_096, 8_192)}
PARTS_SHORT = {'small': (120, 256, 512), 'large': (2, 1_024, 2_048)}
ROUNDS = 5
PLUGINS = ('/usr/share/orthanc/plugins', '/usr/lib/orthanc/plugins', '/usr/local/share/orthanc/plugins')
PLUGIN = 'libOrthancDicomWeb.so'
START_SECONDS = 60
AT_ONCE = 4
ROOT = '1.2.826.0.1.3680043.10.1'  # of UIDs for tests
MR_IMAGE, EXPLICIT_LITTLE_ENDIAN = '1.2.840.10008.5.1.4.1.1.4', '1.2.840.10008.1.2.1'
say = teller('pacs')


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='few instances, one round: does it all work?')
    parser.add_argument('--rounds', type=int, metavar='N', help=f'default: {ROUNDS}')
    parser.add_argument('--json', metavar='FILE', help='every round, for machines')
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')
    add_parts(parser, list(PARTS))


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    for tool in ('storescu', 'Orthanc'):
        if not find_tool(tool):
            raise CannotMeasure(f'{tool} is missing (packages dcmtk, orthanc, orthanc-dicomweb)')
    shortfalls, told = [], {}
    for part in chosen_parts(options, PARTS):
        count, rows, columns = (PARTS_SHORT if options.short else PARTS)[part]
        with workspace(options.work) as (_, folder), Server(folder / 'sshd') as server, Centre(folder / 'centre', server) as centre:
            source = make(folder / 'source', count, rows, columns)
            rounds = in_turn(folder, source, centre, options.rounds or (1 if options.short else ROUNDS))
        told[part] = rounds
        shortfalls += shown(f'{part}: {count:,} instances of {2 * rows * columns / MB:.2f} MB', figures(rounds, count, 2 * rows * columns))
    if options.json:
        Path(options.json).write_text(json.dumps(told, indent=1) + '\n')
    return shortfalls, f'{version("storescu")}; load at the end {os.getloadavg()[0]:.1f}'


def version(tool):
    return subprocess.run([tool, '--version'], capture_output=True, text=True, check=True).stdout.split('\n')[0].strip('$ ')


def in_turn(folder, source, centre, count):
    """Fills a new Orthanc by each in turn; another one is first in each round. Returns the figures of the rounds."""
    centre.register([source])
    centre.night()
    (folder / 'spool').mkdir()
    digests = sorted(hashlib.md5(file.read_bytes()).hexdigest() for file in source.iterdir())
    rounds = {name: [] for name in FILLING}
    with Orthanc(folder / 'old') as old:
        for file in source.iterdir():
            old.ask('/instances', file.read_bytes())
        with Orthanc(folder / 'first') as new:
            by_restore(source, old, new, centre)  # while Java compiles; not counted
        for number in range(count):
            names = list(FILLING)
            for name in names[number % len(names) :] + names[: number % len(names)]:
                with Orthanc(folder / 'new') as new:
                    rounds[name].append(filled(name, source, old, new, centre))
                    check(name, new, digests)
                shutil.rmtree(folder / 'new')
                say(f'round {number + 1}, {name}: {rounds[name][-1]}')
    return rounds


def filled(name, source, old, new, centre):
    """Fills an Orthanc; returns seconds, and processor seconds of all sides."""
    os.sync()
    before = processor_seconds(old, new, centre)
    seconds, own = FILLING[name](source, old, new, centre)
    centre.server.wait_for_sessions()
    return {'seconds': round(seconds, 3), 'processor': round(own + processor_seconds(old, new, centre) - before, 2)}


def processor_seconds(old, new, centre):
    return (
        cpu_seconds(old.process.pid)
        + cpu_seconds(new.process.pid)
        + centre.cpu_seconds()
        + centre.database_cpu_seconds()
        + centre.server.cpu_seconds()
    )


def by_restore(_, __, new, centre):
    service = centre.service
    origin = {'kind': 'dicomweb', 'address': new.address, 'spool': str(centre.folder.parent / 'spool'), 'active': False}
    service.put('/origins/pacs', origin)
    restore = service.post('/experiments/P/E0/restores/archive', {'origin': 'pacs'})
    restore = service.over(f'/experiments/P/E0/restores/{restore["id"]}')
    if restore['state'] != 'COMPLETE':
        raise CannotMeasure(f'the restore ended {restore["state"]}: {restore.get("message")}')
    return seconds_of(restore), 0


def by_storescu(source, _, new, __):
    with open(os.devnull, 'wb') as nothing:
        ended = timed(f'storescu -aec ORTHANC +sd 127.0.0.1 {new.dicom_port} {source}', LIMIT_SECONDS, nothing, nothing, dict(os.environ))
    if ended.code != 0:
        raise CannotMeasure(f'storescu ended with {ended.code}')
    return ended.seconds, ended.cpu_seconds


def by_peer(_, old, new, __):
    old.ask('/peers/new', json.dumps({'Url': new.address + '/'}).encode(), 'PUT')
    job = old.json('/peers/new/store', json.dumps({'Resources': old.json('/studies'), 'Asynchronous': True}).encode())
    ended = wait_for(lambda: (told := old.json(f'/jobs/{job["ID"]}'))['State'] in ('Success', 'Failure') and told, LIMIT_SECONDS, 'the transfer')
    if ended['State'] != 'Success':
        raise CannotMeasure(f'the transfer to the peer failed: {ended}')
    return ended['EffectiveRuntime'], 0


FILLING = {'restore': by_restore, 'storescu': by_storescu, 'peer': by_peer}


def check(name, new, digests):
    """Raises if not all instances are there, each with the bytes of a file."""
    ids = new.json('/instances')
    if len(ids) != len(digests):
        raise CannotMeasure(f'{name}: of {len(digests)} instances {len(ids)} are there')
    with ThreadPoolExecutor(AT_ONCE) as threads:
        there = sorted(threads.map(lambda each: new.ask(f'/instances/{each}/attachments/dicom/md5').decode(), ids))
    if name != 'storescu' and there != digests:
        raise CannotMeasure(f'{name}: other bytes are there')


def figures(rounds, count, size):
    """Returns rows: of each its rate, time and processor time, and the ratios to the restore."""
    rows = []
    for name, told in rounds.items():
        seconds, processor = ([each[what] for each in told] for what in ('seconds', 'processor'))
        rate = count / statistics.median(seconds)
        measured = f'{rate:,.{0 if rate >= 10 else 1}f} instances/s, {rate * size / MB:,.0f} MB/s: {spread(seconds)} s; processor {spread(processor)} s'
        rows.append(Row(name, '', measured))
    for name in (name for name in rounds if name != 'restore'):
        ratios = {what: [one[what] / other[what] for one, other in zip(rounds['restore'], rounds[name], strict=True)] for what in ('seconds', 'processor')}
        rows.append(Row(f'restore / {name}', '', f'time {spread(ratios["seconds"])}, processor {spread(ratios["processor"])}'))
    return rows


class Orthanc:
    """A new Orthanc with its DICOMweb plugin, on loopback, for a `with` block."""

    def __init__(self, folder):
        self.folder = folder
        self.port, self.dicom_port = free_port(), free_port()
        self.address = f'http://127.0.0.1:{self.port}'

    def __enter__(self):
        plugin = next((file for folder in PLUGINS if (file := Path(folder, PLUGIN)).exists()), None)
        if not plugin:
            raise CannotMeasure('the DICOMweb plugin of Orthanc is missing (package orthanc-dicomweb)')
        self.folder.mkdir()
        settings = {
            'Name': self.folder.name,
            'StorageDirectory': 'db',
            'IndexDirectory': 'db',
            'Plugins': [str(plugin)],
            'HttpPort': self.port,
            'RemoteAccessAllowed': False,
            'AuthenticationEnabled': False,
            'DicomAet': 'ORTHANC',
            'DicomPort': self.dicom_port,
            'DicomAlwaysAllowStore': True,
            'DicomWeb': {'Enable': True, 'Root': '/dicom-web/'},
        }
        (self.folder / 'orthanc.json').write_text(json.dumps(settings))
        self.process = begin([find_tool('Orthanc'), 'orthanc.json'], self.folder / 'log', cwd=self.folder)
        try:
            wait_for(self.answers, START_SECONDS, f'Orthanc ({self.folder / "log"})')
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        stop(self.process, START_SECONDS)

    def answers(self):
        if self.process.poll() is not None:
            raise CannotMeasure(f'Orthanc ended: {(self.folder / "log").read_text(errors="replace")[-500:]}')
        try:
            return self.ask('/system')
        except OSError:
            return None

    def ask(self, path, body=None, method=None):
        request = urllib.request.Request(self.address + path, body, method=method)
        with urllib.request.urlopen(request, timeout=LIMIT_SECONDS) as answer:
            return answer.read()

    def json(self, path, body=None):
        return json.loads(self.ask(path, body))


def make(folder, count, rows, columns):
    """Makes the instances of one study, 100 a series, with noise as pixels."""
    folder.mkdir()
    dice = random.Random(count)
    noise = dice.randbytes(2 * rows * columns + 4_096)
    for number in range(count):
        at = dice.randrange(4_096)
        (folder / f'{number:05}.dcm').write_bytes(instance(number, rows, columns, noise[at : at + 2 * rows * columns]))
    return folder


def instance(number, rows, columns, pixels):
    """Returns a DICOM Part 10 file."""
    uid = f'{ROOT}.3.{number + 1}'
    meta = b''.join(
        itertools.starmap(
            element,
            [
                (0x0002, 0x0001, 'OB', b'\0\1'),
                (0x0002, 0x0002, 'UI', MR_IMAGE),
                (0x0002, 0x0003, 'UI', uid),
                (0x0002, 0x0010, 'UI', EXPLICIT_LITTLE_ENDIAN),
                (0x0002, 0x0012, 'UI', ROOT),
            ],
        )
    )
    data = itertools.starmap(
        element,
        [
            (0x0008, 0x0016, 'UI', MR_IMAGE),
            (0x0008, 0x0018, 'UI', uid),
            (0x0008, 0x0020, 'DA', '20261130'),
            (0x0008, 0x0060, 'CS', 'MR'),
            (0x0010, 0x0010, 'PN', 'Bench'),
            (0x0010, 0x0020, 'LO', 'BENCH'),
            (0x0020, 0x000D, 'UI', f'{ROOT}.1.1'),
            (0x0020, 0x000E, 'UI', f'{ROOT}.2.{number // 100 + 1}'),
            (0x0020, 0x0013, 'IS', str(number + 1)),
            (0x0028, 0x0002, 'US', 1),
            (0x0028, 0x0004, 'CS', 'MONOCHROME2'),
            (0x0028, 0x0010, 'US', rows),
            (0x0028, 0x0011, 'US', columns),
            (0x0028, 0x0100, 'US', 16),
            (0x0028, 0x0101, 'US', 16),
            (0x0028, 0x0102, 'US', 15),
            (0x0028, 0x0103, 'US', 0),
            (0x7FE0, 0x0010, 'OW', pixels),
        ],
    )
    return bytes(128) + b'DICM' + element(0x0002, 0x0000, 'UL', struct.pack('<I', len(meta))) + meta + b''.join(data)


def element(group, number, kind, value):
    if isinstance(value, int):
        value = struct.pack('<H', value)
    if isinstance(value, str):
        value = value.encode()
    if len(value) % 2:
        value += b'\0' if kind == 'UI' else b' '
    length = struct.pack('<HI', 0, len(value)) if kind in ('OB', 'OW') else struct.pack('<H', len(value))
    return struct.pack('<HH', group, number) + kind.encode() + length + value
