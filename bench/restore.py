"""Restores by the service, compared with the upload of the same files and with rsync from the same site.

Each restored folder is compared with the source by rsync: kinds, bytes, modes, times, hard links. The full form also
runs the randomised restore test over ten times as many names as in the suite.
"""

import statistics
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

from data import FULL, MB, SHORT
from engine import SSH
from measure import workspace
from mutations import LIMIT_SECONDS, send
from processes import CannotMeasure, wait_for
from server import Server, find_tool
from service import Service
from table import markdown, spread

LAUNCHER = Path(__file__).resolve().parent.parent / 'dozo'
EXPERIMENT = '/experiments/p/E'
ROUNDS = 3
FUZZ_TIMES = 10
FUZZ_LIMIT_SECONDS = 3_600
COMPARE = ['rsync', '-aHSAX', '--checksum', '--dry-run', '--itemize-changes', '--delete']


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='few files, one round, without the randomised test')
    parser.add_argument('--rounds', type=int, metavar='N', help=f'default: {ROUNDS}')
    parser.add_argument('--work', metavar='DIR', help='keeps the data set there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    if not find_tool('rsync'):
        raise CannotMeasure('rsync is missing (package rsync)')
    rounds = options.rounds or (1 if options.short else ROUNDS)
    data = (SHORT if options.short else FULL)['small']
    with workspace(options.work) as (data_folder, folder):
        source = data.make(data_folder)
        (folder / 'site').mkdir()
        (folder / 'restored').mkdir()
        with Server(folder / 'sshd') as server, Service(folder / 'dozo') as service:
            service.add_site(server, folder / 'site')
            service.post('/projects', {'code': 'p'})
            service.put('/projects/p/restore-roots', {'roots': [str(folder / 'restored')]})
            service.post('/experiments', {'project': 'p', 'code': 'E', 'source': str(source)})
            upload = seconds_of(send(service))
            restores, rsyncs, singles, shortfalls = in_turn(service, server, folder, source, rounds)
    print(table(upload, restores, rsyncs, singles, data), flush=True)
    if not options.short:
        shortfalls += fuzz()
    return shortfalls, 'short: no randomised test' if options.short else ''


def in_turn(service, server, folder, source, rounds):
    """Returns the seconds of restores, of rsync, and of restores of a single file, and what differs from the source."""
    restores, rsyncs, singles, shortfalls = [], [], [], []
    one = next(path for path in sorted(source.rglob('*')) if path.is_file()).relative_to(source)
    for number in range(rounds):
        ours, theirs = folder / f'restored/dozo-{number}', folder / f'rsync-{number}'
        restores.append(seconds_of(restored(service, ours)))
        rsyncs.append(copied(server, folder / 'site/p/E/data', theirs))
        singles.append(seconds_of(restored(service, folder / f'restored/one-{number}', paths=[str(one)])))
        if differs := differences(source, ours):
            shortfalls.append(f'restore {number} differs from the source: {differs}')
        say(f'round {number + 1}: restore {restores[-1]:.2f} s, rsync {rsyncs[-1]:.2f} s, one file {singles[-1]:.2f} s')
    return restores, rsyncs, singles, shortfalls


def restored(service, target, **selection):
    """Restores into a folder and returns the ended restore."""
    asked = service.post(f'{EXPERIMENT}/restores', {'folder': str(target), **selection})
    address = f'{EXPERIMENT}/restores/{asked["id"]}'
    wait_for(lambda: service.get(address)['state'] not in ('WAITING', 'RUNNING'), LIMIT_SECONDS, f'restore {asked["id"]}')
    ended = service.get(address)
    if ended['state'] != 'COMPLETE':
        raise CannotMeasure(f'restore {asked["id"]} ended {ended["state"]}: {ended["message"]}')
    return ended


def seconds_of(job):
    began, ended = (datetime.fromisoformat(job[field]) for field in ('startedAt', 'endedAt'))
    return (ended - began).total_seconds()


def copied(server, data, target):
    """Returns the seconds of `rsync -a` from the site and a sync: a restore ends when everything is on the disk."""
    ssh = SSH.format(config=server.client_configuration(server.port))
    started = time.monotonic()
    subprocess.run(['rsync', '-a', '-e', ssh, f'site:{data}/', f'{target}/'], check=True, timeout=LIMIT_SECONDS)
    subprocess.run(['sync', '-f', target], check=True, timeout=LIMIT_SECONDS)
    return time.monotonic() - started


def differences(source, copy):
    """Returns what rsync would change, except for the folder itself, which is not in a manifest."""
    command = [*COMPARE, f'{source}/', f'{copy}/']
    said = subprocess.run(command, check=True, capture_output=True, text=True, errors='replace', timeout=LIMIT_SECONDS)
    lines = [line for line in said.stdout.splitlines() if not line.endswith(' ./')]
    return f'{len(lines)} entries, the first: {lines[0]}' if lines else ''


def table(upload, restores, rsyncs, singles, data):
    files = sum(files for files, _, _ in data.bins)
    megabytes = sum(files * size for files, size, _ in data.bins) / MB

    def row(what, seconds):
        rate = [spread(count / each for each in seconds) for count in (megabytes, files)]
        return [what, spread(seconds), *rate, f'{upload / statistics.median(seconds):.2f}']

    rows = [row('verified upload', [upload]), row('restore', restores), row('rsync -a and sync', rsyncs)]
    rows.append(['restore of one file', spread(singles), '', '', ''])
    heads = [f'{files:,} files, {megabytes:.0f} MB', 'seconds', 'MB/s', 'files/s', "rate / upload's"]
    return markdown(heads, rows) + '\n'


def fuzz():
    """Returns shortfalls of the randomised test; it prints its seed and needs the tests' packages."""
    say(f'randomised restore, {FUZZ_TIMES} times as long as in the suite')
    command = [LAUNCHER, 'test', 'RestoreFuzzIT', f'-Dcampaign.times={FUZZ_TIMES}']
    ended = subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=FUZZ_LIMIT_SECONDS)
    print('\n'.join(line for line in ended.stdout.splitlines() if 'seed' in line), flush=True)
    return [] if ended.returncode == 0 else [f'the randomised restore failed: {ended.stdout[-2000:]}']


def say(what):
    print(f'restore: {what}', file=sys.stderr, flush=True)
