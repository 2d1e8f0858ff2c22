"""Searches at 20,000 experiments with 10,000,000 files: how long they take, what their index needs, and what it costs a seal.

Experiments and names are generated in PostgreSQL, in the real tables: half BIDS, three tenths numbered DICOM, a tenth DICOM UIDs, a tenth
MEG. The searches are the program's own, one at a time, of an administrator, with all kinds of results.
"""

import subprocess
import sys
from dataclasses import dataclass, replace

from catalogue import quiet_log
from measure import workspace
from processes import CannotMeasure
from program import LIBRARIES, build, java
from row import at_most, shown
from table import markdown

HEAP = '512m'
P99_MS_MAX = 100
BYTES_A_FILE_MAX = 20


@dataclass(frozen=True)
class Size:
    """How much is generated, and how often each search is made."""

    experiments: int
    entries: int
    calls: int
    limit_seconds: int


FULL = Size(20_000, 10_000_000, 500, 7_200)
SHORT = Size(100, 50_000, 20, 300)


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='100 experiments, 20 calls: does everything work?')
    parser.add_argument('--work', metavar='DIR', help='makes its database below there; else in a temporary folder')


def measure(options):
    size = SHORT if options.short else FULL
    with workspace(options.work) as (_, folder):
        figures, times = run(size, folder)
    print(table(figures, times), flush=True)
    rows = claims(figures, times)
    if options.short:
        rows = [replace(row, short='') for row in rows]
    return shown('search', rows), 'short: figures not judged' if options.short else ''


def run(size, folder):
    """Returns the figures by name, and of each kind of search its times and counts by name."""
    build()
    options = (f'-Xmx{HEAP}', f'-Dlogback.configurationFile={quiet_log(folder)}', '--enable-native-access=ALL-UNNAMED')
    arguments = (folder, size.experiments, size.entries, size.calls)
    command = java(f'{LIBRARIES}/*', 'SearchCalls.java', *arguments, options=options)
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=size.limit_seconds)
    if ended.returncode != 0:
        raise CannotMeasure(f'the searches ended with {ended.returncode}')
    print(ended.stdout, file=sys.stderr, flush=True)
    lines = [line.split() for line in ended.stdout.splitlines()]
    times = {words[1]: list(map(float, words[2:])) for words in lines if words[0] == 'times'}
    return {words[0]: list(map(float, words[1:])) for words in lines if words[0] != 'times'}, times


def table(figures, times):
    entries, (whole, gin) = figures['entries'][0], figures['index']
    with_it, without = figures['seal'][:2]
    heads = ['search', 'p50, ms', 'p99, ms', 'longest, ms', 'results', 'not all names read', 'searches']
    rows = [
        [name.replace('-', ' '), *(f'{ms:.1f}' for ms in values[:3]), *(f'{count:,.0f}' for count in values[3:])] for name, values in times.items()
    ]
    return (
        f'{entries:,.0f} names, listed in {figures["listed"][0]:.0f} s in {figures["blocks"][0]:,.0f} blocks: {whole / entries:.1f} bytes a name,'
        f' {gin / entries:.1f} of them index. A manifest with the note that it is not listed: {with_it:.2f} ms, without {without:.2f} ms.\n\n'
        f'{markdown(heads, rows)}\n'
    )


def claims(figures, times):
    each = figures['index'][0] / figures['entries'][0]
    p99 = times['mixed'][1]
    return [
        at_most('mixed searches, 99 %, ms', p99, P99_MS_MAX, f'{p99:.1f}', True),
        at_most('bytes a file', each, BYTES_A_FILE_MAX, f'{each:.1f}', True),
    ]
