"""What a researcher notices of a run by day, with and without `yielding` in the site's timetable.

The source is shown by a file server of limited speed (FUSE, which needs root): it has a few disks, each serves one request after
the other, and requests queue. A researcher reads small files from it, one after the other.
"""

import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from arriving import Arrivals
from data import KB, MB, even
from measure import workspace
from mutations import LIMIT_SECONDS
from processes import CannotMeasure, stop, wait_for
from relay import find_java
from row import Row, at_least, at_most
from server import Server
from service import TOP, Service

DISKS = 4
REQUEST_MILLIS = 5
LIFE_SECONDS = 1800
FILE_BYTES = 100 * KB
FILES, SHORT_FILES = 8_000, 600
WINDOW_SECONDS, SHORT_WINDOW_SECONDS = 15, 1
SETTLE_SECONDS, SHORT_SETTLE_SECONDS = 20, 1
LATENCY_MAX = 1.5
RATE_MIN = 0.6
SLOW_FILE_SERVER = TOP / 'batch-jobs/engine/src/test/java/dozo/remote/SlowFileServer.java'


class FileServer:
    """A folder shown at another place by a slow file server, for a `with` block."""

    def __init__(self, shown, place):
        self.shown = shown
        self.place = place

    def __enter__(self):
        self.place.mkdir()
        command = [find_java(), '-XX:+UseSerialGC', '-Xmx128m', '--enable-native-access=ALL-UNNAMED', SLOW_FILE_SERVER]
        command += [self.shown, self.place, str(REQUEST_MILLIS * 1_000_000), str(DISKS), str(LIFE_SECONDS)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
        )
        if self.process.stdout.readline().strip() != 'mounted':
            self.__exit__()
            raise CannotMeasure('only root, where there is FUSE, can mount the slow file server')
        return self

    def __exit__(self, *_):
        # NB: first, and without a look at it, which fails as soon as the server has ended.
        subprocess.run(['umount', '-l', self.place], stderr=subprocess.DEVNULL, check=False)
        stop(self.process)
        for pipe in (self.process.stdin, self.process.stdout):
            pipe.close()


class Researcher:
    """Reads files one after the other."""

    def __init__(self, folder):
        self.files = sorted(path for path in folder.rglob('*') if path.is_file())
        self.next = 0

    def median_millis(self, seconds):
        took = []
        end = time.monotonic() + seconds
        while time.monotonic() < end or not took:
            begin = time.monotonic()
            self.files[self.next % len(self.files)].read_bytes()
            self.next += 1
            took.append(time.monotonic() - begin)
        return 1000 * statistics.median(took)


def compare(work, short):
    """Returns the rows. The nights have equal sources, and each a service and a site of its own."""
    if os.geteuid() != 0 or not os.path.exists('/dev/fuse'):
        return [Row('a researcher beside a run', '', 'not measured: needs root and FUSE')]
    files = SHORT_FILES if short else FILES
    with workspace(work) as (data_folder, folder):
        (folder / 'shown').mkdir()
        for name, count in (('night', files), ('own', 100)):
            made = even(f'yielding-{name}-{count}', count, FILE_BYTES, count // 100).make(data_folder)
            shutil.copytree(made, folder / 'shown' / name, copy_function=os.link if same_device(made, folder) else shutil.copy2)
        with FileServer(folder / 'shown', folder / 'nfs'):
            researcher = Researcher(folder / 'nfs' / 'own')
            window = SHORT_WINDOW_SECONDS if short else WINDOW_SECONDS
            alone = researcher.median_millis(window)
            greedy = night(folder, 'greedy', 'daily 00:00-24:00 100 Gbit/s', researcher, short)
            polite = night(folder, 'polite', 'daily 00:00-24:00 yielding', researcher, short)
    return rows(alone, greedy, polite, not short)


def same_device(one, other):
    return os.stat(one).st_dev == os.stat(other).st_dev


def night(folder, name, rule, researcher, short):
    """Returns the rate alone, the researcher's median, the rate meanwhile, and the rate after that."""
    window = SHORT_WINDOW_SECONDS if short else WINDOW_SECONDS
    settle = SHORT_SETTLE_SECONDS if short else SETTLE_SECONDS
    site = folder / f'site-{name}'
    site.mkdir()
    with Server(folder / f'sshd-{name}') as server, Service(folder / name) as service, Arrivals(site) as arrivals:
        service.add_site(server, site)
        service.put('/sites/dr/timetable', {'rules': [rule]})
        service.post('/projects', {'code': 'p'})
        service.post('/experiments', {'project': 'p', 'code': 'E', 'source': str(folder / 'nfs' / 'night')})
        run = service.post('/runs', {})
        wait_for(lambda: arrivals.bytes() > 1 * MB, LIMIT_SECONDS, 'the first files')
        time.sleep(settle)
        rate = arrivals.rate(window)
        before = arrivals.bytes()
        begin = time.monotonic()
        time.sleep(settle / 4)
        median = researcher.median_millis(window)
        beside = (arrivals.bytes() - before) / (time.monotonic() - begin)
        time.sleep(settle)
        after = arrivals.rate(window)
        state = service.get(f'/runs/{run["id"]}')['state']
        if not short and state != 'RUNNING':
            raise CannotMeasure(f'the run was over too early: {state}')
        for line in Path(service.log).read_text(errors='replace').splitlines():
            if 'yields to other users' in line:
                print('foresight: ' + line[line.index('site ') :], file=sys.stderr)
    say(f'{name}: {rate / MB:.2f} MB/s alone, {beside / MB:.2f} beside a researcher ({median:.1f} ms), {after / MB:.2f} afterwards')
    return rate, median, beside, after


def rows(alone, greedy, polite, judged):
    return [
        Row('a researcher alone, median of a file', '', f'{alone:.1f} ms'),
        Row('beside a run', '', f'{greedy[1]:.1f} ms, {greedy[1] / alone:.2f} times as long'),
        at_most(
            'beside a run that yields',
            polite[1] / alone,
            LATENCY_MAX,
            f'{polite[1]:.1f} ms, {polite[1] / alone:.2f} times as long',
            judged,
        ),
        Row('before, beside its look at the source: a run; a run that yields', '', f'{greedy[0] / MB:.2f}; {polite[0] / MB:.2f} MB/s'),
        at_least(
            'after the researcher has gone: share of a run that yields',
            polite[3] / max(greedy[3], 1),
            RATE_MIN,
            f'{polite[3] / max(greedy[3], 1):.2f}: {polite[3] / MB:.2f} of {greedy[3] / MB:.2f} MB/s',
            judged,
        ),
        Row('beside a researcher: a run; a run that yields', '', f'{greedy[2] / MB:.2f}; {polite[2] / MB:.2f} MB/s'),
    ]


def say(what):
    print(f'foresight: {what}', file=sys.stderr, flush=True)
