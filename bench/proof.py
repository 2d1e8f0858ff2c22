"""The rate of a scrub of many small files, compared with the digest command over the same files."""

import statistics
import subprocess
import time

from centre import Centre
from data import KB, even
from measure import workspace
from processes import CannotMeasure
from row import at_least, shown
from server import Server
from service import LIMIT_SECONDS, seconds_of
from table import spread

RATIO_MIN = 0.8
ROUNDS = 3
FULL_FILES, SHORT_FILES = 100_000, 500
FILE_BYTES = 100 * KB


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='few files: does it all work? the rate is not judged')
    parser.add_argument('--work', metavar='DIR', help='keeps the data set there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    files = SHORT_FILES if options.short else FULL_FILES
    with workspace(options.work) as (data_folder, folder):
        source = even(f'scrub-{files}', files, FILE_BYTES, files // 100).make(data_folder)
        rows = compared(folder, source, files, 1 if options.short else ROUNDS, not options.short)
    return shown('scrub', rows), 'short: the rate is not judged' if options.short else ''


def compared(folder, source, files, rounds, judged):
    with Server(folder / 'sshd') as server, Centre(folder / 'centre', server) as centre:
        centre.register([source])
        centre.night()
        tool = centre.service.post('/sites/dr/check', {})['digest'].removeprefix('exec ')
        alone, scrubs = [], []
        for _ in range(rounds):
            alone.append(digested(tool, centre.site / 'P/E0/data', files))
            scrubs.append(scrubbed(centre.service))
    ratio = statistics.median(alone) / statistics.median(scrubs)
    measured = f'{ratio:.2f}: {spread(scrubs)} s beside {spread(alone)} s of `{tool}`'
    return [at_least(f"{files:,} files, scrub / digest command's rate", ratio, RATIO_MIN, measured, judged)]


def digested(tool, folder, files):
    """Returns the seconds that the digest command needs for all files, one process after the other."""
    started = time.monotonic()
    command = ['bash', '-o', 'pipefail', '-c', f'find . -type f -print0 | xargs -0 {tool} | wc -l']
    ended = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, timeout=LIMIT_SECONDS)
    if ended.returncode != 0 or int(ended.stdout) != files:
        raise CannotMeasure(f'{tool} ended with {ended.returncode}')
    return time.monotonic() - started


def scrubbed(service):
    """Returns the seconds of a scrub of everything, from its start to its end."""
    return seconds_of(service.complete(service.post('/scrubs', {'all': True, 'cold': False})))
