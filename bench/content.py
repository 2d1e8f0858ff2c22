"""Which damages of files one night finds by their content, which healthy files it accuses, and what random bytes do to the checks.

The generator (damage.py) says of each damage beforehand whether any rule can know it. HDF5 needs the Python package h5py.
"""

import collections
import os
import statistics
import subprocess
from contextlib import ExitStack
from pathlib import Path

from centre import Centre
from damage import ACROSS, CERTAIN, HINT, KINDS, NOBODY, damages, samples_of
from data import MB
from measure import workspace
from processes import CannotMeasure
from program import LIBRARIES, build, classes, find_java
from row import at_least, at_most, exactly, shown
from server import Server
from service import seconds_of
from table import markdown, spread

COUNT = 500
FOUND_MIN = 0.99
FALSE_MAX = 0.001
A_FOLDER = 50  # damages of an experiment
COST_MAX = 1.05
COST_EXPERIMENTS, COST_FILES, COST_ROUNDS, COST_WARM_UPS = 32, 128, 7, 3
COST_BYTES_MAX = 2 * MB
FUZZED, FUZZED_SHORT = 10**7, 10**6  # bytes of each format
HEAP_MB = 64
LIMIT_SECONDS = 900
STATES = ('WHOLE', 'SUSPECT', 'BROKEN', 'UNKNOWN')
# Names of files that their authors broke on purpose; each was looked at.
ON_PURPOSE = ('truncated', 'corrupted', 'malformed', 'made_conflicts_and_broken')


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='a tenth of the random bytes')
    parser.add_argument('--seed', type=int, default=55, help='of the damages (default 55)')
    parser.add_argument('--healthy', metavar='DIR', action='append', default=[], help='more healthy files; may be repeated')
    parser.add_argument('--cost', action='store_true', help='only: nights of healthy files with and without the checks; 4 min, 10 GB')
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    shared = os.environ.get('DOZO_SHARED_DATA')
    if not shared:
        raise CannotMeasure('DOZO_SHARED_DATA must name the folder of the shared data')
    build()
    samples, lacking = samples_of(shared)
    made = damages(samples, COUNT, options.seed)
    with workspace(options.work) as (_, folder):
        if options.cost:
            return shown('cost', cost(folder, samples)), ''
        shortfalls = shown('night', night(folder, made, [shared, *options.healthy]))
        shortfalls += shown('random bytes', fuzz(folder, samples, FUZZED_SHORT if options.short else FUZZED, options.seed))
    return shortfalls, f'without {", ".join(lacking)}' if lacking else ''


def night(folder, made, healthy):
    for number, damage in enumerate(made):
        lay(place(folder, number), damage.files)
    sources = [*sorted((folder / 'source').iterdir()), *map(Path, healthy)]
    verdicts, counts = {}, collections.defaultdict(collections.Counter)
    with Server(folder / 'sshd') as server, Centre(folder / 'centre', server) as centre:
        centre.register(sources)
        ended = centre.service.ended(centre.start())
        if ended['state'] not in ('COMPLETE', 'FINDINGS'):
            raise CannotMeasure(f'the night ended {ended["state"]}: {ended.get("message")}')
        for number, source in enumerate(sources):
            content = f'/experiments/P/E{number}/content'
            verdicts.update({source / file['path']: file for file in centre.service.all(content + '/files')})
            for count in centre.service.get(content) if number >= len(sources) - len(healthy) else ():
                counts[count['format'] or 'unknown'][count['state']] += count['files']
    damaged = {place(folder, number) / name for number, damage in enumerate(made) for name in names_of(damage)}
    accused = {path: file for path, file in verdicts.items() if file['state'] == 'BROKEN' and path not in damaged}
    return [*found(folder, made, verdicts), false_alarms(accused, counts)]


def cost(folder, samples):
    """Compares nights of the same healthy files with and without the checks."""
    files = [(name, data) for sample in samples for name, data in sample.files.items() if len(data) <= COST_BYTES_MAX]
    seconds, cpus = collections.defaultdict(list), collections.defaultdict(list)
    with Server(folder / 'sshd') as server, ExitStack() as stack:
        centres = {}
        for inspect in ('true', 'false'):
            centres[inspect] = stack.enter_context(Centre(folder / inspect, server, DOZO_INGEST_INSPECT=inspect))
        for number in range(-COST_WARM_UPS, COST_ROUNDS):
            sources = [folder / f'night{number}' / f'e{i}' for i in range(COST_EXPERIMENTS)]
            for i, source in enumerate(sources):
                picked = [files[(i * COST_FILES + k) % len(files)] for k in range(COST_FILES)]
                lay(source, {f'{k}-{name}': data for k, (name, data) in enumerate(picked)})
            os.sync()
            for inspect, centre in sorted(centres.items(), reverse=number % 2 == 0):
                centre.register(sources)
                cpu = centre.cpu_seconds()
                took = seconds_of(centre.service.ended(centre.start()))
                if number >= 0:
                    seconds[inspect].append(took)
                    cpus[inspect].append(centre.cpu_seconds() - cpu)
    about = f'{COST_EXPERIMENTS} × {COST_FILES} files of known formats, with / without'
    return [ratio(f'{about}, time', seconds), ratio(f'{about}, processor time of the service', cpus)]


def ratio(name, values):
    with_checks, without = statistics.median(values['true']), statistics.median(values['false'])
    return at_most(name, with_checks / without, COST_MAX, f'{with_checks / without:.2f}: {spread(values["true"])}, {spread(values["false"])} s', True)


def lay(folder, files):
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)


def names_of(damage):
    """Returns the names of its files, and of those that belong to them: a header is told of what its data lacks."""
    return {*damage.files, *damage.victims}


def place(folder, number):
    return folder / 'source' / f'e{number // A_FOLDER:02}' / f'd{number:03}'


def found(folder, made, verdicts):
    """Prints what was found by format and kind, and what was missed."""
    cells, totals = (collections.defaultdict(collections.Counter) for _ in range(2))
    missed = []
    for number, damage in enumerate(made):
        told = [verdicts[path] for name in names_of(damage) if (path := place(folder, number) / name) in verdicts]
        state = min((each['state'] for each in told), default='missed')  # BROKEN is before SUSPECT
        totals[damage.known][state] += 1
        if damage.known in (CERTAIN, ACROSS):
            cells[damage.format, damage.kind][state] += 1
            if state != 'BROKEN':
                why = ' '.join(each['why'] for each in told)
                missed.append((f'd{number:03}', damage.format, damage.kind, damage.known, damage.note, why or state))
    formats = sorted({name for name, _ in cells})
    show(('found', *KINDS), [(name, *(cells[name, kind] and of(cells[name, kind]) or '' for kind in KINDS)) for name in formats])
    show(('class', 'broken', 'suspect'), [(name, of(totals[name]), totals[name]['SUSPECT']) for name in (CERTAIN, ACROSS, HINT, NOBODY)])
    show(('missed', 'format', 'damage', 'class', 'where', 'verdict'), missed)
    known = totals[CERTAIN] + totals[ACROSS]
    return [share('damages found that one file shows', totals[CERTAIN]), share('with those that only several show', known)]


def of(counts):
    return f'{counts["BROKEN"]} of {counts.total()}'


def show(heads, lines):
    print(markdown(heads, lines), end='\n\n')


def share(name, counts):
    value = counts['BROKEN'] / counts.total()
    return at_least(name, value, FOUND_MIN, f'{value:.3f}: {of(counts)}', True)


def false_alarms(accused, counts):
    """Prints how healthy files were judged, and the broken ones, at which a person must look."""
    show(('healthy files', *STATES), [(name, *(count[state] for state in STATES)) for name, count in sorted(counts.items())])
    lines = [(str(path), file['format'], file['why'], any(word in str(path) for word in ON_PURPOSE)) for path, file in sorted(accused.items())]
    show(('broken', 'format', 'why', 'on purpose'), lines)
    false = sum(not on_purpose for *_, on_purpose in lines)
    judged = sum(count.total() - count['UNKNOWN'] for count in counts.values())
    return at_most('false alarms / healthy files that were judged', false / judged, FALSE_MAX, f'{false} of {judged:,}', True)


def fuzz(folder, samples, count, seed):
    files = {sample.format: sample for sample in sorted(samples, key=lambda sample: -len(sample.data))}  # the shortest of each
    for name, sample in files.items():
        lay(folder / name, {sample.victim: sample.data})
    path = ':'.join([classes('engine', 'engine/test-classes'), *map(str, LIBRARIES.glob('slf4j-api-*.jar'))])
    command = [find_java(), f'-Xmx{HEAP_MB}m', '-cp', path, 'dozo.content.ContentFuzz', str(count), str(seed)]
    command += [str(folder / name / sample.victim) for name, sample in files.items()]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    if ended.returncode != 0:
        raise CannotMeasure(f'ContentFuzz ended with {ended.returncode}: {ended.stderr.strip()[-500:]}')
    *told, peak = ended.stdout.splitlines()
    show(('format', 'exceptions', 'slowest, ms'), [(name, *line.split()) for name, line in zip(files, told)])
    exceptions = sum(int(line.split()[0]) for line in told)
    return [
        exactly(f'exceptions in {len(told)} × {count:,} bytes', exceptions, 0, ended.stderr[-1000:] if exceptions else ''),
        at_most('peak of the heap, MiB', int(peak) / 2**20, HEAP_MB, f'{int(peak) / 2**20:.0f}', True),
    ]
