"""Audit reports at 20,000 experiments with 10,000,000 entries, each made 1,000 times, the export of all evidence, and an erasure.

The catalogue is that of `coverage`, with readings and a ledger: generated in PostgreSQL, in the real tables. The questions are the
program's own.
"""

from coverage import FULL, SHORT, questions, run, slow
from measure import workspace

LINES_PER_SECOND_MIN = 50_000


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='200 experiments, 20 calls: does everything work?')
    parser.add_argument('--work', metavar='DIR', help='makes its database below there; else in a temporary folder')


def measure(options):
    size = SHORT if options.short else FULL
    with workspace(options.work) as (_, folder):
        made, found = run(size, folder, 'audit')
    *queries, export, erasure = found
    rate = export['export_lines'] / export['seconds']
    print(
        f'{made["experiments"]:,} experiments, {made["entries"]:,} entries, {made["receipts"]:,} receipts,'
        f' {made["readings"]:,} readings, {made["ledger"]:,} rows of the ledger;'
        f' {size.calls:,} calls each, one at a time\n\n{questions(queries)}\n'
        f'export: {export["export_lines"]:,} lines in {export["seconds"]:.1f} s, {rate:,.0f} lines/s;'
        f' {export["busy_seconds"]:.1f} s of processors\n'
        f'erasure of the largest experiment, {erasure["erased_entries"]:,} entries, in the catalogue: {erasure["seconds"]:.1f} s;'
        f' {erasure["busy_seconds"]:.1f} s of processors',
        flush=True,
    )
    return shortfalls(made, queries, export, rate, erasure, judge_times=not options.short), 'short' if options.short else ''


def shortfalls(made, queries, export, rate, erasure, judge_times):
    short = []
    if erasure['entries_left']:
        short.append(f'{erasure["entries_left"]:,} entries are left after the erasure')
    if export['export_lines'] != made['entries']:
        short.append(f'the export has {export["export_lines"]:,} lines for {made["entries"]:,} entries')
    if judge_times:
        short += slow(queries)
        if rate < LINES_PER_SECOND_MIN:
            short.append(f'{rate:,.0f} lines/s, at least {LINES_PER_SECOND_MIN:,} wanted')
    return short
