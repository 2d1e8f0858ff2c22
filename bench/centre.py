"""A service with a site on this machine and timed nights, and trees of generated experiments."""

import itertools
import os
import random
import shutil
import subprocess

from processes import CannotMeasure, children, cpu_seconds
from program import LAUNCHER
from row import Row
from service import LIMIT_SECONDS, Service, seconds_of

SEED = 19
WARM_UP_DIFFERENCE_MAX = 0.05
WARM_UP_NIGHTS_MAX = 6


class Centre:
    """A service with a site and timed nights."""

    def __init__(self, folder, server, port=None, program=LAUNCHER, **settings):
        """Prepares it. `port`: of a relay before the server. Experiment n is P/En, and its copy is below `site`."""
        self.folder = folder
        self.server = server
        self.port = port
        self.site = folder / 'site'
        self.count = 0
        self.database = folder / 'dozo/work/postgres'
        settings = {'DOZO_SCRUB_WINDOW': '-', 'DOZO_DRILL_CRON': '-', 'DOZO_INGEST_LIST_AGE_MAX': '1d', **settings}
        self.service = Service(folder / 'dozo', program=program, **settings)

    def __enter__(self):
        self.folder.mkdir(parents=True)
        self.site.mkdir()
        self.service.__enter__()
        self.service.add_site(self.server, self.site, self.port)
        self.service.post('/projects', {'code': 'P'})
        return self

    def __exit__(self, *_):
        self.service.__exit__()

    def register(self, sources):
        lines = ['project,code,source'] + [f'P,E{self.count + i},{source}' for i, source in enumerate(sources)]
        self.count += len(sources)
        told = self.service.post_csv('/experiments/bulk', '\n'.join(lines).encode())
        if told['registered'] != len(sources):
            raise CannotMeasure(f'of {len(sources)} experiments not all are registered: {told}')

    def night(self):
        """Runs a night and returns its seconds."""
        return seconds_of(self.service.complete(self.start()))

    def start(self):
        """Starts a run and returns it."""
        return self.service.post('/runs', {'site': 'dr'})

    def cpu_seconds(self):
        return tree_seconds(self.service.process.pid)

    def database_cpu_seconds(self):
        """Returns those of an embedded database: its processes are not below the service's."""
        return sum(tree_seconds(int(file.read_text().split()[0])) for file in self.database.rglob('postmaster.pid'))

    def wal_bytes(self):
        """Returns the WAL bytes written so far; None if there is no psql."""
        if not shutil.which('psql') or not self.has_database():
            return None
        return int(self.sql("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')")[0][0])

    def has_database(self):
        return bool(list(self.database.rglob('postmaster.pid')))

    def database_port(self):
        return int(next(self.database.rglob('postmaster.pid')).read_text().split('\n')[3])

    def sql(self, statements):
        """Runs statements and returns their rows, each a list of texts."""
        if not self.has_database():
            raise CannotMeasure('the service has no embedded database')
        return psql(self.database_port(), self.database / 'password', statements)


def psql(port, password, statements):
    """Runs statements in a database of this machine and returns their rows. `password`: its file."""
    if not shutil.which('psql'):
        raise CannotMeasure('psql is missing (package postgresql-client)')
    told = subprocess.run(
        ['psql', '-h', '127.0.0.1', '-p', str(port), '-U', 'postgres', '-d', 'postgres', '-XqAtF', '\t', '-v', 'ON_ERROR_STOP=1'],
        env={**os.environ, 'PGPASSWORD': password.read_text().strip()},
        input=statements,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
    )
    if told.returncode != 0:
        raise CannotMeasure(f'psql: {told.stderr.strip()[:500]}')
    return [line.split('\t') for line in told.stdout.splitlines()]


def new_nights(centre, folder, *counts_and_sizes):
    """Returns a function that runs a night with new files of these counts and sizes, and returns its seconds."""
    numbers = itertools.count()

    def night():
        centre.register(make(folder / str(next(numbers)), *counts_and_sizes))
        os.sync()
        return centre.night()

    return night


def warmed_up(night, nights_max=WARM_UP_NIGHTS_MAX):
    """Runs nights until two in a row take the same time, while Java compiles what they need. Returns their seconds."""
    seconds = [night()]
    while len(seconds) < nights_max and not is_warm(seconds):
        seconds.append(night())
    return seconds


def is_warm(seconds):
    return len(seconds) > 1 and abs(seconds[-1] / seconds[-2] - 1) <= WARM_UP_DIFFERENCE_MAX


def warm_up_row(name, seconds):
    verdict = 'the last two agree' if is_warm(seconds) else 'the last two do not agree'
    return Row(f'{name}: nights to warm up, s', '', f'{", ".join(f"{each:.2f}" for each in seconds)}: {verdict} within {WARM_UP_DIFFERENCE_MAX:.0%}')


def tree_seconds(pid):
    """Returns the CPU seconds of a process and all its descendants, including ended ones that were waited for."""
    below = 0.0
    for child in children(pid):
        try:
            below += tree_seconds(child)
        except (FileNotFoundError, ProcessLookupError):
            pass  # ended meanwhile; its parent, read below, has its time
    return below + cpu_seconds(pid)


def make(folder, experiments, files, least, most, folders=1):
    """Makes experiments with files of random sizes and content."""
    dice = random.Random(f'{SEED} {folder.name}')
    noise = dice.randbytes(most + 4096)
    sources = []
    for number in range(experiments):
        source = folder / f'e{number:05}'
        for file in range(files):
            name = source / f'series-{file % folders}' / f'image-{file:05}.dcm'
            if file < folders:
                name.parent.mkdir(parents=True, exist_ok=True)
            at = dice.randrange(4096)
            name.write_bytes(noise[at : at + dice.randint(least, most)])
        sources.append(source)
    return sources
