"""A service with a site on this machine and timed nights, and trees of generated experiments."""

import itertools
import os
import random
import shutil
import subprocess
from pathlib import Path

from processes import CannotMeasure, TICKS, children, stat
from row import Row
from service import Service, seconds_of

LIMIT_SECONDS = 1800
SEED = 19
WARM_UP_DIFFERENCE_MAX = 0.05
WARM_UP_NIGHTS_MAX = 6


class Centre:
    """A service with a site and timed nights."""

    def __init__(self, folder, program, port, server, **settings):
        self.folder = folder
        self.server = server
        self.port = port
        self.count = 0
        self.database = folder / 'dozo/work/postgres'
        settings = {'DOZO_SCRUB_WINDOW': '-', 'DOZO_DRILL_CRON': '-', 'DOZO_INGEST_LIST_AGE_MAX': '1d', **settings}
        self.service = Service(folder / 'dozo', program=Path(program) / 'dozo', **settings)

    def __enter__(self):
        self.folder.mkdir(parents=True)
        (self.folder / 'site').mkdir()
        self.service.__enter__()
        self.service.add_site(self.server, self.folder / 'site', self.port)
        self.service.post('/projects', {'code': 'P'})
        return self

    def __exit__(self, *_):
        self.service.__exit__()

    def register(self, sources):
        lines = ['project,code,source'] + [f'P,E{self.count + i},{source}' for i, source in enumerate(sources)]
        self.count += len(sources)
        told = self.service.post_csv('/experiments/bulk', '\n'.join(lines))
        if told['registered'] != len(sources):
            raise CannotMeasure(f'of {len(sources)} experiments not all are registered: {told}')

    def restart(self):
        self.service.__exit__()
        self.service.__enter__()

    def night(self):
        """Runs a night and returns its seconds."""
        return self.seconds(self.service.ended(self.start(), LIMIT_SECONDS))

    def start(self):
        """Starts a run and returns it."""
        return self.service.post('/runs', {'site': 'dr'})

    def seconds(self, run):
        """Returns the seconds of a completed run."""
        if run['state'] != 'COMPLETE':
            raise CannotMeasure(f'a night ended {run["state"]}: {run.get("message")} {self.service.findings(run)[:3]}')
        return seconds_of(run)

    def cpu_seconds(self):
        return tree_seconds(self.service.process.pid)

    def wal_bytes(self):
        """Returns the WAL bytes written so far; None if there is no psql."""
        if not shutil.which('psql') or not self.has_database():
            return None
        return int(self.sql("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"))

    def has_database(self):
        return bool(list(self.database.rglob('postmaster.pid')))

    def sql(self, statements):
        """Runs statements and returns psql's output: one line per row, columns separated by tabs."""
        pids = list(self.database.rglob('postmaster.pid'))
        if not shutil.which('psql') or not pids:
            raise CannotMeasure('psql is missing (package postgresql-client), or the service has no embedded database')
        told = subprocess.run(
            ['psql', '-h', '127.0.0.1', '-p', pids[0].read_text().split('\n')[3], '-U', 'postgres', '-d', 'postgres']
            + ['-XqAtF', '\t', '-v', 'ON_ERROR_STOP=1'],
            env={**os.environ, 'PGPASSWORD': (self.database / 'password').read_text().strip()},
            input=statements,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=LIMIT_SECONDS,
        )
        if told.returncode != 0:
            raise CannotMeasure(f'psql: {told.stderr.strip()[:500]}')
        return told.stdout


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
    """Returns the CPU seconds of a process and all its descendants, including ended ones."""
    own = sum(int(field) for field in stat(pid)[0][11:15]) / TICKS
    return own + sum(tree_seconds(child) for child in children(pid))


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
