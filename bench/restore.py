"""Restores by the service, compared with the upload of the same files and with rsync from the same site.

Each restored folder is compared with the source by rsync: kinds, bytes, modes, times, hard links. Restores by the command
are killed at random moments: what has a final name must then be right, and the same command must complete the rest. Over a
simulated link the rate of a restore is compared with the link's, and the first byte of a download is timed.
"""

import filecmp
import json
import os
import random
import signal
import statistics
import subprocess
import time

from data import FULL, MB, SHORT
from centre import Centre
from engine import SSH
from measure import workspace
from processes import CannotMeasure
from program import LAUNCHER
from relay import LINK_BYTES_PER_SECOND, Relay
from row import teller
from server import Server, find_tool
from service import LIMIT_SECONDS, seconds_of
from table import markdown, spread

EXPERIMENT = '/experiments/P/E0'
say = teller('restore')
ROUNDS = 3
KILLS, KILLS_SHORT = 50, 2
ROUND_TRIP_MS = 36
UPLOAD_SHARE_MIN, RSYNC_FACTOR_MIN, LINK_SHARE_MIN = 0.9, 1.5, 0.85
FIRST_BYTE_SECONDS_MAX = 1.0
COMPARE = ['rsync', '-aHSAX', '--checksum', '--dry-run', '--itemize-changes', '--delete']


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='few files, one round: does it all work? times are not judged')
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
        with Server(folder / 'sshd') as server, Centre(folder / 'centre', server) as centre:
            service = centre.service
            upload = sent(centre, source, folder / 'restored')
            restores, rsyncs, singles, shortfalls = in_turn(centre, folder, source, rounds)
            print(table(upload, restores, rsyncs, singles, data), flush=True)
            if not options.short:
                shortfalls += too_slow(upload, restores, rsyncs)
            shortfalls += streamed(service, source)
            shortfalls += killed(service, folder, source, KILLS_SHORT if options.short else KILLS)
        shortfalls += over_a_link(data_folder, folder, options.short)
    return shortfalls, 'short: times not judged' if options.short else ''


def sent(centre, source, restored):
    """Backs an experiment up, and allows restores below a folder. Returns the seconds of the night."""
    restored.mkdir()
    centre.service.put('/projects/P/restore-roots', {'roots': [str(restored)]})
    centre.register([source])
    return centre.night()


def too_slow(upload, restores, rsyncs):
    share, factor = (statistics.median(seconds) / statistics.median(restores) for seconds in ([upload], rsyncs))
    shortfalls = []
    if share < UPLOAD_SHARE_MIN:
        shortfalls.append(f'the restore has {share:.2f} of the rate of the upload; wanted {UPLOAD_SHARE_MIN}')
    if factor < RSYNC_FACTOR_MIN:
        shortfalls.append(f'the restore has {factor:.2f} of the rate of rsync; wanted {RSYNC_FACTOR_MIN}')
    return shortfalls


def killed(service, folder, source, points):
    """Kills restores by the command at random moments, checks what they left, and lets the same command do the rest."""
    dice = random.Random(time.time_ns())
    shortfalls, again, left = [], [], 0
    whole_seconds, whole = command(service, folder / 'restored/whole')
    for number in range(points):
        target = folder / f'restored/killed-{number}'
        child = begin(service, target, subprocess.DEVNULL)
        time.sleep(dice.uniform(0, whole_seconds))
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        final = [path for path in target.rglob('*') if path.is_file() and '.dozo-incoming' not in path.parts]
        left += len(final)
        wrong = [path for path in final if not filecmp.cmp(path, source / path.relative_to(target), shallow=False)]
        _, rest = command(service, target)
        here = sum(path.stat().st_size for path in final)
        again.append((rest['bytesMoved'] + here - whole['bytes']) / MB)
        if wrong or (differs := differences(source, target)):
            shortfalls.append(f'kill {number}: wrong under final names: {wrong[:3]}; after the rest: {differs}')
    if points > KILLS_SHORT and left == 0:
        shortfalls.append('no killed restore had left a file, so nothing was tested')
    print(f'{points} restores killed: {left} files under final names, all right; fetched again: {spread(again)} MB\n', flush=True)
    return shortfalls


def streamed(service, source):
    """Restores one file to standard output."""
    one = first_file(source)
    child = begin(service, '-', subprocess.PIPE, '--path', str(one))
    content, _ = child.communicate(timeout=LIMIT_SECONDS)
    if child.returncode == 0 and content == (source / one).read_bytes():
        return []
    return [f'a file on standard output differs from the source (exit code {child.returncode})']


def first_file(folder):
    return next(path for path in sorted(folder.rglob('*')) if path.is_file()).relative_to(folder)


def begin(service, target, out, *options):
    environment = {**service.environment, 'DOZO_URL': f'http://127.0.0.1:{service.port}'}
    words = [LAUNCHER, 'restore', '--json', *options, 'P/E0', target]
    return subprocess.Popen(words, stdout=out, stderr=subprocess.DEVNULL, env=environment, start_new_session=True)


def command(service, target):
    """Restores by the command. Returns its seconds and its report."""
    started = time.monotonic()
    child = begin(service, target, subprocess.PIPE)
    report, _ = child.communicate(timeout=LIMIT_SECONDS)
    if child.returncode != 0:
        raise CannotMeasure(f'the restore command ended with {child.returncode}: {report[-500:]}')
    return time.monotonic() - started, json.loads(report)


def over_a_link(data_folder, folder, short):
    """Restores large files, and downloads the beginning of a small one, over a simulated link."""
    data = (SHORT if short else FULL)['large']
    source = data.make(data_folder)
    with (
        Server(folder / 'far-sshd') as server,
        Relay(ROUND_TRIP_MS, server.port) as relay,
        Centre(folder / 'far', server, relay.port) as centre,
    ):
        upload = sent(centre, source, folder / 'far-restored')
        seconds = seconds_of(restored(centre.service, folder / 'far-restored/0'))
        first = [first_byte(centre.service, source) for _ in range(3)]
    size = sum(files * size for files, size, _ in data.bins)
    share = size / seconds / LINK_BYTES_PER_SECOND
    heads = [f'{ROUND_TRIP_MS} ms, 1 Gbit/s, {size / MB:.0f} MB', 'seconds', 'of the link']
    rows = [['verified upload', f'{upload:.2f}', f'{size / upload / LINK_BYTES_PER_SECOND:.2f}']]
    rows += [['restore', f'{seconds:.2f}', f'{share:.2f}'], ['first byte of a file over REST', spread(first), '']]
    print(markdown(heads, rows) + '\n', flush=True)
    shortfalls = []
    if differs := differences(source, folder / 'far-restored/0'):
        shortfalls.append(f'the restore over the link differs from the source: {differs}')
    if not short and share < LINK_SHARE_MIN:
        shortfalls.append(f'the restore over the link has {share:.2f} of its rate; wanted {LINK_SHARE_MIN}')
    if not short and statistics.median(first) > FIRST_BYTE_SECONDS_MAX:
        shortfalls.append(f'first byte after {statistics.median(first):.2f} s; wanted {FIRST_BYTE_SECONDS_MAX} s')
    return shortfalls


def first_byte(service, source):
    """Returns the seconds until the first byte of a file arrives over REST."""
    one = first_file(source)
    path = f'{EXPERIMENT}/manifests/1/download?path={one}'
    started = time.monotonic()
    with service.opened('admin', service.admin_password(), 'POST', path, b'', 'application/octet-stream') as answer:
        answer.read(1)
        return time.monotonic() - started


def in_turn(centre, folder, source, rounds):
    """Returns the seconds of restores, of rsync, and of restores of a single file, and what differs from the source."""
    restores, rsyncs, singles, shortfalls = [], [], [], []
    service, one = centre.service, first_file(source)
    for number in range(rounds):
        ours, theirs = folder / f'restored/dozo-{number}', folder / f'rsync-{number}'
        restores.append(seconds_of(restored(service, ours)))
        rsyncs.append(copied(centre.server, centre.site / 'P/E0/data', theirs))
        singles.append(seconds_of(restored(service, folder / f'restored/one-{number}', paths=[str(one)])))
        if differs := differences(source, ours):
            shortfalls.append(f'restore {number} differs from the source: {differs}')
        say(f'round {number + 1}: restore {restores[-1]:.2f} s, rsync {rsyncs[-1]:.2f} s, one file {singles[-1]:.2f} s')
    return restores, rsyncs, singles, shortfalls


def restored(service, target, **selection):
    """Restores into a folder and returns the ended restore."""
    asked = service.post(f'{EXPERIMENT}/restores', {'folder': str(target), **selection})
    ended = service.over(f'{EXPERIMENT}/restores/{asked["id"]}')
    if ended['state'] != 'COMPLETE':
        raise CannotMeasure(f'restore {asked["id"]} ended {ended["state"]}: {ended["message"]}')
    return ended


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
