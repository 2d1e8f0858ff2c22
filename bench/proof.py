"""The proof of copies: damage that is found, names that survive, and the cost of verification.

Parts: `overlap` (verification compared with the transfer alone), `names` (awkward names reach the site and are
verified), `mutations` (seeded damage at the site is found, and nothing else), `scrub` (its rate compared with the
digest command's).
"""

import mutations
import names
import overlap
import scrubbing
from measure import workspace
from row import print_rows

PARTS = {'overlap': overlap, 'names': names, 'mutations': mutations, 'scrub': scrubbing}


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='little of everything: does it all work? rates are not judged')
    parser.add_argument('--only', metavar='PARTS', default=','.join(PARTS), help=f'of {",".join(PARTS)}')
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    chosen = options.only.split(',')
    unknown = set(chosen) - set(PARTS)
    if unknown:
        raise SystemExit(f'proof: no part is named {", ".join(sorted(unknown))}; there are {", ".join(PARTS)}')
    shortfalls = []
    with workspace(options.work) as (_, folder):
        for name in chosen:
            below = folder / name
            below.mkdir()
            rows = PARTS[name].rows(below, options.short)
            print_rows(name, rows)
            print()
            shortfalls += [f'{row.name}: {row.short}' for row in rows if row.short]
    return shortfalls, 'short: rates not judged' if options.short else ''
