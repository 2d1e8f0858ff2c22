"""Copies made and verified by Dozo, compared with rsync, tar, scp and others over SSH to the same server.

Each claim is a ratio of medians from one run of this script; nothing is compared with figures from elsewhere. A tool's
time is its copy and a `sync` after it: Dozo writes everything to the disk before it ends, its peers do not.
"""

import json
import os
import shlex
import shutil
import statistics
import subprocess
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

import data
import machine
from measure import HEAP, Ballast, Source, Stopwatch, Subject, workspace
from processes import CannotMeasure
from program import LAUNCHER, build
from relay import LINK_BYTES_PER_SECOND, Relay
from row import teller
from server import Server, find_tool
from table import markdown, spread

DOZO = (
    f'{shlex.quote(str(LAUNCHER))} copy -r -P {{port}} -i {{key}} -o UserKnownHostsFile={{known}} --json'
    ' {src}/ {user}@127.0.0.1:{dst}'
)

say = teller('engine')
SSH = 'ssh -F {config} -c aes128-gcm@openssh.com'
RSYNC_X4 = '{python} {parallel} rsync {src} {dst} {config}'
TAR = f'tar -C {{src}} -cf - . | {SSH} site "tar -C {{dst}} -xf -"'
SHA256 = '{python} {parallel} sha256 {src} {dst} {config}'
COPY = {
    'rsync-x4': RSYNC_X4,
    'tar': TAR,
    'rsync': f'rsync -a -e "{SSH}" {{src}}/ site:{{dst}}/',
    'scp': f'scp -q -r -p {SSH[4:]} {{src}}/. site:{{dst}}',
}
VERIFIED = {'tar+sha256': f'{TAR} && {SHA256}', 'rsync-x4+sha256': f'{RSYNC_X4} && {SHA256}'}
PINNED = ('rsync-x4', 'tar')
FAR = ('rsync-x4', 'tar')
OF_FLOOR_MAX = 1.25
SHORT = ('tar', 'scp', 'tar+sha256')
SHORT_FAR = ('tar', 'scp')


@dataclass(frozen=True)
class Near:
    """A data set on a link without delay, with the highest ratios of Dozo's time with sync.

    The time of the best copy without digests is a goal only with a processor for each side, the nearest to two machines.
    """

    title: str
    of_copy_max: float
    of_verified_max: float


@dataclass(frozen=True)
class Far:
    """A long link, with the lowest ratios of Dozo's rate with sync to the link's and to the best peer's."""

    round_trip_ms: int
    of_link_min: float
    of_peer_min: float | None


@dataclass(frozen=True)
class Start:
    """One file of 1 kB, with the highest ratio of Dozo's whole time to that of scp."""

    round_trip_ms: int
    of_scp_max: float


TESTS = {
    'one': Start(0, 1.3),
    'one200': Start(200, 1.3),
    'small': Near('10,000 files of 100 kB', 1.15, 0.45),
    'mixed': Near('5,000 files of mixed sizes', 1.0, 0.4),
    'large': Near('2 files of 1 GB', 1.0, 0.4),
    'wan36': Far(36, 0.90, None),
    'wan200': Far(200, 0.85, 5),
}
SHORT_TESTS = ('one', 'small', 'mixed', 'large', 'wan36')


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='tiny data, one round, few peers: does everything work?')
    parser.add_argument('--data', type=names_of(TESTS), metavar='NAMES', help=f'of {",".join(TESTS)}')
    parser.add_argument('--rounds', type=positive, metavar='N', help='default: 3')
    parser.add_argument(
        '--peers', type=names_of(COPY | VERIFIED), metavar='NAMES', help=f'of {",".join(COPY | VERIFIED)}'
    )
    parser.add_argument(
        '--dozo',
        action='append',
        type=variant,
        metavar='NAME=COMMAND',
        help='a shell command in place of ./dozo copy, with {src} {dst} {port} {key} {known} {user};'
        ' several are run side by side; `default` is ./dozo copy',
    )
    parser.add_argument('--work', metavar='DIR', help='keeps the data sets there; else in a temporary folder')
    parser.add_argument('--json', metavar='FILE', help='every run, for machines')
    parser.add_argument('--limit', type=positive, metavar='SECONDS', help='of one copy; default: 600, --short 120')
    parser.add_argument('--no-refill', action='store_true', help='leave free memory as it is')


def names_of(known):
    def names(text):
        chosen = text.split(',')
        if unknown := [name for name in chosen if name not in known]:
            raise ValueError(unknown)
        return chosen

    return names


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def variant(text):
    name, _, command = text.partition('=')
    if text == 'default':
        name, command = 'dozo', DOZO
    if not command or not name.replace('-', '').isalnum():
        raise ValueError(text)
    return Subject(name, command, is_dozo=True)


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    with workspace(options.work) as (data_folder, run_folder), ExitStack() as stack:
        facts = machine.facts(run_folder)
        print_facts(facts, run_folder)
        dozos = options.dozo or [variant('default')]
        if any(dozo.command == DOZO for dozo in dozos):
            build()
        server = stack.enter_context(Server(run_folder / 'server'))
        ballast = Ballast(run_folder, wanted=not (options.short or options.no_refill))
        stopwatch = Stopwatch(run_folder, server, ballast, options.limit or (120 if options.short else 600))
        engine = Engine(options, data_folder, stopwatch, dozos, ready_peers(options))
        print_commands(dozos + engine.peers)
        for name in options.data or (SHORT_TESTS if options.short else TESTS):
            engine.test(name)
    if options.json:
        everything = {'machine': facts, 'runs': engine.runs, 'claims': engine.claims, 'shortfalls': engine.shortfalls}
        Path(options.json).write_text(json.dumps(everything, indent=1) + '\n')
    return engine.shortfalls, 'short: figures not judged' if options.short else ''


def ready_peers(options):
    """Returns the peers to run, from the options and the installed tools."""
    names = options.peers or (SHORT if options.short else [*COPY, *VERIFIED])
    peers = []
    for name in names:
        tool = name.removesuffix('+sha256').removesuffix('-x4')
        if find_tool(tool):
            peers.append(Subject(name, (COPY | VERIFIED)[name]))
        else:
            print(f'Skipped: {name}, as {tool} is not installed.')
    return peers


class Engine:
    """Runs the tests one after the other, and collects `shortfalls`, `claims` and `runs`."""

    def __init__(self, options, data_folder, stopwatch, dozos, peers):
        self.short = options.short
        self.rounds = options.rounds or (1 if options.short else 3)
        self.sets = data.SHORT if options.short else data.FULL
        self.data_folder = data_folder
        self.stopwatch = stopwatch
        self.dozos = dozos
        self.peers = peers
        self.sources = {}
        self.shortfalls = []
        self.claims = []
        self.runs = []

    def test(self, name):
        match TESTS[name]:
            case Near() as near:
                self.near(name, near)
            case Far() as far:
                self.far(name, far)
            case Start() as start:
                self.start(name, start)

    def source(self, name):
        """Returns a data set, cached because hashing takes long. Its files are read again before each run."""
        if name not in self.sources:
            say(f'data set {name}')
            self.sources[name] = Source(self.sets[name].make(self.data_folder))
        return self.sources[name]

    def near(self, name, near):
        source = self.source(name)
        rows = self.interleaved(name, [(subject, source) for subject in self.dozos + self.peers])
        print(f'\n## {name}: {about(source) if self.short else near.title + ", " + about(source)}\n')
        print(table(rows))
        floor = self.floor(name, source, rows)
        verified = best(row for row in rows if row.subject.name in VERIFIED)
        for row in self.dozo_rows(rows):
            self.judge(
                f"{name}: CPU s of both sides / tar's and two digests", row, floor, cpu_ratio, at_most=OF_FLOOR_MAX
            )
            what = f"{name}: time with sync / best verified copy's with sync"
            self.judge(what, row, verified, seconds_ratio, at_most=near.of_verified_max)
        copies = [peer for peer in self.peers if peer.name in PINNED]
        with one_processor_each(self.stopwatch.server):
            rows = self.interleaved(f'{name} pinned', [(subject, source) for subject in self.dozos + copies])
        print(f'\n### {name}, one processor a side\n\n{table(rows)}')
        fastest = best(row for row in rows if not row.subject.is_dozo)
        for row in self.dozo_rows(rows):
            what = f"{name}, one processor a side: time with sync / best copy's with sync"
            self.judge(what, row, fastest, seconds_ratio, at_most=near.of_copy_max)

    def floor(self, name, source, rows):
        """Returns the CPU seconds of the least that a verified copy does: tar's, and SHA-256 of every byte on both sides."""
        tar = next((row for row in rows if row.subject.name == 'tar' and row.good), None)
        if tar is None:
            return None
        digests = 2 * source.bytes / sha256_bytes_per_cpu_second()
        print(f'\nfloor of {name}: {cpu(tar):.1f} CPU s of tar and {digests:.1f} of two digests')
        return Floor(tar.subject, cpu(tar) + digests)

    def far(self, name, far):
        near_server = self.stopwatch.server.port
        with Relay(far.round_trip_ms, near_server) as relay:
            trip_ms, megabytes = relay.check(10 if self.short else 250)
            print(f'\n## {name}: 1 Gbit/s, {far.round_trip_ms} ms\n\nrelay: {trip_ms:.1f} ms, {megabytes:.0f} MB/s')
            if megabytes * 1e6 < 0.95 * LINK_BYTES_PER_SECOND and not self.short:
                print('\nThe machine is too busy for this link: what follows is the relay, not the tools.')
            for kind in ('small', 'large'):
                if 'far-' + kind in self.sets:
                    self.far_kind(f'{name} {kind}', kind, far, relay)

    def start(self, name, start):
        source = self.source('one')
        subjects = self.dozos + [peer for peer in self.peers if peer.name == 'scp']
        far = Relay(start.round_trip_ms, self.stopwatch.server.port) if start.round_trip_ms else nullcontext()
        with far as relay:
            rows = self.interleaved(name, [(subject, source) for subject in subjects], relay)
        print(f'\n## {name}: a file of 1 kB, {start.round_trip_ms} ms\n\n{table(rows, relay=relay is not None)}')
        scp = best(row for row in rows if row.subject.name == 'scp')
        for row in self.dozo_rows(rows):
            self.judge(f"{name}: whole time / scp's", row, scp, start_ratio, at_most=start.of_scp_max)

    def far_kind(self, name, kind, far, relay):
        """Measures one kind of files over a long link.

        Dozo sends a set that is large enough to use the link fully, the peers a small one: a large one would take many
        minutes.
        """
        far_names = SHORT_FAR if self.short else FAR
        peers = [(peer, self.source('far-' + kind)) for peer in self.peers if peer.name in far_names]
        long = self.source('long-' + kind if 'long-' + kind in self.sets else kind)
        rows = self.interleaved(name, [(dozo, long) for dozo in self.dozos] + peers, relay)
        print(f'\n### {name} files\n\n{table(rows, relay=True)}')
        fastest = max((row for row in rows if row.subject.name in COPY and row.good), key=rate, default=None)
        for row in self.dozo_rows(rows):
            what = f'{name}: rate with sync'
            self.judge(f"{what} / the link's", row, row, link_ratio, at_least=far.of_link_min)
            if far.of_peer_min:
                self.judge(f"{what} / best copy's with sync", row, fastest, rate_ratio, at_least=far.of_peer_min)

    def interleaved(self, name, pairs, relay=None):
        """Runs the pairs in turn (A B C, A B C, …) and returns their rows.

        Contents are compared in the first round; a subject that has failed is not run again.
        """
        rows = [Row(subject, source, []) for subject, source in pairs]
        for round_number in range(1, self.rounds + 1):
            for row in rows:
                if row.fault:
                    continue
                run = self.stopwatch.run(row.subject, row.source, round_number == 1, relay)
                row.runs.append(run)
                outcome = run.fault or f'{run.seconds:.2f} s'
                say(f'{name} {round_number}/{self.rounds} {row.subject.name}: {outcome}')
                self.runs.append({'test': name, 'subject': row.subject.name, 'round': round_number, **asdict(run)})
        self.shortfalls += [f'{name} with {row.subject.name} ({row.fault})' for row in rows if row.fault]
        return rows

    def dozo_rows(self, rows):
        found = [row for row in rows if row.subject.is_dozo and row.good]
        if found and not self.short:
            print()
        return found

    def judge(self, what, row, other, ratio, at_most=None, at_least=None):
        if self.short:
            return
        limit = f'<= {at_most}' if at_most else f'>= {at_least}'
        if other is None:
            print(f'- {row.subject.name}, {what}: not known, no peer was measured; must be {limit}')
            self.shortfalls.append(f'{row.subject.name}, {what}: no peer')
            return
        value = round(ratio(row, other), 3)
        self.claims.append({'subject': row.subject.name, 'what': what, 'value': value, 'limit': limit})
        holds = value <= at_most if at_most else value >= at_least
        against = '' if other is row else f' ({other.subject.name})'
        print(f'- {row.subject.name}, {what}{against}: **{value}**, must be {limit}: {"ok" if holds else "SHORT"}')
        if not holds:
            self.shortfalls.append(f'{row.subject.name}, {what} {value}, must be {limit}')


@dataclass(frozen=True)
class Floor:
    subject: Subject
    cpu_seconds: float


@dataclass
class Row:
    """A subject's runs with a data set."""

    subject: Subject
    source: Source
    runs: list

    @property
    def fault(self):
        return next((run.fault for run in self.runs if run.fault), None)

    @property
    def good(self):
        return bool(self.runs) and not self.fault


def seconds(row):
    return statistics.median(run.seconds_with_sync for run in row.runs)


def rate(row):
    return row.source.bytes / seconds(row)


def best(rows):
    return min((row for row in rows if row.good), key=seconds, default=None)


def seconds_ratio(row, other):
    return seconds(row) / seconds(other)


def start_ratio(row, other):
    return statistics.median(run.seconds for run in row.runs) / statistics.median(run.seconds for run in other.runs)


def rate_ratio(row, other):
    return rate(row) / rate(other)


def link_ratio(row, _):
    return rate(row) / LINK_BYTES_PER_SECOND


def cpu(row):
    return statistics.median(run.client_cpu_seconds + run.server_cpu_seconds for run in row.runs)


def cpu_ratio(row, floor):
    return cpu(row) / floor.cpu_seconds


def sha256_bytes_per_cpu_second():
    """Returns what `openssl speed` measures on this machine now."""
    command = ('openssl', 'speed', '-mr', '-seconds', '2', '-bytes', '65536', '-evp', 'sha256')
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(next(line for line in said.splitlines() if line.startswith('+F:')).rsplit(':', 1)[1])


@contextmanager
def one_processor_each(server):
    """Gives whatever starts meanwhile one processor: the clients, which this process starts, and the server's sessions."""
    all_processors = os.sched_getaffinity(0)
    if len(all_processors) < 2:
        raise CannotMeasure('a processor a side needs two processors')
    client, site = sorted(all_processors)[:2]
    os.sched_setaffinity(server.process.pid, {site})
    os.sched_setaffinity(0, {client})
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_processors)
        os.sched_setaffinity(server.process.pid, all_processors)


def about(source):
    return f'{source.files:,} files, {source.bytes / 1e9:.3f} GB'


def table(rows, relay=False):
    heads = ['tool', 'files', 'MB', 'seconds', 'MB/s', 'files/s', 'CPU s client', 'CPU s server']
    heads += ['CPU s relay'] * relay + ['peak MB', 'own start s', 'MB/s without start']
    heads += ['sync s after', 'seconds with sync']
    order = sorted(rows, key=lambda row: -rate(row) if row.good else 0)
    return markdown(heads, [cells(row, relay) if row.good else failed(row, len(heads)) for row in order])


def cells(row, relay):
    runs, size_mb = row.runs, row.source.bytes / 1e6
    line = [row.subject.name, row.source.files, f'{size_mb:.0f}', spread(run.seconds for run in runs)]
    line.append(spread((size_mb / run.seconds for run in runs), 1))
    line.append(spread((row.source.files / run.seconds for run in runs), 0))
    line.append(spread((run.client_cpu_seconds for run in runs), 1))
    line.append(spread((run.server_cpu_seconds for run in runs), 1))
    if relay:
        line.append(spread((run.relay_cpu_seconds for run in runs), 1))
    line += dozo_cells(runs, size_mb) if row.subject.is_dozo else ['', '', '']
    return line + [spread(run.sync_seconds for run in runs), spread(run.seconds_with_sync for run in runs)]


def dozo_cells(runs, size_mb):
    """Returns table cells: peak memory, and the parts of Dozo's start: Java, connections, the look at the source."""
    starts = [run.report['startSeconds'] for run in runs]
    return [
        spread((run.memory_peak_bytes / 1e6 for run in runs), 0),
        spread(starts),
        spread((size_mb / (run.seconds - start) for run, start in zip(runs, starts)), 1),
    ]


def failed(row, columns):
    return [row.subject.name, f'FAILED: {row.fault}', *[''] * (columns - 2)]


def print_facts(facts, work):
    print('# engine\n')
    print(markdown(['machine', ''], facts.items()), end='\n\n')
    print(f'Client and server share it. `DOZO_HEAP={HEAP}`. Figures are medians (min–max).')
    print('The last column is compared: the copy and the sync behind it. MB/s and files/s are without the sync.')
    if shutil.disk_usage(work).free < 9 * data.GB:
        print('Less than 9 GB are free on disk: a full run may not fit.')


def print_commands(subjects):
    print()
    shown = [(subject.name, f'`{subject.command.replace(str(LAUNCHER), "./dozo")}`') for subject in subjects]
    print(markdown(['tool', 'command'], shown), flush=True)
