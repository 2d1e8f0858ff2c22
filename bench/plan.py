"""Rate, balance and memory of Dozo's planner, without files: a part of catalogue."""

import json
import random
import statistics
import subprocess

import data
from processes import CannotMeasure
from program import classes, java
from row import Row

RATE_MIN = 1_000_000
IMBALANCE_MAX = 0.01
HEAP = '-Xmx48m'
HEAP_GROWTH_MAX_BYTES = 1_000_000  # growth of the JVM itself

CURVE = (100_000, 1_000_000, 10_000_000)
SHORT_CURVE = (100_000, 1_000_000)
PARTITIONS = (4, 8, 16)


def rows(short=False):
    """Returns all figures. Short: fewer entries, and the rate is not judged."""
    sizes = mixed_sizes()
    found = [imbalance_row(sizes, partitions) for partitions in PARTITIONS]
    curve = {entries: plan(sizes, entries, 16) for entries in (SHORT_CURVE if short else CURVE)}
    found += [rate_row(entries, planned, judged=not short) for entries, planned in curve.items()]
    first = next(iter(curve.values()))
    found += [heap_row(entries, planned, first) for entries, planned in curve.items()]
    return found


def imbalance_row(sizes, partitions):
    planned = plan(sizes, len(sizes), partitions)
    value = planned['imbalance']
    return Row(
        f'imbalance, `mixed`, {partitions} partitions',
        f'≤ {IMBALANCE_MAX:.0%}',
        f'{value:.2%} ({planned["bundles"]} bundles, {planned["large"]} large files)',
        '' if value <= IMBALANCE_MAX else f'imbalance of {partitions} partitions {value:.2%}',
    )


def rate_row(entries, planned, judged):
    rate = statistics.median(planned['rates'])
    return Row(
        f'{entries:,} entries',
        f'≥ {RATE_MIN:,} entries/s',
        f'{rate:,.0f} entries/s',
        f'{rate:,.0f} entries/s planned' if judged and rate < RATE_MIN else '',
    )


def heap_row(entries, planned, first):
    live = planned['live_bytes']
    grown = live - first['live_bytes'] > HEAP_GROWTH_MAX_BYTES
    return Row(
        f'live heap at {entries:,} entries',
        'flat',
        f'{live / 1e6:.1f} MB',
        f'heap grows to {live / 1e6:.1f} MB at {entries:,} entries' if grown else '',
    )


def mixed_sizes():
    """Returns the sizes of the data set `mixed`, in the order of its files."""
    mixed = data.FULL['mixed']
    dice = random.Random(mixed.name)
    sizes = [size for bin in mixed.bins for size in data.spread(*bin, dice)]
    dice.shuffle(sizes)
    return sizes


def plan(sizes, entries, partitions):
    command = java(classes('engine'), 'PlanRate.java', entries, partitions, options=(HEAP, '-XX:+UseSerialGC'))
    text = '\n'.join(map(str, sizes))
    ended = subprocess.run(command, input=text, capture_output=True, text=True, timeout=600)
    if ended.returncode != 0:
        raise CannotMeasure(f'the planner ended with {ended.returncode}: {ended.stderr.strip()[-300:]}')
    return json.loads(ended.stdout)
