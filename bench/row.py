"""A claimed figure and the measured one, and parts of a bench that return such rows."""

import sys
import time
from dataclasses import dataclass

from processes import CannotMeasure
from table import markdown


@dataclass(frozen=True)
class Row:
    """A figure; `short` is the shortfall, empty if there is none or nothing is claimed."""

    name: str
    claimed: str
    measured: str
    short: str = ''


def at_most(name, value, limit, measured, judged):
    """Returns a row with an upper limit; the limit applies only if `judged`."""
    return Row(name, f'≤ {limit}', measured, f'{value:.3f}' if judged and value > limit else '')


def at_least(name, value, limit, measured, judged):
    return Row(name, f'≥ {limit}', measured, f'{value:.3f}' if judged and value < limit else '')


def exactly(name, value, claimed, what=''):
    """Returns a row of a value that must be this one, however fast the machine is."""
    return Row(name, str(claimed), f'{value} {what}'.strip(), '' if value == claimed else str(value))


def shown(subject, rows):
    """Prints the rows; returns the shortfalls."""
    heads = (subject, 'claimed', 'measured', 'short of it')
    print(markdown(heads, [(row.name, row.claimed, row.measured, row.short) for row in rows]), end='\n\n', flush=True)
    return [f'{row.name}: {row.short}' for row in rows if row.short]


def add_parts(parser, parts, default=None):
    parser.add_argument('--only', metavar='PARTS', default=','.join(default or parts), help=f'of {",".join(parts)}; default: %(default)s')


def chosen_parts(options, parts):
    """Returns the names of the parts to measure."""
    chosen = options.only.split(',')
    if unknown := [name for name in chosen if name not in parts]:
        raise CannotMeasure(f'no part is named {unknown[0]}; there are {", ".join(parts)}')
    return chosen


def teller(name):
    """Returns a function that prints progress."""
    return lambda what: print(f'{name}: {what}', file=sys.stderr, flush=True)


class Transcript:
    """Steps with their times, and `rows` of what was expected of them."""

    def __init__(self):
        self.started = time.monotonic()
        self.rows = []

    def tell(self, what):
        print(f'{time.monotonic() - self.started:6.0f} s  {what}', flush=True)

    def expect(self, name, claimed, measured, good):
        self.rows.append(Row(name, claimed, str(measured), '' if good else str(measured)))


def share_done(run):
    """Returns the share of a run's bytes that are at the site."""
    progress = run.get('progress', {})
    return progress.get('bytesDone', 0) / (progress.get('bytes') or 1)
