"""A claimed figure and the measured one."""

from dataclasses import dataclass

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


def print_rows(subject, rows):
    heads = (subject, 'claimed', 'measured', 'short of it')
    print(markdown(heads, [(row.name, row.claimed, row.measured, row.short) for row in rows]), flush=True)
