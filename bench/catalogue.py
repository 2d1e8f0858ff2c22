"""The catalogue with 10 million or another number of entries: loading, nights with few changes, and PostgreSQL's cost.

Each claim is a figure or a ratio of medians from one run of this script.
"""

import argparse
import importlib
import importlib.util
import json
import os
import shlex
import statistics
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import coverage
import machine
from measure import workspace
from processes import CannotMeasure, reap_orphans, timed
from relay import find_java
from row import print_rows
from table import markdown, spread

TOP = Path(__file__).resolve().parent.parent
JAR = TOP / 'service' / 'target' / 'dozo.jar'
HEAP = '512m'
CENTRE_ENTRIES = 482_977_782
OTHERS = ('crawl', 'plan', 'coverage')


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    entries: int
    files: int
    changed: int
    rounds: int
    pages: int

    def arguments(self):
        return f'{self.entries} {self.files} {self.changed} {self.rounds} {self.pages}'


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
        return f'{self.experiments} {self.entries} {self.rounds} {self.calls}'


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
        claims = Claims(options.short)
        figures = {}
        if not options.entries:
            size = SHORT if options.short else FULL
            figures |= run('CatalogueLoad.java', size, folder, options.limit or (300 if options.short else 3600))
            show_load(figures, claims)
            show_nights(figures, size, claims)
            show_pages(figures, claims)
        if options.entries or options.short:
            centre = chosen_centre(options)
            found = run('CatalogueCentre.java', centre, folder, options.limit or (300 if options.short else 14_400))
            show_centre(found, centre, claims)
            figures['centre'] = found
    shortfalls = claims.shortfalls
    if not options.entries:
        shortfalls += measure_others(options.short)
    if options.json:
        everything = {'machine': facts, 'figures': figures, 'claims': claims.made, 'shortfalls': shortfalls}
        Path(options.json).write_text(json.dumps(everything, indent=1) + '\n')
    return shortfalls, 'short: figures not judged' if options.short else ''


def measure_others(short):
    """Measures the crawl, the plan and the coverage, each in its own module with its own options."""
    shortfalls = []
    for name in filter(importlib.util.find_spec, OTHERS):
        print(f'\n## {name}\n')
        module = importlib.import_module(name)
        if hasattr(module, 'rows'):
            found = module.rows(short)
            print_rows(name, found)
            shortfalls += [f'{row.name}: {row.short}' for row in found if row.short]
        else:
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
    libraries = unpacked(folder / 'program')
    java = find_java()
    options = f'-Xmx{HEAP} -XX:+ExitOnOutOfMemoryError --enable-native-access=ALL-UNNAMED'
    source = shlex.quote(str(Path(__file__).with_name(program)))
    quiet = f'-Dlogback.configurationFile={shlex.quote(str(quiet_log(folder)))}'
    command = (
        f'{shlex.quote(java)} {options} {quiet} -cp {shlex.quote(str(libraries) + "/*")} {source}'
        f' {shlex.quote(str(folder))} {size.arguments()}'
    )
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


def unpacked(folder):
    """Unpacks the program's libraries once.

    The launcher is called first, so that the current sources are built and measured.
    """
    if folder.exists():
        return folder / 'lib'
    built = subprocess.run(
        [TOP / 'dozo', 'copy', '--help'], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900
    )
    if built.returncode != 0:
        raise CannotMeasure(f'dozo copy --help ends with {built.returncode}: {built.stderr.strip()[-300:]}')
    command = [find_java(), '-Djarmode=tools', '-jar', JAR, 'extract', '--destination', folder]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return folder / 'lib'


def quiet_log(folder):
    """Returns a log configuration that keeps standard output to figures only."""
    file = folder / 'logback.xml'
    file.write_text('<configuration><root level="OFF"/></configuration>\n')
    return file


class Claims:
    """The claims that must hold; the short form does not judge them."""

    def __init__(self, short):
        self.short = short
        self.made = []
        self.shortfalls = []

    def judge(self, what, value, at_most=None, at_least=None):
        if self.short:
            return
        holds = value <= at_most if at_most is not None else value >= at_least
        limit = f'<= {at_most:,}' if at_most is not None else f'>= {at_least:,}'
        self.made.append({'what': what, 'value': value, 'limit': limit})
        print(f'- {what}: **{value:,}**, must be {limit}: {"ok" if holds else "SHORT"}')
        if not holds:
            self.shortfalls.append(f'{what} {value:,}, must be {limit}')


def show_load(figures, claims):
    entries, seconds = map(float, figures['load'][0])
    all_entries, all_bytes, earlier, earlier_bytes = map(int, figures['bytes'][0])
    names = float(figures['names'][0][0])
    each = (all_bytes - earlier_bytes) / (all_entries - earlier)
    print(f'\n## loading\n\n{entries:,.0f} made-up entries, names of {names:.1f} bytes, in one experiment, heap {HEAP}.\n')
    rows = [[part, f'{int(size) / all_entries:.1f}'] for part, size in figures['part']]
    print(markdown(['part', 'bytes an entry'], rows), end='\n\n')
    print(f'{each:.0f} bytes an entry with everything: {each * CENTRE_ENTRIES / 1e9:.0f} GB for {CENTRE_ENTRIES:,} entries.\n')
    claims.judge('entries loaded a second', round(entries / seconds), at_least=100_000)
    claims.judge('bytes an entry', round(each), at_most=120)


def show_nights(figures, size, claims):
    times = {name: [float(values[0]) for values in figures[name]] for name in NIGHTS if figures[name]}
    print(f'\n## nights over {size.files:,} files, {size.changed:,} of them changed\n')
    print(markdown(['', 'seconds'], [[NIGHTS[name], spread(values)] for name, values in times.items()]), end='\n\n')
    middle = {name: statistics.median(values) for name, values in times.items()}
    claims.judge('changed night / walk', round(middle['second'] / middle['walk'], 2), at_most=1.2)
    claims.judge('rows written / changed files', max(map(rows_written, figures['rows'])) / size.changed, at_most=2)
    if 'find' in middle:
        claims.judge('find | psql / first night', round(middle['find'] / middle['first'], 2), at_least=2)
    else:
        print('- find | psql: not known, there is no psql here that can log in')


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


def show_pages(figures, claims):
    heads = ['ms', 'median', '99 %', 'longest']
    rows = [[PAGES[name], *(f'{float(value):.2f}' for value in figures[name][0])] for name in PAGES]
    print(f'\n## pages of 100 entries\n\n{markdown(heads, rows)}\n')
    for name, title in PAGES.items():
        claims.judge(f'{title}, 99 %, ms', round(float(figures[name][0][1]), 1), at_most=20)


PAGES = {'page': 'a manifest, anywhere', 'large-folder': 'a folder of 100,000, anywhere'}


def show_centre(figures, size, claims):
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
    claims.judge('entries loaded a second', round(entries / seconds), at_least=100_000)
    claims.judge('night without news, s', round(statistics.median(times['quiet']), 1), at_most=120)
    claims.judge('one changed file, s', round(statistics.median(times['changed']), 2), at_most=5)
    claims.judge('bytes an entry with receipts', round(each), at_most=140)
    slowest = max(figures['json'], key=lambda question: question['p99'])
    claims.judge(f'slowest question ({slowest["query"]}), 99 %, ms', slowest['p99'], at_most=coverage.P99_MS_MAX)
    claims.shortfalls += coverage.shortfalls(figures['json'], judge_times=False)


EACH = ('entry', 'directory', 'transfer_unit', 'receipt', 'stored')
