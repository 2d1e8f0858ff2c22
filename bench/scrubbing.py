"""The rate of a scrub: many small files, compared with the digest command over the same files."""

import statistics
import subprocess
import time

from data import KB, even
from mutations import LIMIT_SECONDS, send
from processes import CannotMeasure
from row import at_least
from server import Server
from service import Service, seconds_of
from table import spread

RATIO_MIN = 0.8
ROUNDS = 3
FULL_FILES, SHORT_FILES = 100_000, 500
FILE_BYTES = 100 * KB


def rows(folder, short):
    files = SHORT_FILES if short else FULL_FILES
    (folder / 'source').mkdir()
    (folder / 'site').mkdir()
    source = even('small', files, FILE_BYTES, files // 100).make(folder / 'source')
    with Server(folder / 'sshd') as server, Service(folder / 'dozo') as service:
        service.add_site(server, folder / 'site')
        service.post('/projects', {'code': 'p'})
        service.post('/experiments', {'project': 'p', 'code': 'E', 'source': str(source)})
        send(service)
        tool = service.post('/sites/dr/check', {})['digest'].removeprefix('exec ')
        alone, scrubs = [], []
        for _ in range(1 if short else ROUNDS):
            alone.append(digested(tool, folder / 'site/p/E/data', files))
            scrubs.append(scrubbed(service))
    ratio = statistics.median(alone) / statistics.median(scrubs)
    measured = f'{ratio:.2f}: {spread(scrubs)} s beside {spread(alone)} s of `{tool}`'
    return [at_least(f"{files:,} files, scrub / digest command's rate", ratio, RATIO_MIN, measured, not short)]


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
    run = service.ended(service.post('/scrubs', {'all': True, 'cold': False}), LIMIT_SECONDS)
    if run['state'] != 'COMPLETE':
        raise CannotMeasure(f'the scrub ended {run["state"]}: {service.findings(run)[:3]}')
    return seconds_of(run)
