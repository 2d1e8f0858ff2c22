"""Forecasts of nights beside simulated outcomes, and the order by slack beside first-in-first-out.

NightsAhead.java simulates a site with Dozo's own planner and cost model. Run n has the seed n; the first run is judged.
"""

import json
import statistics
import subprocess
from pathlib import Path

from plan import CLASSES
from processes import CannotMeasure
from relay import find_java
from row import Row, at_least
from table import markdown, spread

WARM_UP = 5
NIGHTS = 20
NIGHT_RUNS, SHORT_RUNS = 200, 3
HELD_MIN = 16
RANGE = 0.8
BINS = 5

ORDER_RUNS = 20
DAYS = 14
GAIN_MIN = 1.3

TB = 1000**4
LIMIT_SECONDS = 600


def forecasts(short):
    """Prints the first run and the calibration; returns the rows."""
    runs = simulated('nights', SHORT_RUNS if short else NIGHT_RUNS, WARM_UP, NIGHTS)
    first = runs[0]
    heads = ('night', 'to send TB', 'sent by 06:00 TB', 'range', 'holds', 'all safe after h', 'range')
    print(f'\nRun {first["seed"]}, after {WARM_UP} nights that warm up:\n')
    print(markdown(heads, [night_line(number, night) for number, night in enumerate(first['nights'], 1)]))
    print(f'\nAll {len(runs)} runs, experiments by their probability of being safe by 06:00:\n')
    print(markdown(('forecast', 'mean', 'really', 'experiments'), calibration(runs)), end='\n\n')
    return forecast_rows(runs, not short)


def night_line(number, night):
    return (
        number,
        f'{night["bytes"] / TB:.2f}',
        f'{night["sent"] / TB:.2f}',
        '–'.join(f'{value / TB:.2f}' for value in night['range']),
        'yes' if holds(night) else 'no',
        hours(night['safe'], ''),
        '–'.join(hours(value, 'later') for value in night['safe_range']),
    )


def hours(seconds, otherwise):
    return otherwise if seconds is None else f'{seconds / 3600:.1f}'


def calibration(runs):
    bins = [[] for _ in range(BINS)]
    for probability, safe in (pair for run in runs for night in run['nights'] for pair in night['experiments']):
        bins[min(int(probability * BINS), BINS - 1)].append((probability, safe))
    return [
        (
            f'{number / BINS:.1f}–{(number + 1) / BINS:.1f}',
            f'{statistics.fmean(probability for probability, _ in pairs):.2f}',
            f'{statistics.fmean(safe for _, safe in pairs):.2f}',
            f'{len(pairs):,}',
        )
        for number, pairs in enumerate(bins)
        if pairs
    ]


def forecast_rows(runs, judged):
    held = [sum(map(holds, run['nights'])) for run in runs]
    nights = [night for run in runs for night in run['nights']]
    fitted = [night for night in nights if night['safe'] is not None]
    share = statistics.fmean(held) / NIGHTS
    below = statistics.fmean(night['sent'] < night['range'][0] for night in nights)
    in_time = statistics.fmean(map(safe_holds, fitted))
    enough = sum(each >= HELD_MIN for each in held)
    seed = runs[0]['seed']
    return [
        at_least(f'seed {seed}: nights of {NIGHTS} with bytes in the range', held[0], HELD_MIN, held[0], judged),
        at_least(
            f'{len(runs)} runs: share of such nights',
            share,
            RANGE,
            f'{share:.2f}; {below:.2f} below, {1 - share - below:.2f} above',
            judged,
        ),
        Row(f'runs with at least {HELD_MIN} such nights', '', f'{enough} of {len(runs)}'),
        Row(
            'nights in which everything fitted; the time is in its range',
            '',
            f'{len(fitted) / len(nights):.2f}; {in_time:.2f}',
        ),
    ]


def holds(night):
    low, _, high = night['range']
    return low <= night['sent'] <= high


def safe_holds(night):
    """Returns whether the time lies in its range; None is later than what was looked at."""
    low, _, high = night['safe_range']
    return low is not None and low <= night['safe'] and (high is None or night['safe'] <= high)


def order(short):
    """Returns the rows."""
    runs = simulated('order', SHORT_RUNS if short else ORDER_RUNS, DAYS)
    by_slack, plain = ([run[name][0] / run['all'][0] for run in runs] for name in ('by_slack', 'first_in_first_out'))
    gains = [ours / theirs for ours, theirs in zip(by_slack, plain)]
    gain = statistics.median(gains)
    bytes_by_slack, bytes_plain = ([run[name][1] / run['all'][1] for run in runs] for name in ('by_slack', 'first_in_first_out'))
    return [
        Row('experiments verified before their purge, by slack', '', spread(by_slack)),
        Row('first in, first out', '', spread(plain)),
        at_least(f'ratio, median of {len(runs)} seeds', gain, GAIN_MIN, spread(gains), not short),
        Row('bytes verified, by slack; first in, first out', '', f'{spread(bytes_by_slack)}; {spread(bytes_plain)}'),
    ]


def simulated(*arguments):
    """Returns the runs of NightsAhead.java."""
    listed = CLASSES.parent / 'test.classpath'
    if not (CLASSES / 'dozo' / 'plan').is_dir() or not listed.is_file():
        raise CannotMeasure('Dozo is not built: ./dozo --help builds it')
    program = Path(__file__).with_name('NightsAhead.java')
    command = [find_java(), '-XX:+UseSerialGC', '-cp', f'{CLASSES}:{listed.read_text().strip()}', program, *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    if ended.returncode != 0:
        raise CannotMeasure(f'the simulation ended with {ended.returncode}: {ended.stderr.strip()[-300:]}')
    return [json.loads(line) for line in ended.stdout.splitlines()]
