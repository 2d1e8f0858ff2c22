"""The first five minutes on a new machine: `./dozo demo --once` in a fresh clone, with a full and with an empty library of Maven.

The clone is then moved: the demonstration continues there, and the service starts from new caches.
"""

import os
import re
import select
import shutil
import statistics
import subprocess
import time
from dataclasses import dataclass

from measure import workspace
from processes import CannotMeasure
from program import TOP
from row import Row, at_most, shown
from table import spread

SECONDS_MAX = {'warm': 90, 'cold': 150}
SILENCE_SECONDS_MAX = 5
ESTIMATE_FACTOR_MAX = 1.5
ROUNDS = 3
LIMIT_SECONDS = 900
# An estimate of less than this is a rounded number of seconds.
ESTIMATE_SECONDS_MIN = 10
SAFE = 'All 4 experiments are safe'


@dataclass(frozen=True)
class First:
    """One first start: its time, the longest time without a line, and how wrong the worst estimate was."""

    seconds: float
    cpu_seconds: float
    silence_seconds: float
    factor: float


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='one warm start: does it all work? times are not judged')
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    kinds = ['warm'] if options.short else ['warm', 'cold'] * ROUNDS
    starts = {kind: [] for kind in kinds}
    with workspace(options.work) as (_, folder):
        for number, kind in enumerate(kinds):
            clone = folder / f'clone-{number}'
            subprocess.run(['git', 'clone', '-q', TOP, clone], check=True)
            starts[kind].append(start(clone, folder / 'm2' if kind == 'cold' else None))
            moved(clone, folder / 'moved')
            shutil.rmtree(folder / 'm2', ignore_errors=True)
            shutil.rmtree(folder / 'moved')
    print(f'load average {os.getloadavg()[0]:.1f} after\n')
    rows = [row for kind, each in starts.items() for row in rows_of(kind, each, not options.short)]
    return shown('`./dozo demo --once` in a fresh clone', rows), 'short: times not judged' if options.short else ''


def start(clone, library):
    """Runs the demonstration, and reads its lines with their times."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith('DOZO_') or name == 'DOZO_JAVA_HOME'}
    if library:
        environment['MAVEN_OPTS'] = f'-Dmaven.repo.local={library}'
    before = os.times()
    begun = last = time.monotonic()
    silence, estimates, built, text = 0.0, [], None, ''
    child = subprocess.Popen(
        ['./dozo', 'demo', '--once'], cwd=clone, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        while True:
            if not select.select([child.stdout], [], [], LIMIT_SECONDS)[0]:
                raise CannotMeasure(f'no line for {LIMIT_SECONDS} s')
            line = os.read(child.stdout.fileno(), 65_536).decode(errors='replace')
            now = time.monotonic()
            silence, last = max(silence, now - last), now
            if not line:
                break
            text += line
            if found := re.search(r'about (\d+) s left', line):
                estimates.append((now, int(found[1])))
            if not built and 'DR site' in text:
                built = now
    finally:
        if child.poll() is None and child.wait(60) is None:
            child.kill()
    if child.wait() != 0 or SAFE not in text:
        raise CannotMeasure(f'the demonstration ended with {child.returncode}: {text[-1000:]}')
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return First(last - begun, cpu, silence, max([wrong(seconds, built - at) for at, seconds in estimates], default=1))


def wrong(estimated, real):
    """Returns by what factor an estimate differs from what it was."""
    if real < ESTIMATE_SECONDS_MIN and estimated < ESTIMATE_SECONDS_MIN:
        return 1
    return max(estimated, real) / max(1, min(estimated, real))


def moved(clone, place):
    """Moves a clone whose caches are just being made; the demonstration must go on there with the same experiments."""
    clone.rename(place)
    ended = subprocess.run(['./dozo', 'demo', '--once'], cwd=place, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    if ended.returncode != 0 or SAFE not in ended.stdout or 'run 2 ' not in ended.stdout:
        raise CannotMeasure(f'the moved demonstration ended with {ended.returncode}: {ended.stdout[-1000:]}{ended.stderr[-500:]}')
    subprocess.run(['./dozo', '--prepare'], cwd=place, check=True, timeout=LIMIT_SECONDS)
    again = subprocess.run(['./dozo', 'status'], cwd=place, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    if 'Exception' in again.stderr or not (place / 'service/target/app/rehearsed').read_text().startswith(str(place)):
        raise CannotMeasure(f'the caches were not made again: {again.stderr[-500:]}')


def rows_of(kind, starts, judged):
    yield limited(f'{kind}: elapsed s', [each.seconds for each in starts], SECONDS_MAX[kind], judged)
    yield Row(f'{kind}: processor s', '', spread(each.cpu_seconds for each in starts))
    yield limited(f'{kind}: longest silence s', [each.silence_seconds for each in starts], SILENCE_SECONDS_MAX, judged)
    yield limited(f'{kind}: estimate off by a factor of', [each.factor for each in starts], ESTIMATE_FACTOR_MAX, judged)


def limited(name, values, limit, judged):
    return at_most(name, statistics.median(values), limit, spread(values), judged)
