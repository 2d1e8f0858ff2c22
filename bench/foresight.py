"""What a site's timetable, its forecasts and its order of sending promise.

timetable: how exactly a limit is kept, and how soon a change and a closing take effect. A night sends large files to an
sshd on this machine. links: the share of a link's rate at several distances; see links.py. limits: what a run names as its
bottleneck, and the gain that it forecasts; see injected.py. nights and order:
simulations, without files or a service; see nights.py. copy: the first copy of a centre, night by night; see firstcopy.py.
qos: a copy beside UDP load, with and without priority; see qos.py. dryrun:
the forecasts of dry runs beside the copies; see dryrun.py. tuning: what one run decides about its lanes; see tuned.py.
yielding: a researcher beside a run by day; see yielding.py.
"""

import sys
import time
from datetime import datetime, timedelta

import dryrun
import firstcopy
import injected
import links
import nights
import qos
import tuned
import yielding
from arriving import CHANGE_SECONDS_MAX, Arrivals
from data import MB, even
from measure import workspace
from mutations import LIMIT_SECONDS
from processes import CannotMeasure, wait_for
from row import Row, at_most, print_rows
from server import Server
from service import Service

LIMITS = (40 * MB, 80 * MB, 20 * MB)  # bytes a second, one after the other
SHORT_LIMITS = (4 * MB, 8 * MB, 2 * MB)
WINDOW_SECONDS, SHORT_WINDOW_SECONDS = 10, 1
WINDOWS = 3
ERROR_MAX = 0.03
FILES = 16


def add_options(parser):
    parser.add_argument(
        '--short', action='store_true', help='low limits, windows of a second and few seeds: does it all work? not judged'
    )
    parser.add_argument('--table', metavar='FILE', help='sizes for the part copy, as dozo plan takes them; default: a centre of 925 TB')
    rate = 'rate of the link of the part qos, in Mbit/s; default: %(default)s'
    parser.add_argument('--megabits', metavar='N', type=int, default=qos.MEGABITS, help=rate)
    parser.add_argument('--picture', metavar='FILE', help='where the part copy draws its nights, or qos its rates (SVG)')
    parser.add_argument('--only', metavar='PARTS', default=','.join(PARTS), help=f'of {",".join(PARTS)}')
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    chosen = options.only.split(',')
    unknown = set(chosen) - set(PARTS)
    if unknown:
        raise SystemExit(f'foresight: no part is named {", ".join(sorted(unknown))}; there are {", ".join(PARTS)}')
    if options.picture and {'copy', 'qos'} <= set(chosen):
        raise SystemExit('foresight: --picture is for one part: --only copy or --only qos')
    shortfalls = []
    for name in chosen:
        rows = PARTS[name](options)
        print_rows(name, rows)
        print()
        shortfalls += [f'{row.name}: {row.short}' for row in rows if row.short]
    return shortfalls, 'short: not judged' if options.short else ''


def timetable(options):
    limits, window = (SHORT_LIMITS, SHORT_WINDOW_SECONDS) if options.short else (LIMITS, WINDOW_SECONDS)
    seconds = WINDOWS * window + 3 * CHANGE_SECONDS_MAX
    file_bytes = int(sum(limits) * seconds * 1.5) // FILES
    with workspace(options.work) as (data_folder, folder):
        source = even(f'hours-{file_bytes}', FILES, file_bytes, 1).make(data_folder)
        say(f'{FILES} files of {file_bytes // MB} MB')
        return measured(folder, source, limits, window, not options.short)


PARTS = {
    'timetable': timetable,
    'links': lambda options: links.rates(options.work, options.short),
    'limits': lambda options: injected.found(options.work, options.short),
    'nights': lambda options: nights.forecasts(options.short),
    'order': lambda options: nights.order(options.short),
    'yielding': lambda options: yielding.compare(options.work, options.short),
    'copy': lambda options: firstcopy.forecast(options.table, options.picture),
    'qos': lambda options: qos.rates(options.work, options.short, options.megabits, options.picture),
    'tuning': lambda options: tuned.decisions(options.work, options.short),
    'dryrun': lambda options: dryrun.forecasts(options.work, options.short),
}


def measured(folder, source, limits, window, judged):
    (folder / 'site').mkdir()
    rows = []
    with Server(folder / 'sshd') as server, Service(folder / 'dozo') as service, Arrivals(folder / 'site') as arrivals:
        service.add_site(server, folder / 'site')
        service.post('/projects', {'code': 'p'})
        service.post('/experiments', {'project': 'p', 'code': 'E', 'source': str(source)})
        set_rules(service, f'daily 00:00-24:00 {limits[0]}')
        run = service.post('/runs', {})
        wait_for(lambda: arrivals.bytes() > limits[0], LIMIT_SECONDS, 'the first second of sending')
        for i, limit in enumerate(limits):
            if i > 0:
                changed = time.monotonic()
                set_rules(service, f'daily 00:00-24:00 {limit}')
                took = arrivals.near(limit, changed)
                rows.append(
                    at_most(f'from {limits[i - 1] // MB} to {limit // MB} MB/s, seconds', took, CHANGE_SECONDS_MAX, f'{took:.1f}', judged)
                )
            rates = [arrivals.rate(window) for _ in range(WINDOWS)]
            say(f'{limit // MB} MB/s: {", ".join(f"{rate / MB:.2f}" for rate in rates)}')
            worst = max((abs(rate - limit) / limit for rate in rates))
            measured_rates = ', '.join(f'{rate / MB:.2f}' for rate in rates)
            rows.append(
                at_most(
                    f'{limit // MB} MB/s over {window} s, error',
                    worst,
                    ERROR_MAX,
                    f'{100 * worst:.1f} %: {measured_rates} MB/s',
                    judged,
                )
            )
        closed = time.monotonic()
        set_rules(service, closed_now())
        took = arrivals.last(closed)
        rows.append(at_most('closed: seconds until nothing arrives', took, CHANGE_SECONDS_MAX, f'{took:.1f}', judged))
        if service.get(f'/runs/{run["id"]}')['state'] != 'PAUSED':
            raise CannotMeasure('the run is not paused while its site is closed')
        opened, before = time.monotonic(), arrivals.bytes()
        set_rules(service)
        wait_for(lambda: arrivals.bytes() > before, LIMIT_SECONDS, 'the first bytes after the opening')
        took = time.monotonic() - opened
        rows.append(Row('open again: seconds until something arrives', '', f'{took:.1f}'))
        service.ended(run, LIMIT_SECONDS)
        safe = service.get('/coverage?site=dr')['totals']['safe']
        rows.append(Row('safe afterwards', 'yes', 'yes' if safe else 'no', '' if safe else 'not safe'))
    return rows


def set_rules(service, *rules):
    service.put('/sites/dr/timetable', {'rules': list(rules)})


def closed_now():
    now, hour = datetime.now(), timedelta(hours=1)
    return f'daily {now - hour:%H:%M}-{now + hour:%H:%M} closed'


def say(what):
    print(f'foresight: {what}', file=sys.stderr, flush=True)
