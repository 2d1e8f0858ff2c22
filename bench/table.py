"""Markdown tables and medians."""

import statistics


def markdown(heads, rows):
    lines = [heads, ['---'] * len(heads), *rows]
    return '\n'.join('| ' + ' | '.join(str(cell).replace('|', '\\|') for cell in line) + ' |' for line in lines)


def spread(values, digits=2):
    """Returns the median (min–max); only the median if there is one value."""
    values = list(values)
    middle = f'{statistics.median(values):.{digits}f}'
    if len(values) == 1:
        return middle
    return f'{middle} ({min(values):.{digits}f}–{max(values):.{digits}f})'
