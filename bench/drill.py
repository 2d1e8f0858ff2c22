"""The forecast of a restore's time, learnt from drills: how far is it from the time of the next drill?

A service rehearses restores of unlike experiments, from few large files to many small ones, in a random order from a seed.
Each drill is compared with the forecast that the drills before it gave. The first few only teach.
"""

import random
import statistics

from data import GB, KB, MB, Data
from centre import Centre
from measure import workspace
from processes import CannotMeasure
from row import at_least, shown
from server import Server
from table import markdown

TAUGHT = 10  # drills before the first that is judged
JUDGED = 20
WITHIN = 0.2
SHARE_MIN = 0.9  # of the forecasts
SHORT_DRILLS = 8
FULL_BYTES, SHORT_BYTES = (20 * MB, GB), (100 * KB, MB)
FULL_FILES, SHORT_FILES = (2, 10_000), (2, 100)
FILES_A_FOLDER = 100


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='few small drills: does it all work? the forecast is not judged')
    parser.add_argument('--seed', type=int, default=1, help='of the sizes and the order (default 1)')
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    with workspace(options.work) as (_, folder):
        drills = drilled(folder, experiments(options))
    print(markdown(('drill', 'files', 'MB', 'seconds', 'forecast', 'error'), [line(drill) for drill in drills]))
    print()
    judged = [error(drill) for drill in drills if 'forecastSeconds' in drill][-JUDGED:]
    if not judged:
        raise CannotMeasure('no drill had a forecast')
    near = sum(abs(each) <= WITHIN for each in judged) / len(judged)
    measured = f'{near:.2f}; median error {100 * statistics.median(map(abs, judged)):.0f} %, largest {100 * max(map(abs, judged)):.0f} %'
    rows = [at_least(f'{len(judged)} forecasts, share within {100 * WITHIN:.0f} %', near, SHARE_MIN, measured, not options.short)]
    return shown('drill', rows), 'short: not judged' if options.short else ''


def experiments(options):
    """Returns the data of unlike experiments: bytes and files vary independently, on a logarithmic scale."""
    dice = random.Random(options.seed)
    count = SHORT_DRILLS if options.short else TAUGHT + JUDGED
    return [
        unlike(f'E{number:02}', dice, *((SHORT_BYTES, SHORT_FILES) if options.short else (FULL_BYTES, FULL_FILES)))
        for number in range(count)
    ]


def unlike(name, dice, sizes, counts):
    total, files = (round(low * (high / low) ** dice.random()) for low, high in (sizes, counts))
    each = max(1, total // files)
    folders = [FILES_A_FOLDER] * (files // FILES_A_FOLDER)
    if files % FILES_A_FOLDER:
        folders.append(files % FILES_A_FOLDER)
    return Data(name, ((files, max(1, each // 2), each * 3 // 2),), tuple(folders))


def drilled(folder, data):
    """Backs up the experiments, rehearses the restore of each, and returns the drills with their forecasts."""
    (folder / 'source').mkdir()
    with Server(folder / 'sshd') as server, Centre(folder / 'centre', server) as centre:
        centre.register([each.make(folder / 'source') for each in data])
        centre.night()
        for number in range(len(data)):
            rehearse(centre.service, f'E{number}')
        return centre.service.get('/drills/forecast?site=dr')['compared']


def rehearse(service, experiment):
    drill = service.post('/drills', {'project': 'P', 'experiment': experiment})['id']
    ended = service.over(f'/drills/{drill}')
    if ended['state'] != 'COMPLETE':
        raise CannotMeasure(f'drill {drill} of {experiment} ended {ended["state"]}: {ended["message"]}')


def error(drill):
    return drill['forecastSeconds'] / drill['seconds'] - 1


def line(drill):
    forecast = 'forecastSeconds' in drill
    return (
        drill['experiment'],
        f'{drill["entries"]:,}',
        f'{drill["bytes"] / MB:.1f}',
        f'{drill["seconds"]:.2f}',
        f'{drill["forecastSeconds"]:.2f}' if forecast else '–',
        f'{100 * error(drill):+.0f} %' if forecast else '–',
    )
