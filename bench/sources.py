"""Flywheel's download rate, compared with curl for the same bytes. The Flywheel is the tests' emulator."""

import statistics
import subprocess

from measure import workspace
from processes import CannotMeasure, stop
from program import LIBRARIES, classes, compiled, find_java
from row import at_least, at_most, shown
from table import spread

PROGRAM = 'dozo.source.flywheel.FlywheelReads'
LIMIT_SECONDS = 900
MB = 1000**2

RATE_MIN = 0.8
ROUNDS = 5
FILES, FILE_BYTES, FILES_SHORT, FILE_BYTES_SHORT = 12, 64 * MB, 4, 2 * MB
HEAP_MB = 64


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='few small files: does it all work? rates are not judged')
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    with workspace(options.work) as (_, folder):
        shortfalls = shown('downloads', downloads(driver(folder), folder, options.short))
    return shortfalls, 'short: rates not judged' if options.short else ''


def driver(folder):
    """Returns the command that starts the driver, as a list."""
    path = classes('engine', 'catalogue', 'night', 'origins', 'origins/test-classes')
    for name in ('jackson-*', 'httpclient5-*', 'httpcore5-*', 'slf4j-api-*'):
        path += ''.join(f':{jar}' for jar in sorted(LIBRARIES.glob(f'{name}.jar')))
    path += f':{folder}'
    compiled(folder, path, 'FlywheelReads.java')
    return [find_java(), f'-Xmx{HEAP_MB}m', '-cp', path, PROGRAM]


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
    finally:
        stop(server)
    # The first round is left out: Java is still compiling, which in a service happens once a month.
    theirs, ours = ([float(line[at]) for line in rounds[1:]] for at in (0, 1))
    total = int(rounds[0][2])
    ratio = statistics.median(theirs) / statistics.median(ours)
    measured = f'{ratio:.2f}: {total / MB:,.0f} MB in {spread(ours)} s, curl in {spread(theirs)} s'
    heap = max(int(line[3]) for line in rounds)
    return [
        at_least("downloads, rate / curl's", ratio, RATE_MIN, measured, not short),
        at_most('heap used behind a download, MB', heap / MB, HEAP_MB / 2, f'{heap / MB:.1f}, of {HEAP_MB} allowed', True),
    ]


def curl(key, paths, work):
    """Returns a command that downloads all files to disk over one connection."""
    host, port, _, secret = key.split(':')
    config = [f'header = "Authorization: scitran-user {secret}"']
    for number, path in enumerate(paths):
        config += [f'url = "http://{host}:{port}/api{path}"', f'output = "{work}/curl-{number}"']
    file = work / 'curl.conf'
    file.write_text('\n'.join(config) + '\n')
    return ['curl', '--silent', '--show-error', '--fail', '--config', str(file)]
