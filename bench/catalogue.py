"""The catalogue with 10 million or another number of entries: loading, nights with few changes, and PostgreSQL's cost.

Each claim is a figure or a ratio of medians from one run of this script.
"""

import argparse
import json
import os
import shlex
import statistics
import sys
from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import coverage
import crawl
import machine
import plan
from measure import workspace
from processes import CannotMeasure, reap_orphans, timed
from program import LIBRARIES, build, java
from row import Row, at_least, at_most, shown
from table import markdown, spread

HEAP = '512m'
CENTRE_ENTRIES = 482_977_782


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    entries: int
    files: int
    changed: int
    rounds: int
    pages: int

    def arguments(self):
        return self.entries, self.files, self.changed, self.rounds, self.pages


FULL = Size(10_000_000, 1_000_000, 1_000, 3, 1_000)
SHORT = Size(100_000, 10_000, 100, 1, 100)


@dataclass(frozen=True)
class Centre:
    """A whole centre without files: how much is reported, and how often each query is made."""

    experiments: int
    entries: int
    rounds: int
    calls: int

    def arguments(self):
        return self.experiments, self.entries, self.rounds, self.calls


FULL_CENTRE = Centre(20_000, 0, 3, 1_000)
SHORT_CENTRE = Centre(200, 100_000, 1, 20)


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='little of everything: does it all work?')
    parser.add_argument(
        '--entries', type=int, metavar='N', help='only a whole centre, with so many entries that are told without files'
    )
    parser.add_argument('--experiments', type=int, metavar='N', help=f'of these entries: {FULL_CENTRE.experiments}')
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')
    parser.add_argument('--json', metavar='FILE', help='every figure, for machines')
    parser.add_argument('--limit', type=int, metavar='SECONDS', help='default: 3600, --short 300, --entries 14400')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    with workspace(options.work) as (_, folder):
        facts = machine.facts(folder)
        print('# catalogue\n')
        print(markdown(['machine', ''], facts.items()), end='\n\n')
        rows, figures, scans = [], {}, []
        if not options.entries:
            size = SHORT if options.short else FULL
            figures |= run('CatalogueLoad.java', size, folder, options.limit or (300 if options.short else 3600))
            rows += [*load_rows(figures), *night_rows(figures, size), *page_rows(figures)]
        if options.entries or options.short:
            centre = chosen_centre(options)
            found = run('CatalogueCentre.java', centre, folder, options.limit or (300 if options.short else 14_400))
            rows += centre_rows(found, centre)
            scans = coverage.shortfalls(found['json'], judge_times=False)
            figures['centre'] = found
    if options.short:
        rows = [replace(row, short='') for row in rows]
    shortfalls = shown('catalogue', rows) + scans
    if not options.entries:
        shortfalls += measure_others(options.short)
    if options.json:
        everything = {'machine': facts, 'figures': figures, 'claims': list(map(asdict, rows)), 'shortfalls': shortfalls}
        Path(options.json).write_text(json.dumps(everything, indent=1) + '\n')
    return shortfalls, 'short: figures not judged' if options.short else ''


def measure_others(short):
    """Measures the plan, the crawl and the coverage, the last two with their own options."""
    print('\n## plan\n')
    shortfalls = shown('planner', plan.rows(short))
    for module in (crawl, coverage):
        print(f'\n## {module.__name__}\n')
        parser = argparse.ArgumentParser()
        module.add_options(parser)
        shortfalls += module.measure(parser.parse_args(['--short'] if short else []))[0]
    return shortfalls


def chosen_centre(options):
    size = SHORT_CENTRE if options.short else FULL_CENTRE
    given = {name: getattr(options, name) for name in ('entries', 'experiments') if getattr(options, name)}
    return replace(size, **given)


def run(program, size, folder, limit_seconds):
    """Returns figures by name: for each printed line a list of values; JSON lines under the name `json`."""
    build()
    options = (f'-Xmx{HEAP}', '-XX:+ExitOnOutOfMemoryError', '--enable-native-access=ALL-UNNAMED')
    quiet = f'-Dlogback.configurationFile={quiet_log(folder)}'
    command = shlex.join(java(f'{LIBRARIES}/*', program, folder, *size.arguments(), options=(*options, quiet)))
    print(f'measuring {size}', file=sys.stderr, flush=True)
    output, errors = folder / 'output', folder / 'errors'
    ended = None
    try:
        with open(output, 'wb') as out, open(errors, 'wb') as err:
            ended = timed(command, limit_seconds, out, err, dict(os.environ))
    finally:
        reap_orphans(set(), ended and ended.session)
    if ended.code != 0:
        words = errors.read_text(errors='replace').strip()[-2_000:] or 'no word'
        raise CannotMeasure(f'{program} ended with {ended.code}: {words}')
    figures = defaultdict(list)
    for line in output.read_text().splitlines():
        if line.startswith('{'):
            figures['json'].append(json.loads(line))
        else:
            name, *values = line.split()
            figures[name].append(values)
    return figures


def quiet_log(folder):
    """Returns a log configuration that keeps standard output to figures only."""
    file = folder / 'logback.xml'
    file.write_text('<configuration><root level="OFF"/></configuration>\n')
    return file


def most(name, value, limit):
    return at_most(name, value, limit, f'{value:,}', True)


def least(name, value, limit):
    return at_least(name, value, limit, f'{value:,}', True)


def load_rows(figures):
    entries, seconds = map(float, figures['load'][0])
    all_entries, all_bytes, earlier, earlier_bytes = map(int, figures['bytes'][0])
    names = float(figures['names'][0][0])
    each = (all_bytes - earlier_bytes) / (all_entries - earlier)
    print(f'\n## loading\n\n{entries:,.0f} made-up entries, names of {names:.1f} bytes, in one experiment, heap {HEAP}.\n')
    rows = [[part, f'{int(size) / all_entries:.1f}'] for part, size in figures['part']]
    print(markdown(['part', 'bytes an entry'], rows), end='\n\n')
    print(f'{each:.0f} bytes an entry with everything: {each * CENTRE_ENTRIES / 1e9:.0f} GB for {CENTRE_ENTRIES:,} entries.\n')
    return [least('entries loaded a second', round(entries / seconds), 100_000), most('bytes an entry', round(each), 120)]


def night_rows(figures, size):
    times = {name: [float(values[0]) for values in figures[name]] for name in NIGHTS if figures[name]}
    print(f'\n## nights over {size.files:,} files, {size.changed:,} of them changed\n')
    print(markdown(['', 'seconds'], [[NIGHTS[name], spread(values)] for name, values in times.items()]), end='\n\n')
    middle = {name: statistics.median(values) for name, values in times.items()}
    find = 'find and psql / first night'
    return [
        most('changed night / walk', round(middle['second'] / middle['walk'], 2), 1.2),
        most('rows written / changed files', max(map(rows_written, figures['rows'])) / size.changed, 2),
        least(find, round(middle['find'] / middle['first'], 2), 2) if 'find' in middle else Row(find, '≥ 2', 'not known: no psql can log in'),
    ]


NIGHTS = {
    'walk': 'walk alone',
    'find': 'find -printf into psql, no index',
    'first': 'first night: walk, load, seal',
    'second': 'changed night: walk, compare, seal',
    'quiet': 'night without changes',
}


def rows_written(values):
    """Returns the sum of new entries and ended earlier ones."""
    return sum(map(int, values))


def page_rows(figures):
    heads = ['ms', 'median', '99 %', 'longest']
    rows = [[PAGES[name], *(f'{float(value):.2f}' for value in figures[name][0])] for name in PAGES]
    print(f'\n## pages of 100 entries\n\n{markdown(heads, rows)}\n')
    return [most(f'{title}, 99 %, ms', round(float(figures[name][0][1]), 1), 20) for name, title in PAGES.items()]


PAGES = {'page': 'a manifest, anywhere', 'large-folder': 'a folder of 100,000, anywhere'}


def centre_rows(figures, size):
    entries, seconds = int(figures['load'][0][0]), float(figures['load'][0][1])
    parts = {part: int(bytes_) for part, bytes_ in figures['part']}
    each = sum(parts[part] for part in EACH) / entries
    print(f'\n## a centre of {size.experiments:,} experiments with {entries:,} entries\n')
    print(f'Told without files, names of {float(figures["names"][0][0]):.1f} bytes, four looks side by side, heap {HEAP}.\n')
    print(markdown(['part', 'bytes an entry'], [[part, f'{bytes_ / entries:.1f}'] for part, bytes_ in parts.items()]), end='\n\n')
    print(f'The database takes {int(figures["database"][0][0]) / 1e9:.1f} GB.\n')
    times = {name: [float(values[0]) for values in figures[name]] for name in ('receipts', 'quiet', 'changed')}
    rows = [['first night, nothing sent', f'{seconds:.1f}'], ['receipts of all, made up', spread(times['receipts'])]]
    rows += [['a night without news', spread(times['quiet'])]]
    rows += [['one changed file, in the largest experiment', spread(times['changed'])]]
    print(markdown(['', 'seconds'], rows), end='\n\n')
    print(coverage.questions(figures['json']))
    slowest = max(figures['json'], key=lambda question: question['p99'])
    return [
        least('a centre: entries loaded a second', round(entries / seconds), 100_000),
        most('night without news, s', round(statistics.median(times['quiet']), 1), 120),
        most('one changed file, s', round(statistics.median(times['changed']), 2), 5),
        most('bytes an entry with receipts', round(each), 140),
        most(f'slowest question ({slowest["query"]}), 99 %, ms', slowest['p99'], coverage.P99_MS_MAX),
    ]


EACH = ('entry', 'directory', 'transfer_unit', 'receipt', 'stored')
