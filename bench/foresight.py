"""What a site's timetable and forecasts promise.

timetable: how exactly a limit is kept, and how soon a change and a closing take effect. A night sends large files to an
sshd on this machine. links: the share of a link's rate at several distances; see links.py. limits: what a run names as its
bottleneck, and the gain that it forecasts; see injected.py. dryrun: the forecasts of dry runs beside the copies; see dryrun.py.
tuning: what one run decides about its lanes; see tuned.py.
"""

import time
from datetime import datetime, timedelta

import dryrun
import injected
import links
import tuned
from arriving import CHANGE_SECONDS_MAX, Arrivals
from centre import Centre
from data import MB, even
from measure import workspace
from processes import CannotMeasure, wait_for
from row import Row, add_parts, at_most, chosen_parts, exactly, shown, teller
from server import Server
from service import LIMIT_SECONDS

say = teller('foresight')
LIMITS = (40 * MB, 80 * MB, 20 * MB)  # bytes a second, one after the other
SHORT_LIMITS = (4 * MB, 8 * MB, 2 * MB)
WINDOW_SECONDS, SHORT_WINDOW_SECONDS = 10, 1
WINDOWS = 3
ERROR_MAX = 0.03
FILES = 16


def add_options(parser):
    parser.add_argument(
        '--short', action='store_true', help='low limits and windows of a second: does it all work? not judged'
    )
    add_parts(parser, PARTS)
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    shortfalls = []
    for name in chosen_parts(options, PARTS):
        shortfalls += shown(name, PARTS[name](options.work, options.short))
    return shortfalls, 'short: not judged' if options.short else ''


def timetable(work, short):
    limits, window = (SHORT_LIMITS, SHORT_WINDOW_SECONDS) if short else (LIMITS, WINDOW_SECONDS)
    seconds = WINDOWS * window + 3 * CHANGE_SECONDS_MAX
    file_bytes = int(sum(limits) * seconds * 1.5) // FILES
    with workspace(work) as (data_folder, folder):
        source = even(f'hours-{file_bytes}', FILES, file_bytes, 1).make(data_folder)
        say(f'{FILES} files of {file_bytes // MB} MB')
        with Server(folder / 'sshd') as server, Centre(folder / 'centre', server) as centre, Arrivals(centre.site) as arrivals:
            centre.register([source])
            return measured(centre, arrivals, limits, window, not short)


PARTS = {
    'timetable': timetable,
    'links': links.rates,
    'limits': injected.found,
    'tuning': tuned.decisions,
    'dryrun': dryrun.forecasts,
}


def measured(centre, arrivals, limits, window, judged):
    service, rows = centre.service, []
    set_rules(service, f'daily 00:00-24:00 {limits[0]}')
    run = centre.start()
    wait_for(lambda: arrivals.bytes() > limits[0], LIMIT_SECONDS, 'the first second of sending')
    for i, limit in enumerate(limits):
        if i > 0:
            changed = time.monotonic()
            set_rules(service, f'daily 00:00-24:00 {limit}')
            took = arrivals.near(limit, changed)
            rows.append(at_most(f'from {limits[i - 1] // MB} to {limit // MB} MB/s, seconds', took, CHANGE_SECONDS_MAX, f'{took:.1f}', judged))
        rates = [arrivals.rate(window) for _ in range(WINDOWS)]
        measured_rates = ', '.join(f'{rate / MB:.2f}' for rate in rates)
        say(f'{limit // MB} MB/s: {measured_rates}')
        worst = max((abs(rate - limit) / limit for rate in rates))
        found = f'{100 * worst:.1f} %: {measured_rates} MB/s'
        rows.append(at_most(f'{limit // MB} MB/s over {window} s, error', worst, ERROR_MAX, found, judged))
    closed = time.monotonic()
    set_rules(service, closed_now())
    took = arrivals.last(closed)
    rows.append(at_most('closed: seconds until nothing arrives', took, CHANGE_SECONDS_MAX, f'{took:.1f}', judged))
    if service.get(f'/runs/{run["id"]}')['state'] != 'PAUSED':
        raise CannotMeasure('the run is not paused while its site is closed')
    opened, before = time.monotonic(), arrivals.bytes()
    set_rules(service)
    wait_for(lambda: arrivals.bytes() > before, LIMIT_SECONDS, 'the first bytes after the opening')
    rows.append(Row('open again: seconds until something arrives', '', f'{time.monotonic() - opened:.1f}'))
    service.complete(run)
    safe = service.get('/coverage?site=dr')['totals']['safe']
    rows.append(exactly('safe afterwards', 'yes' if safe else 'no', 'yes'))
    return rows


def set_rules(service, *rules):
    service.put('/sites/dr/timetable', {'rules': list(rules)})


def closed_now():
    now, hour = datetime.now(), timedelta(hours=1)
    return f'daily {now - hour:%H:%M}-{now + hour:%H:%M} closed'
