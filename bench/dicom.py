"""DICOM headers: rate and memory compared with dcmdump.

The files are hard links to those of a corpus of real ones.
"""

import os
import shlex
import shutil
import statistics
import tempfile
from pathlib import Path

from processes import CannotMeasure
from program import classes, compiled, find_java, output_of
from table import markdown, spread

FILES, FILES_SHORT = 100_000, 2_000
SAMPLE = 2_000
THREADS = 2
ROUNDS = 5  # in one process; the first two are not counted, because Java is still compiling
HEAP = '-Xmx64m'
LIVE_BYTES_PER_FILE_MAX = 20  # in addition to the driver's list of names; see `judge`
RATE_MIN = 5_000


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='2,000 files, once; not judged')
    parser.add_argument('--corpus', metavar='DIR', help='DICOM files; default: $DOZO_SHARED_DATA/dicom')
    parser.add_argument('--work', metavar='DIR', help='where the links are made: on the file system of a copy of the corpus')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    corpus = find_corpus(options.corpus)
    if corpus is None:
        return [], 'no corpus: headers were not measured'
    with tempfile.TemporaryDirectory(prefix='dozo-dicom-', dir=options.work) as work:
        shortfalls = compare(corpus, Path(work), FILES_SHORT if options.short else FILES, judged=not options.short)
    return shortfalls, 'short: figures not judged' if options.short else ''


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
    path = f'{classes("origins", "engine")}:{work}'
    compiled(work, path, 'DicomRate.java')
    command = f'{shlex.quote(find_java())} {HEAP} -XX:+UseSerialGC -cp {shlex.quote(path)} DicomRate'
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
    command = f'xargs -0 -n 200 -a {shlex.quote(str(listed))} dcmdump -q -M +P 0020,000d +P 0008,0018 > /dev/null 2>&1 || true'
    return [sample / output_of(command, work)[0] for _ in range(3)]
