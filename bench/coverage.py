"""Coverage and audit queries at 20,000 experiments with 10,000,000 entries, each called 1,000 times.

The experiments are generated in PostgreSQL, in the real tables; the queries are the program's own.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from measure import workspace
from processes import CannotMeasure
from program import LIBRARIES, build, java
from table import markdown

HEAP = '256m'
P99_MS_MAX = 50
TIMES = ('p50', 'p99', 'max', 'busy_p50', 'busy_p99')


@dataclass(frozen=True)
class Size:
    """How much is generated, and how often each query is called."""

    experiments: int
    entries: int
    calls: int
    limit_seconds: int


FULL = Size(20_000, 10_000_000, 1_000, 3600)
SHORT = Size(200, 20_000, 20, 300)


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='200 experiments, 20 calls: does everything work?')
    parser.add_argument('--plans', metavar='FILE', help='where EXPLAIN (ANALYZE, BUFFERS) of each query goes')
    parser.add_argument('--work', metavar='DIR', help='makes its database below there; else in a temporary folder')


def measure(options):
    size = SHORT if options.short else FULL
    with workspace(options.work) as (_, folder):
        made, queries = run(size, folder)
        if options.plans:
            Path(options.plans).write_text((folder / 'plans.txt').read_text())
    print(table(size, made, queries), flush=True)
    return shortfalls(queries, judge_times=not options.short), 'short' if options.short else ''


def run(size, folder, *kind):
    """Returns what was made, and each query with its times. The plans are in plans.txt in the folder."""
    build()
    arguments = (folder, size.experiments, size.entries, size.calls, *kind)
    command = java(f'{LIBRARIES}/*', 'CoverageCalls.java', *arguments, options=(f'-Xmx{HEAP}',))
    found = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            for line in child.stdout:
                if line.startswith('{'):
                    found.append(json.loads(line))
                    print(f'coverage: {line.strip()}', file=sys.stderr, flush=True)
            code = child.wait(size.limit_seconds)
        finally:
            if child.poll() is None:
                child.terminate()
    if code != 0 or not found:
        raise CannotMeasure(f'the coverage queries ended with {code}')
    return found[0], found[1:]


def questions(queries):
    heads = ['query', 'p50, ms', 'p99, ms', 'longest, ms', 'CPU p50, ms', 'CPU p99, ms', 'rows', 'reads all of a large table']
    rows = [
        [q['query'], *(f'{q[time]:.1f}' for time in TIMES), q['rows'], 'yes' if q['scans'] else 'no'] for q in queries
    ]
    return markdown(heads, rows) + '\n'


def table(size, made, queries):
    about = (
        f'{made["experiments"]:,} experiments, {made["entries"]:,} entries, {made["receipts"]:,} receipts,'
        f' {made["periods"]:,} periods of coverage, {made["findings"]:,} findings, made in {made["made"]:.0f} s;'
        f' {size.calls:,} calls each, one at a time'
    )
    return f'{about}\n\n{questions(queries)}'


def shortfalls(queries, judge_times):
    short = [f'"{q["query"]}" reads all of entry or receipt' for q in queries if q['scans']]
    return short + slow(queries) if judge_times else short


def slow(queries):
    return [f'"{q["query"]}": p99 {q["p99"]:.1f} ms, at most {P99_MS_MAX} wanted' for q in queries if q['p99'] > P99_MS_MAX]
