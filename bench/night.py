"""A night compared with a plain copy, and its cost if little or nothing has changed.

Each build has its own service with an embedded PostgreSQL, and an sshd on this machine. Nights are started over REST;
their times are the run's own, from its start to its end. Nights that warm up a service come first.
"""

import itertools
import os
import shutil
import statistics
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from centre import WARM_UP_NIGHTS_MAX, Centre, make, new_nights, tree_seconds, warm_up_row, warmed_up
from data import KB, MB
from engine import DOZO
from measure import fill_in, workspace
from processes import CannotMeasure, timed
from program import LAUNCHER, TOP, build
from readers import FLOOD, readers
from relay import Forward, Relay
from row import Row, at_most, shown, teller
from server import Server
from service import LIMIT_SECONDS
from table import spread

COPY_MAX = 1.15  # a night of new files / a plain copy of them
NEW_SECONDS_MAX = 0.05  # per experiment of 20 new files
FAR_SECONDS_MAX = 0.1  # the same at a round trip of 36 ms
TINY_FAR_SECONDS_MAX = 0.03  # per tiny experiment
TAR_MAX = 3  # a first night of tiny experiments / tar with its sync
TINY_CPU_MS_MAX = 30  # per tiny experiment, of the service, its database and the site
FIND_MAX = 4  # an unchanged night / find
UNCHANGED_CPU_MS_MAX = 5  # per unchanged experiment
UNCHANGED_WAL_BYTES_MAX = 1000
EMPTY_SECONDS_MAX = 0.5
MANY_SECONDS_MAX = 60  # 20,000 unchanged experiments
CHANGED_SECONDS_MAX = 5  # one changed file among a million
CHANGED_WIRE_BYTES_MAX = MB  # in both directions together
FILES_A_FOLDER = 38  # as in the centre's tree
ROUND_TRIP_MS = 36
say = teller('night')


@dataclass(frozen=True)
class Size:
    """How much is measured: experiments × files of each test."""

    new: tuple[int, int]
    small: tuple[int, int]
    tiny: tuple[int, int]
    far: tuple[int, int]
    unchanged: tuple[int, int]
    changed: int
    many: tuple[int, int]
    readers: tuple[int, int]
    flood: int
    rounds: int
    warm_ups: int


FULL = Size(
    new=(32, 128),
    small=(2_000, 20),
    tiny=(2_000, 50),
    far=(200, 20),
    unchanged=(2_000, 50),
    changed=1_000_000,
    many=(20_000, 50),
    readers=(32, 64),
    flood=FLOOD,
    rounds=3,
    warm_ups=WARM_UP_NIGHTS_MAX,
)
SHORT = Size(
    new=(3, 8),
    small=(6, 5),
    tiny=(6, 10),
    far=(3, 5),
    unchanged=(6, 5),
    changed=400,
    many=(8, 5),
    readers=(3, 8),
    flood=100,
    rounds=1,
    warm_ups=2,
)


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='little of everything: does it all work? figures are not judged')
    parser.add_argument('--rounds', type=int, metavar='N', help=f'default: {FULL.rounds}')
    parser.add_argument(
        '--tests', metavar='NAMES', help=f'of {",".join(TESTS)}; default: all, in full all but {",".join(sorted(LONG))}'
    )
    parser.add_argument(
        '--beside', action='append', default=[], metavar='NAME=FOLDER', help='another built tree of Dozo, measured in turn with this one'
    )
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    size = SHORT if options.short else FULL
    rounds = options.rounds or size.rounds
    left_out = SAME_CODE if options.short else LONG
    chosen = options.tests.split(',') if options.tests else [name for name in TESTS if name not in left_out]
    if unknown := [name for name in chosen if name not in TESTS]:
        raise CannotMeasure(f'no test is called {unknown[0]}')
    build()
    builds = {'dozo': TOP} | dict(each.split('=', 1) for each in options.beside)
    say(f'load {os.getloadavg()[0]:.1f} before')
    short = []
    with workspace(options.work) as (_, folder), Server(folder / 'sshd') as server:
        for name in chosen:
            print(f'\n## {name}\n', flush=True)
            short += shown(name, TESTS[name](folder / name, server, builds, size, rounds, not options.short))
            shutil.rmtree(folder / name)
    return short, 'short: figures not judged' if options.short else ''


def new(folder, server, builds, size, rounds, judged):
    """Measures nights of new files in one service, each compared with a copy of the same files."""
    experiments, files = size.new
    nights = {name: [] for name in builds}
    copies = {name: [] for name in builds}
    rows = []
    with ExitStack() as stack:
        centres = {name: stack.enter_context(Centre(folder / name, server, program=Path(program) / 'dozo')) for name, program in builds.items()}
        for name, centre in centres.items():
            # A quarter of a night, because the disk must keep what all nights have sent.
            few = new_nights(centre, folder / f'warm-{name}', max(1, experiments // 4), files, 100 * KB, MB, 4)
            rows.append(warm_up_row(name, warmed_up(few, size.warm_ups)))
        for number in range(1, rounds + 1):
            sources = folder / f'sources-{number}'
            made = make(sources, experiments, files, 100 * KB, MB, 4)
            os.sync()
            for name, program in builds.items():
                centres[name].register(made)
                nights[name].append(centres[name].night())
                copies[name].append(plain_copy(folder / f'copy-{name}-{number}', sources, program, server))
                say(f'new {number}/{rounds} {name}: night {nights[name][-1]:.2f} s, copy {copies[name][-1]:.2f} s')
    for name in builds:
        ratio = statistics.median(nights[name]) / statistics.median(copies[name])
        measured = f'{ratio:.2f}: night {spread(nights[name])} s, copy {spread(copies[name])} s'
        rows.append(at_most(f'{name}: {experiments} × {files} new files, night / copy', ratio, COPY_MAX, measured, judged and name == 'dozo'))
    return rows


def plain_copy(destination, source, program, server):
    destination.mkdir()
    command = DOZO.replace(str(LAUNCHER), str(Path(program) / 'dozo'))
    values = {'src': source, 'dst': destination / 'to', 'port': server.port, 'key': server.key, 'known': server.known_hosts, 'user': server.user}
    server.client_configuration(server.port)
    with open(destination / 'log', 'wb') as log:
        ended = timed(fill_in(command, values), LIMIT_SECONDS, log, log, {**os.environ, 'DOZO_HEAP': '512m'})
    if ended.code != 0:
        raise CannotMeasure(f'dozo copy ended with {ended.code}: {(destination / "log").read_text()[-300:]}')
    return ended.seconds


def small(folder, server, builds, size, rounds, judged):
    return small_nights(folder, server, builds, size.small, size.warm_ups, judged, server.port, NEW_SECONDS_MAX)


def tiny(folder, server, builds, size, rounds, judged):
    """Measures a first night of many experiments of tiny files, and compares it with tar and its sync."""
    experiments, files = size.tiny
    sources = folder / 'sources'
    made = make(sources, experiments, files, 100, KB)
    tars, rows = [], []
    for name, program in builds.items():
        with Centre(folder / name, server, program=Path(program) / 'dozo') as centre:
            few = new_nights(centre, folder / f'warm-{name}', max(1, experiments // 8), files, 100, KB)
            rows.append(warm_up_row(name, warmed_up(few, size.warm_ups)))
            centre.register(made)
            os.sync()
            cpu = cpu_of_all(centre, server)
            seconds = centre.night()
            cpu = 1e3 * (cpu_of_all(centre, server) - cpu) / experiments
        for number in range(rounds):
            tars.append(tar(folder / f'tar-{name}-{number}', sources, server))
        ratio = seconds / statistics.median(tars)
        about = f'{name}: first night of {experiments:,} × {files} tiny files'
        say(f'{about}: {seconds:.2f} s, {cpu:.1f} ms of processor an experiment, tar {spread(tars)} s')
        judge = judged and name == 'dozo'
        rows += [
            at_most(f'{about}, night / tar', ratio, TAR_MAX, f'{ratio:.1f}: {seconds:.2f} s, tar {spread(tars)} s', judge),
            at_most(f'{about}, ms of processor each', cpu, TINY_CPU_MS_MAX, f'{cpu:.1f}', judge),
        ]
    return rows


def cpu_of_all(centre, server):
    """Returns the CPU seconds of the service, its database and the site."""
    return centre.cpu_seconds() + centre.database_cpu_seconds() + tree_seconds(server.process.pid)


def tar(target, source, server):
    """Returns the seconds of tar over SSH, with its sync. NB: whoever deletes the copy makes the next sync wait for that."""
    os.sync()
    configuration = server.client_configuration(server.port)
    unpack = f'mkdir {target} && tar -C {target} -xpf - && sync'
    with open(os.devnull, 'wb') as nothing:
        ended = timed(f"tar -C {source} -cf - . | ssh -F {configuration} site '{unpack}'", LIMIT_SECONDS, nothing, nothing, os.environ)
    if ended.code != 0:
        raise CannotMeasure(f'tar ended with {ended.code}')
    return ended.seconds


def far(folder, server, builds, size, rounds, judged):
    with Relay(ROUND_TRIP_MS, server.port) as relay:
        return small_nights(folder, server, builds, size.far, size.warm_ups, judged, relay.port, FAR_SECONDS_MAX)


def tiny_far(folder, server, builds, size, rounds, judged):
    with Relay(ROUND_TRIP_MS, server.port) as relay:
        return small_nights(folder, server, builds, size.tiny, size.warm_ups, judged, relay.port, TINY_FAR_SECONDS_MAX, 100, KB)


def small_nights(folder, server, builds, counts, warm_ups, judged, port, limit, least=KB, most=20 * KB):
    """Measures a night of many small new experiments, after nights of a quarter as many."""
    experiments, files = counts
    rows = []
    made = make(folder / 'sources', experiments, files, least, most)
    for name, program in builds.items():
        with Centre(folder / name, server, port, Path(program) / 'dozo') as centre:
            few = new_nights(centre, folder / f'warm-{name}', min(50, max(1, experiments // 4)), files, least, most)
            rows.append(warm_up_row(name, warmed_up(few, warm_ups)))
            centre.register(made)
            cpu = centre.cpu_seconds()
            seconds = centre.night()
            cpu = centre.cpu_seconds() - cpu
            say(f'{folder.name} {name}: {seconds:.2f} s')
        each = seconds / experiments
        measured = f'{each:.4f} ({seconds:.2f} s, {1e3 * cpu / experiments:.1f} ms of processor each)'
        rows.append(at_most(f'{name}: {experiments:,} × {files} new files, s an experiment', each, limit, measured, judged and name == 'dozo'))
    return rows


def unchanged(folder, server, builds, size, rounds, judged):
    return unchanged_nights(folder, server, builds, size.unchanged, rounds, size.warm_ups, judged)


def many(folder, server, builds, size, rounds, judged):
    return unchanged_nights(folder, server, builds, size.many, rounds, size.warm_ups, judged, MANY_SECONDS_MAX)


def unchanged_nights(folder, server, builds, counts, rounds, warm_ups, judged, limit=None):
    """Measures nights without changes, and compares them with `find`.

    `limit`: the most seconds of a night; without it, a multiple of find's time is the limit.
    """
    experiments, files = counts
    made = make(folder / 'sources', experiments, files, 10, 100, 5)
    rows = []
    for name, program in builds.items():
        with Centre(folder / name, server, program=Path(program) / 'dozo') as centre:
            warmed_up(centre.night, warm_ups)
            empty = [centre.night() for _ in range(rounds)]
            centre.register(made)
            cpu = cpu_of_all(centre, server)
            first = centre.night()
            cpu = 1e3 * (cpu_of_all(centre, server) - cpu) / experiments
            say(f'{folder.name} {name}: first night {first:.1f} s, {cpu:.1f} ms of processor an experiment')
            rows.append(warm_up_row(name, warmed_up(centre.night, warm_ups)))
            find(folder / 'sources')  # loads the tree into memory
            nights, finds, cpus, wals = [], [], [], []
            for number in range(1, rounds + 1):
                finds.append(find(folder / 'sources'))
                cpu, wal = centre.cpu_seconds(), centre.wal_bytes()
                nights.append(centre.night())
                cpus.append(centre.cpu_seconds() - cpu)
                wals.append(None if wal is None else centre.wal_bytes() - wal)
                say(f'{folder.name} {number}/{rounds} {name}: night {nights[-1]:.2f} s, find {finds[-1]:.2f} s')
        judge = judged and name == 'dozo'
        ratio = statistics.median(nights) / statistics.median(finds)
        cpu_ms = 1e3 * statistics.median(cpus) / experiments
        about = f'{name}: {experiments:,} × {files} unchanged'
        beside_find = f'{ratio:.1f}: {spread(nights)} s, find {spread(finds)} s'
        if limit:
            rows.append(at_most(f'{about}, s', statistics.median(nights), limit, spread(nights), judge))
            rows.append(Row(f'{about}, night / find', '', beside_find))
        else:
            rows.append(at_most(f'{about}, night / find', ratio, FIND_MAX, beside_find, judge))
        rows += [
            at_most(f'{about}, ms of processor each', cpu_ms, UNCHANGED_CPU_MS_MAX, f'{cpu_ms:.2f}', judge),
            at_most(f'{name}: an empty night, s', statistics.median(empty), EMPTY_SECONDS_MAX, spread(empty), judge),
        ]
        if wals[0] is None:
            rows.append(Row(f'{about}, bytes of WAL each', f'≤ {UNCHANGED_WAL_BYTES_MAX}', 'not known: there is no psql'))
        else:
            wal = statistics.median(wals) / experiments
            rows.append(at_most(f'{about}, bytes of WAL each', wal, UNCHANGED_WAL_BYTES_MAX, f'{wal:.0f}', judge))
    return rows


def find(folder):
    with open(os.devnull, 'wb') as nothing:
        ended = timed(f"find {folder} -printf '%h\\t%f\\t%y\\t%s\\t%T@\\t%m\\t%n\\t%i\\t%l\\n'", LIMIT_SECONDS, nothing, nothing, os.environ)
    return ended.seconds


def changed(folder, server, builds, size, rounds, judged):
    """Measures nights in which one file of a large experiment has changed."""
    files = size.changed
    folders = files // FILES_A_FOLDER + 1
    made = make(folder / 'sources', 1, files, 10, 100, folders)
    rows = []
    for name, program in builds.items():
        with Centre(folder / name, server, program=Path(program) / 'dozo') as centre, Forward(server.port) as meter:
            centre.register(made)
            first = centre.night()
            say(f'changed {name}: first night {first:.1f} s')
            centre.service.add_site(server, centre.site, meter.port)
            numbers = itertools.count(1)

            def night():
                number = next(numbers)
                file = files * number // (rounds + size.warm_ups + 1)
                (made[0] / f'series-{file % folders}' / f'image-{file:05}.dcm').write_bytes(b'other bytes %d' % number)
                return centre.night()

            rows.append(warm_up_row(name, warmed_up(night, size.warm_ups)))
            nights, cpus, moved = [], [], []
            for number in range(1, rounds + 1):
                cpu, before = centre.cpu_seconds(), meter.bytes
                nights.append(night())
                cpus.append(centre.cpu_seconds() - cpu)
                moved.append(meter.bytes - before)
                say(f'changed {number}/{rounds} {name}: night {nights[-1]:.2f} s, {cpus[-1]:.1f} s of processor, {moved[-1]:,} bytes')
        about = f'{name}: one changed file of {files:,}'
        judge = judged and name == 'dozo'
        seconds, wire = statistics.median(nights), statistics.median(moved)
        rows += [
            at_most(f'{about}, s', seconds, CHANGED_SECONDS_MAX, f'{spread(nights)}, of processor {spread(cpus)}', judge),
            at_most(f'{about}, bytes on the wire', wire, CHANGED_WIRE_BYTES_MAX, f'{wire:,.0f}', judge),
        ]
    return rows


def with_readers(folder, server, builds, size, rounds, judged):
    folder.mkdir()
    return readers(folder, server, size.readers, rounds, size.warm_ups, size.flood, judged)


TESTS = {
    'new': new,
    'small': small,
    'tiny': tiny,
    'far': far,
    'unchanged': unchanged,
    'changed': changed,
    'readers': with_readers,
    'many': many,
    'tiny-far': tiny_far,
}
LONG = {'many', 'tiny-far'}  # run in full only on request
SAME_CODE = {'far', 'many', 'tiny-far'}  # not in short form, because small and unchanged already run their code
