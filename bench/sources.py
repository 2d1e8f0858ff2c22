"""Origins: Flywheel's download rate, requests of a quiet night, seeded faults, and when arrivals count as complete.

Parts: `downloads` (compared with curl for the same bytes), `night` (requests of a night without changes), `faults`
(seeded faults are reported or recovered from), `completeness` (when experiments that arrive in simulated time are
called complete). The Flywheel is the tests' emulator.
"""

import statistics
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from measure import workspace
from processes import CannotMeasure, stop
from relay import find_java
from row import Row, at_least, at_most, print_rows
from table import markdown, spread

TOP = Path(__file__).resolve().parent.parent
MODULES = TOP / 'batch-jobs'
TESTS = MODULES / 'origins' / 'target' / 'test-classes'
BUILT = [*(MODULES / name / 'target' / 'classes' for name in ('engine', 'catalogue', 'night', 'origins')), TESTS]
PROGRAM = 'dozo.source.flywheel.FlywheelReads'
TRACES_PROGRAM = 'dozo.source.tree.ArrivalTraces'
LIMIT_SECONDS = 900
MB = 1000**2

RATE_MIN = 0.8
REQUESTS_PER_SESSION_MAX = 0.01
ROUNDS = 5
FILES, FILE_BYTES, FILES_SHORT, FILE_BYTES_SHORT = 12, 64 * MB, 4, 2 * MB
HEAP_MB = 64
NIGHT_SESSIONS, NIGHT_SESSIONS_SHORT = 20_000, 2_000
FAULT_SESSIONS, FAULT_SESSIONS_SHORT = 1_000, 78
TRACES, TRACES_SHORT, TRACES_SEED, LOOK_EVERY_MINUTES = 500, 100, 1, 10


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='little of everything: does it all work? rates are not judged')
    parser.add_argument('--only', metavar='PARTS', default=','.join(PARTS), help=f'of {",".join(PARTS)}')
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    chosen = options.only.split(',')
    unknown = set(chosen) - set(PARTS)
    if unknown:
        raise SystemExit(f'sources: no part is named {", ".join(sorted(unknown))}; there are {", ".join(PARTS)}')
    shortfalls = []
    with workspace(options.work) as (_, folder):
        command = compiled(folder)
        for name in chosen:
            rows = PARTS[name](command, folder, options.short)
            print_rows(name, rows)
            print()
            shortfalls += [f'{row.name}: {row.short}' for row in rows if row.short]
    return shortfalls, 'short: rates not judged' if options.short else ''


def compiled(folder):
    """Returns the command that starts the driver, as a list."""
    java = find_java()
    if not (TESTS / 'dozo' / 'source' / 'flywheel' / 'Emulator.class').exists():
        raise CannotMeasure('Dozo or its tests are not built; `./dozo copy --help` builds them')
    built = subprocess.run([TOP / 'dozo', 'copy', '--help'], stdin=subprocess.DEVNULL, capture_output=True, timeout=900)
    if built.returncode != 0:
        raise CannotMeasure('`./dozo copy --help` fails')
    libraries = [
        jar
        for name in ('jackson-*', 'httpclient5-*', 'httpcore5-*', 'slf4j-api-*')
        for jar in sorted((TOP / 'service' / 'target' / 'app' / 'lib').glob(f'{name}.jar'))
    ]
    path = ':'.join(map(str, [*BUILT, *libraries, folder]))
    programs = [Path(__file__).with_name(name) for name in ('FlywheelReads.java', 'ArrivalTraces.java')]
    compiler = Path(java).with_name('javac')
    ended = subprocess.run(
        [compiler, '-cp', path, '-d', folder, *programs], capture_output=True, text=True, timeout=120
    )
    if ended.returncode != 0:
        raise CannotMeasure(f'bench/FlywheelReads.java or bench/ArrivalTraces.java does not compile: {ended.stderr}')
    return [java, f'-Xmx{HEAP_MB}m', '-cp', path, PROGRAM]


def lines(command, *arguments):
    """Runs the driver and returns its lines, split into words."""
    ended = subprocess.run(
        [*command, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_SECONDS
    )
    if ended.returncode != 0:
        raise CannotMeasure(f'the driver ended with {ended.returncode}: {ended.stderr.strip()[-300:]}')
    return [line.split() for line in ended.stdout.splitlines()]


def downloads(command, folder, short):
    """Compares downloads by curl and Dozo from an emulator in its own process.

    The two take turns; curl fetches one file after the other, Dozo four at once.
    """
    files, size = (FILES_SHORT, FILE_BYTES_SHORT) if short else (FILES, FILE_BYTES)
    # The emulator holds what it serves in memory.
    server_command = [part if part != f'-Xmx{HEAP_MB}m' else '-Xmx2g' for part in command]
    server = subprocess.Popen(
        [*server_command, 'serve', str(files), str(size)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        key = server.stdout.readline().strip()
        paths = list(iter(lambda: server.stdout.readline().strip(), 'end'))
        work = folder / 'downloads'
        work.mkdir()
        fetch = curl(key, paths, work)
        rounds = lines(command, 'download', key, work, 2 if short else ROUNDS + 1, *fetch)
        proven = [fetched_and_summed(fetch, outputs(paths, work)) for _ in range(1 if short else ROUNDS)]
    finally:
        stop(server)
    # The first round is left out: Java is still compiling, which in a service happens once a month.
    theirs, ours = ([float(line[at]) for line in rounds[1:]] for at in (0, 1))
    total = int(rounds[0][2])
    ratio = statistics.median(theirs) / statistics.median(ours)
    measured = f'{ratio:.2f}: {total / MB:,.0f} MB in {spread(ours)} s, curl in {spread(theirs)} s'
    with_hash = statistics.median(proven) / statistics.median(ours)
    also = f'{with_hash:.2f}: {spread(proven)} s, one after the other'
    heap = max(int(line[3]) for line in rounds)
    return [
        at_least("downloads, rate / curl's", ratio, RATE_MIN, measured, not short),
        Row('the same by the rate of curl and then sha384sum', 'none', also),
        at_most('heap used behind a download, MB', heap / MB, HEAP_MB / 2, f'{heap / MB:.1f}, of {HEAP_MB} allowed', True),
    ]


def fetched_and_summed(fetch, files):
    """Returns the seconds of a fetch and of the sums of its files.

    The files are removed first, as in Dozo's rounds, so that none has to be truncated.
    """
    for file in files:
        Path(file).unlink(missing_ok=True)
    return seconds_of(fetch) + seconds_of(['sha384sum', *files])


def seconds_of(command):
    started = time.monotonic()
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True, timeout=LIMIT_SECONDS)
    return time.monotonic() - started


def outputs(paths, work):
    return [f'{work}/curl-{number}' for number in range(len(paths))]


def curl(key, paths, work):
    """Returns a command that downloads all files to disk over one connection."""
    host, port, _, secret = key.split(':')
    config = [f'header = "Authorization: scitran-user {secret}"']
    for path, output in zip(paths, outputs(paths, work)):
        config += [f'url = "http://{host}:{port}/api{path}"', f'output = "{output}"']
    file = work / 'curl.conf'
    file.write_text('\n'.join(config) + '\n')
    return ['curl', '--silent', '--show-error', '--fail', '--config', str(file)]


def night(command, folder, short):
    sessions = NIGHT_SESSIONS_SHORT if short else NIGHT_SESSIONS
    ((all_, first, none, quiet, some, busy),) = [map(int, line) for line in lines(command, 'night', sessions)]
    if (all_, none, some) != (sessions, 0, 3):
        raise CannotMeasure(f'of {sessions} sessions {all_} were new at first, then {none} changed and not 0, then {some} and not 3')
    measured = f'{quiet}; {first} for a first look, {busy} with three changed'
    limit = REQUESTS_PER_SESSION_MAX * sessions
    return [at_most(f'requests of a night over {sessions:,} unchanged sessions', quiet, limit, measured, True)]


def faults(command, folder, short):
    sessions = FAULT_SESSIONS_SHORT if short else FAULT_SESSIONS
    work = folder / 'faults'
    work.mkdir()
    told = lines(command, 'faults', sessions, work)
    kinds = [line[1:] for line in told if line[0] == 'fault']
    print(markdown(['fault', 'seeded', 'occurred', 'reported', 'recovered', 'silent'], kinds), flush=True)
    print()
    figures = {line[0]: line[1] for line in told if line[0] != 'fault'}
    seeded, fired, silent = (sum(int(line[at]) for line in kinds) for at in (1, 2, 5))
    lost, alarms = int(figures['files-neither-right-nor-named']), int(figures['false-alarms'])
    about = f'faults over {sessions:,} sessions'
    return [
        Row(f'{about}, occurred', 'all', f'{fired} of {seeded}', '' if fired == seeded > 0 else f'{seeded - fired} not'),
        at_most(f'{about}, silent', silent, 0, str(silent), True),
        at_most('files neither right nor named', lost, 0, str(lost), True),
        at_most('false alarms about sessions without a fault', alarms, 0, str(alarms), True),
    ]


def completeness(command, _, short):
    """Compares completeness by evidence with a fixed quiet period.

    Each kind of folder has its own suitable rules. The fixed period is the shortest number of whole hours that is never
    too early.
    """
    count = TRACES_SHORT if short else TRACES
    told = lines([*command[:-1], TRACES_PROGRAM], count, TRACES_SEED, LOOK_EVERY_MINUTES)
    hours = next(int(line[1]) for line in told if line[0] == 'fixed-hours')
    traces = [Arrived(*line[1:]) for line in told if line[0] == 'trace']
    kinds = list(dict.fromkeys(trace.kind for trace in traces))
    print(markdown(*arrival_table(traces, kinds, hours)), flush=True)
    print()
    ended = [trace for trace in traces if trace.ends == 'ends']
    early = [trace for trace in traces if trace.is_false(trace.evidence)]
    never = [trace for trace in ended if trace.evidence == 'never']
    ours, theirs = (statistics.median(float(getattr(trace, by)) for trace in ended if getattr(trace, by) != 'never')
                    for by in ('evidence', 'fixed'))
    unfinished = [trace for trace in traces if trace.ends != 'ends']
    fooled, ours_fooled, usual_fooled = (
        sum(trace.is_false(getattr(trace, by)) for trace in unfinished) for by in ('fixed', 'evidence', 'usual'))
    about = f'{len(traces)} arrivals'
    return [
        at_most(f'{about}, reported complete too early', len(early), 0, str(len(early)), True),
        at_most(f'{about}, complete but never reported as complete', len(never), 0, str(len(never)), True),
        at_most(f'median delay, hours, best fixed quiet period ({hours} h) by it', ours / theirs, 1,
                f'{ours / theirs:.3f}: {ours / 60:.1f} h, by the fixed one {theirs / 60:.1f} h', True),
        Row('never finished, and reported complete by that period', 'none', f'{fooled} of {len(unfinished)}; by evidence {ours_fooled}, by the usual rules {usual_fooled}'),
    ]


class Arrived(NamedTuple):
    """Minutes after the real end, as text; negative if too early."""

    kind: str
    ends: str
    evidence: str
    fixed: str
    own_hours: str
    own: str
    usual: str

    def is_false(self, behind):
        return behind != 'never' and (self.ends != 'ends' or float(behind) < 0)


def arrival_table(traces, kinds, hours):
    rows = []
    for kind in kinds:
        these = [trace for trace in traces if trace.kind == kind]
        ends = these[0].ends == 'ends'
        rows.append([
            kind,
            str(len(these)),
            str(sum(trace.is_false(trace.evidence) for trace in these)),
            middle([trace.evidence for trace in these], ends),
            middle([trace.fixed for trace in these], ends),
            f'{these[0].own_hours} h' if ends else '–',
            middle([trace.own for trace in these], ends),
            middle([trace.usual for trace in these], ends),
            str(sum(trace.is_false(trace.usual) for trace in these)),
        ])
    head = ['kind', 'traces', 'too early by evidence', 'median delay, h', f'by {hours} h of quiet', 'best period of this kind alone',
            'its median delay, h', 'by the usual rules, h', 'too early by them']
    return head, rows


def middle(behind, ends):
    minutes = [float(each) for each in behind if each != 'never']
    if not ends:
        return f'called complete: {len(minutes)} of {len(behind)}'
    return f'{statistics.median(minutes) / 60:.1f}' if minutes else 'never'


PARTS = {'downloads': downloads, 'night': night, 'faults': faults, 'completeness': completeness}
