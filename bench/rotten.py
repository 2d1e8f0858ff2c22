"""Whether a home scrub finds every flipped bit in unchanged source files, accuses no edited file, and leaves readers their speed.

Flipped files keep size and modification time; their change time is as the kernel sets it.
"""

import json
import os
import random
import re
import statistics
import subprocess
import time
from pathlib import Path

from centre import Centre
from data import KB, MB, Data, even
from measure import workspace
from processes import CannotMeasure
from program import build
from row import Row, add_parts, at_most, chosen_parts, exactly, shown, teller
from server import Server
from service import LIMIT_SECONDS, UNDER_WAY
from table import spread

EXPERIMENTS = 10
FILES, FILES_SHORT = 2_000, 200  # half of them are flipped, then half of them edited
SMALLEST, LARGEST = KB, 4 * MB
READ_FILES, READ_FILES_SHORT = 400, 20  # of 10 MB: those of the reader, and as many for the scrub
ROUNDS, ROUNDS_SHORT = 7, 1
READER_MAX = 1.25
SECOND = 10**9
POLL_SECONDS = 0.02
PARTS = ('bits', 'reader')
say = teller('rotten')


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='a tenth of the files; the reader is not judged')
    parser.add_argument('--seed', type=int, default=108, help='of the flips and edits (default 108)')
    parser.add_argument('--json', metavar='FILE', help='every figure, for machines')
    parser.add_argument('--work', metavar='DIR', help='keeps the data sets there; else in a temporary folder')
    add_parts(parser, PARTS)


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    build()
    rows = []
    parts = {'bits': bits, 'reader': reader}
    for part in chosen_parts(options, PARTS):
        with workspace(options.work) as (data, folder), Server(folder / 'sshd') as server, Centre(folder / 'centre', server) as centre:
            rows += parts[part](data, folder, centre, options)
    if options.json:
        Path(options.json).write_text(json.dumps([vars(row) for row in rows], indent=1) + '\n')
    return shown('rotten', rows), 'short: the reader is not judged' if options.short else ''


def bits(data, folder, centre, options):
    """Flips single bits of half of the files, sets them right, then edits half of the files: what is accused each time?"""
    dice = random.Random(options.seed)
    count = FILES_SHORT if options.short else FILES
    tree = Data(f'rotten-{count}', ((count, SMALLEST, LARGEST),), (count // EXPERIMENTS,) * EXPERIMENTS).make(data)
    source = folder / 'source'
    subprocess.run(['cp', '-a', tree, source], check=True, timeout=LIMIT_SECONDS)
    experiments = sorted(file.parent for file in source.rglob('image-00000.dcm'))
    files = sorted(source.rglob('*.dcm'))
    centre.register(experiments)
    centre.night()

    flips = {file: flip(file, dice.randrange(file.stat().st_size * 8)) for file in dice.sample(files, count // 2)}
    say(f'{len(flips):,} bits are flipped')
    found = accused(centre, experiments)
    named = sum(names(found[file], at) for file, at in flips.items() if file in found)
    rows = [
        exactly('flipped bits, each in a file of its own: found', len(flips.keys() & found.keys()), len(flips)),
        exactly('other files accused beside them', len(found.keys() - flips.keys()), 0),
        exactly('findings that name the range of the flipped bit', named, len(flips)),
    ]

    for file, bit in flips.items():
        flip(file, bit)
    rows.append(exactly('accused after all bits are set right', len(accused(centre, experiments)), 0))

    edits = [edit(file, dice) for file in dice.sample(files, count // 2)]
    say(f'{len(edits):,} files are edited')
    rows.append(exactly(f'accused of {len(edits):,} edited files', len(accused(centre, experiments)), 0))
    return rows


def flip(file, bit):
    """Flips a bit of a file, and keeps its modification time. Returns the number of the bit."""
    kept = file.stat()
    with open(file, 'r+b') as opened:
        opened.seek(bit // 8)
        byte = opened.read(1)[0] ^ 1 << bit % 8
        opened.seek(bit // 8)
        opened.write(bytes([byte]))
    os.utime(file, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    return bit


def edit(file, dice):
    """Changes bytes of a file as programs do: with another time, another size, or both."""
    kept = file.stat()
    kind = dice.choice(('time', 'size', 'both'))
    with open(file, 'r+b') as opened:
        opened.seek(dice.randrange(kept.st_size))
        opened.write(dice.randbytes(1))
        if kind != 'time':
            opened.truncate(kept.st_size + dice.choice((-1, 1)) * dice.randint(1, kept.st_size // 2))
        elif opened.tell() > kept.st_size:
            raise CannotMeasure(f'the edit of {file} has changed its size')
    if kind == 'size':
        os.utime(file, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    else:
        os.utime(file, ns=(kept.st_atime_ns, kept.st_mtime_ns + dice.randrange(1, 10**6) * SECOND))
    return file


def accused(centre, experiments):
    """Runs a home scrub of everything; returns the messages of its findings by file."""
    run = centre.service.ended(scrub(centre))
    findings = [finding for finding in centre.service.findings(run) if finding['open']]
    strange = [finding for finding in findings if finding['reason'] != 'ROTTEN_AT_HOME' or not finding.get('path')]
    if run['state'] not in ('COMPLETE', 'FINDINGS') or strange:
        raise CannotMeasure(f'the home scrub ended {run["state"]}: {run.get("message")} {strange[:3]}')
    return {experiments[int(finding['experiment'].removeprefix('P/E'))] / finding['path']: finding['message'] for finding in findings}


def names(message, bit):
    """Returns whether a finding's text has one range, and the flipped bit is in it."""
    told = re.search(r' in bytes ([\d,]+) to ([\d,]+)\. ', message)
    return bool(told) and int(told[1].replace(',', '')) <= bit // 8 <= int(told[2].replace(',', ''))


def scrub(centre, cold=False):
    return centre.service.post('/scrubs', {'home': True, 'all': True, 'cold': cold})


def reader(data, _, centre, options):
    """Compares readings of a cold tree without and with a home scrub of another one on the same disk."""
    count = READ_FILES_SHORT if options.short else READ_FILES
    tree, scrubbed = (even(f'rotten-{name}-{count}', count, 10 * MB, 4).make(data) for name in ('read', 'scrubbed'))
    centre.register([scrubbed])
    centre.night()
    seconds = {True: [], False: []}
    for number in range(-1, ROUNDS_SHORT if options.short else ROUNDS):  # the first round warms up
        for beside in (False, True) if number % 2 else (True, False):
            took = beside_scrub(centre, tree) if beside else read_cold(tree)
            say(f'round {number + 1} {"with" if beside else "without"} a home scrub: {took:.2f} s')
            if number >= 0:
                seconds[beside].append(took)
    ratio = statistics.median(seconds[True]) / statistics.median(seconds[False])
    measured = f'{ratio:.2f}: {spread(seconds[True])}, {spread(seconds[False])} s'
    load = f'{os.getloadavg()[0]:.1f}'
    return [
        at_most(f'cat of {count} cold files of 10 MB, with / without a home scrub', ratio, READER_MAX, measured, not options.short),
        Row('load at the end', '', load),
    ]


def beside_scrub(centre, tree):
    """Reads while home scrubs read all the time: one that has ended is followed by another."""
    run = scrub(centre, cold=True)

    def keep_on():
        nonlocal run
        if centre.service.get(f'/runs/{run["id"]}')['state'] not in UNDER_WAY:
            run = scrub(centre, cold=True)

    took = read_cold(tree, keep_on)
    centre.service.ended(run)
    return took


def read_cold(tree, meanwhile=lambda: None):
    """Returns the seconds that `cat` needs for all files of a tree that are not in memory."""
    files = sorted(file for file in tree.rglob('*') if file.is_file())
    for file in files:
        with open(file, 'rb') as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    started = time.monotonic()
    with subprocess.Popen(['cat', *files], stdout=subprocess.DEVNULL) as reader:
        while reader.poll() is None:
            meanwhile()
            time.sleep(POLL_SECONDS)
    if reader.returncode != 0:
        raise CannotMeasure(f'cat ended with {reader.returncode}')
    return time.monotonic() - started
