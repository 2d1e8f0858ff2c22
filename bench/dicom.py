"""DICOM headers: rate and memory compared with dcmdump; fuzzing; and the gap list of a replayed season.

The files are hard links to those of a corpus of real ones.
"""

import os
import re
import shlex
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from processes import CannotMeasure, timed
from relay import find_java
from table import markdown, spread

TOP = Path(__file__).resolve().parent.parent
ENGINE = TOP / 'batch-jobs' / 'engine' / 'target' / 'classes'
CLASSES = TOP / 'batch-jobs' / 'origins' / 'target' / 'classes'
LIBRARIES = TOP / 'service' / 'target' / 'app' / 'lib'
REPLAY = TOP / 'batch-jobs' / 'origins' / 'src' / 'test' / 'java' / 'dozo' / 'worklist' / 'Replay.java'
BOOKINGS, FAULTS, SEED = 1_000, 50, 20261121
FILES, FILES_SHORT = 100_000, 2_000
SAMPLE = 2_000
THREADS = 2
ROUNDS = 5  # in one process; the first two are not counted, because Java is still compiling
HEAP = '-Xmx64m'
LIVE_BYTES_PER_FILE_MAX = 20  # in addition to the driver's list of names; see `judge`
RATE_MIN = 5_000
LIMIT_SECONDS = 600
JAZZER = 'com.code-intelligence:jazzer:0.30.0'
FUZZ_SECONDS = 600
SEED_BYTES_MAX = 6_000


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='2,000 files, once; not judged')
    parser.add_argument('--corpus', metavar='DIR', help='DICOM files; default: $DOZO_SHARED_DATA/dicom')
    parser.add_argument('--work', metavar='DIR', help='where the links are made: on the file system of a copy of the corpus')
    parser.add_argument('--fuzz', nargs='?', type=int, const=FUZZ_SECONDS, metavar='SECONDS', help='fuzz instead')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    corpus = find_corpus(options.corpus)
    shortfalls = [] if options.fuzz else replay()
    if corpus is None:
        return shortfalls, 'no corpus: headers were not measured'
    with tempfile.TemporaryDirectory(prefix='dozo-dicom-', dir=options.work) as work:
        if options.fuzz:
            return fuzz(corpus, Path(work), options.fuzz)
        shortfalls += compare(corpus, Path(work), FILES_SHORT if options.short else FILES, judged=not options.short)
    return shortfalls, 'short: figures not judged' if options.short else ''


def replay():
    """Replays a season of bookings with seeded faults.

    Prints what the gap list finds of each kind, and returns what it misses.
    """
    if not LIBRARIES.is_dir():
        raise CannotMeasure('Dozo is not built; `./dozo copy --help` builds it')
    with tempfile.TemporaryDirectory(prefix='dozo-gaps-') as work:
        path = f'{LIBRARIES}/*'
        compiled(Path(work), 'GapReplay.java', path, REPLAY)
        command = f'{shlex.quote(find_java())} -Xmx256m -cp {shlex.quote(f"{path}:{work}")} GapReplay {shlex.quote(work)}'
        lines = output_of(f'{command} {BOOKINGS} {FAULTS} {SEED}', work)[1]
    found = [line.split() for line in lines if len(line.split()) == 4]
    seconds = next(float(line.split()[1]) for line in lines if line.startswith('seconds '))
    print(f'\n## dicom: gap list of {BOOKINGS:,} bookings with {FAULTS} faults, in {seconds:.2f} s (seed {SEED})\n')
    rows, shortfalls = [], []
    for kind, *counts in found:
        seeded, named, right = map(int, counts)
        precision = right / named if named else 1.0
        recall = right / seeded if seeded else 1.0
        rows.append([kind, str(seeded), str(named), f'{precision:.3f}', f'{recall:.3f}'])
        if precision < 1 or recall < 1:
            shortfalls.append(f'gap list, {kind}: precision {precision:.3f}, recall {recall:.3f}; both must be 1')
    print(markdown(['gap', 'bookings with it', 'named', 'precision', 'recall'], rows))
    return shortfalls


def find_corpus(given):
    if given:
        return Path(given)
    shared = os.environ.get('DOZO_SHARED_DATA')
    return Path(shared, 'dicom') if shared else None


def compare(corpus, work, files, judged):
    """Prints the table and returns the shortfalls."""
    few, many = make_files(corpus, work, files // 10), make_files(corpus, work, files)
    first, last = run_ours(few, work), run_ours(many, work)
    theirs = run_theirs(many, min(SAMPLE, files), work)
    rates = [files / seconds for seconds in last['seconds']]
    print(f'\n## dicom: headers of {files:,} files, {THREADS} threads, heap {HEAP[4:]}\n')
    rows = [['Dozo', spread(rates, 0), f'{last["live"] / 1e6:.1f} MB live; {first["live"] / 1e6:.1f} with {files // 10:,}']]
    if theirs:
        rows.append([f'dcmdump of {min(SAMPLE, files):,}, one process', spread(theirs, 0), ''])
    print(markdown(['reader', 'files/s', 'heap'], rows))
    return judge(statistics.median(rates), first, last, files) if judged else []


def judge(rate, first, last, files):
    names = 400 * (files - files // 10)  # the driver's own list of paths
    grown = last['live'] - first['live'] - names
    shortfalls = []
    if rate < RATE_MIN:
        shortfalls.append(f'{rate:,.0f} files/s, must be >= {RATE_MIN:,}')
    if grown > LIVE_BYTES_PER_FILE_MAX * files:
        shortfalls.append(f'live heap grows by {grown / 1e6:.1f} MB')
    return shortfalls


def make_files(corpus, work, files):
    """Makes a folder with so many hard links to copies of the corpus's files, 1,000 per folder."""
    copies = work / 'corpus'
    if not copies.exists():
        shutil.copytree(corpus, copies)
    originals = sorted(path for path in copies.rglob('*') if path.is_file())
    folder = work / f'files-{files}'
    for number in range(files):
        if number % 1000 == 0:
            (folder / f'{number // 1000:05}').mkdir(parents=True)
        os.link(originals[number % len(originals)], folder / f'{number // 1000:05}' / f'{number:08}')
    return folder


def run_ours(folder, work):
    compiled(work, 'DicomRate.java', class_path())
    paths = ':'.join([class_path(), str(work)])
    command = f'{shlex.quote(find_java())} {HEAP} -XX:+UseSerialGC -cp {shlex.quote(paths)} DicomRate'
    lines = output_of(f'{command} {shlex.quote(str(folder))} {THREADS} {ROUNDS}', work)[1]
    if len(lines) != ROUNDS or len({tuple(line.split()[:3]) for line in lines}) != 1:
        raise CannotMeasure(f'the rounds differ: {lines}')
    return {'seconds': [float(line.split()[3]) for line in lines[2:]], 'live': int(lines[-1].split()[4])}


def run_theirs(folder, sample, work):
    """Returns files per second of dcmdump, which is set to continue after damaged files; None if not installed."""
    if not shutil.which('dcmdump'):
        return None
    some = sorted(path for path in folder.rglob('*') if path.is_file())[:sample]
    listed = work / 'sample'
    listed.write_bytes(b''.join(bytes(path) + b'\0' for path in some))
    command = f'xargs -0 -n 200 -a {shlex.quote(str(listed))} dcmdump -q -M +P 0020,000d +P 0008,0018 > /dev/null || true'
    return [sample / output_of(command, work)[0] for _ in range(3)]


def class_path():
    if not (CLASSES / 'dozo' / 'source' / 'dicom').is_dir():
        raise CannotMeasure('Dozo is not built; `./dozo copy --help` builds it')
    return f'{CLASSES}:{ENGINE}'


def compiled(work, program, path, *others):
    compiler = Path(find_java()).with_name('javac')
    command = [compiler, '-cp', path, '-d', work, *others, Path(__file__).with_name(program)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if ended.returncode != 0:
        raise CannotMeasure(f'bench/{program} does not compile: {ended.stderr}')


def output_of(command, work):
    with tempfile.TemporaryFile(dir=work) as output, tempfile.TemporaryFile(dir=work) as errors:
        ended = timed(command, LIMIT_SECONDS, output, errors, dict(os.environ))
        if ended.code != 0:
            errors.seek(0)
            raise CannotMeasure(f'{command} ends with {ended.code}: {errors.read()[:300]!r}')
        output.seek(0)
        return ended.seconds, output.read().decode().splitlines()


def fuzz(corpus, work, seconds):
    """Fuzzes with Jazzer, guided by coverage, starting from real headers. Maven fetches it; nothing else uses it."""
    jars = work / 'jars'
    for artifact in (JAZZER, JAZZER.replace(':jazzer:', ':jazzer-api:')):
        fetch = ['mvn', '-q', '-B', 'dependency:copy', f'-Dartifact={artifact}', f'-DoutputDirectory={jars}']
        if subprocess.run(fetch, cwd=work, stdin=subprocess.DEVNULL, timeout=300).returncode != 0:
            raise CannotMeasure(f'Maven cannot fetch {artifact}')
    seeds, found = work / 'seeds', work / 'found'
    seeds.mkdir()
    found.mkdir()
    for number, path in enumerate(path for path in sorted(corpus.rglob('*')) if path.is_file()):
        with path.open('rb') as file:
            (seeds / f'{number}').write_bytes(file.read(SEED_BYTES_MAX))
    compiled(work, 'DicomFuzz.java', class_path())
    paths = ':'.join(map(str, [*jars.glob('*.jar'), class_path(), work]))
    command = [find_java(), '-Xmx512m', '--enable-native-access=ALL-UNNAMED', '-cp', paths]
    command += ['com.code_intelligence.jazzer.Jazzer', '--target_class=DicomFuzz']
    command += ['--instrumentation_includes=dozo.source.dicom.**', f'--reproducer_path={work}']
    command += [f'-max_total_time={seconds}', '-max_len=8000', f'-artifact_prefix={work}/', found, seeds]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds + 300)
    executions = re.findall(r'^Done (\d+) runs in (\d+) second', ended.stderr + ended.stdout, re.MULTILINE)
    if ended.returncode != 0 or not executions:
        print((ended.stderr + ended.stdout)[-3000:])
        return ['an exception was thrown'], ''
    print(f'{int(executions[0][0]):,} executions in {executions[0][1]} s, nothing thrown')
    return [], 'fuzzed'
