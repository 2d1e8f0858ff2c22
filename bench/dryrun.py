"""What `dozo copy --dry-run` forecasts beside what the copy then takes.

A relay simulates a link of 1 Gbit/s. At each distance the copies follow one another, and the forecast of each is made from those
before it.
"""

from copying import copy
from data import MB, even
from measure import workspace
from relay import Relay
from row import Row, at_least, teller
from server import Server
from table import markdown

ROUND_TRIPS_MS, ROUND_TRIPS_MS_SHORT = (0, 36), (36,)
# Name, files, bytes of each.
LARGE, SMALL, MORE = ('large files', 4, 150 * MB), ('100 kB files', 5_000, 100_000), ('twice as many large files', 8, 150 * MB)
COPIES = (LARGE, SMALL, LARGE, SMALL, MORE)
# Shorter copies are not kept for forecasts.
COPIES_SHORT = (('large files', 2, 150 * MB),) * 2
HELD_MIN = 0.75
say = teller('foresight')


def forecasts(work, short):
    """Prints the table; returns the rows."""
    lines = []
    held = []
    with workspace(work) as (data_folder, folder), Server(folder / 'dry-sshd') as server:
        for round_trip in ROUND_TRIPS_MS_SHORT if short else ROUND_TRIPS_MS:
            with Relay(round_trip, server.port) as relay:
                server.client_configuration(relay.port)
                caches = folder / f'caches-{round_trip}'
                for number, (name, files, size) in enumerate(COPIES_SHORT if short else COPIES, 1):
                    source = even(f'link-{files}-{size}', files, size, 1).make(data_folder)
                    target = folder / f'dry-{round_trip}-{number}'

                    def run(*options):
                        return copy(server, relay.port, source, target, target, *options, caches=caches)

                    said = run('--dry-run')[1]['dryRun']
                    seconds = run()[1]['seconds']
                    say(f'{name}, {round_trip} ms: {said}, {seconds} s')
                    if said['earlierCopies']:
                        held.append(said['secondsLow'] <= seconds <= said['secondsHigh'])
                    lines.append((f'{round_trip} ms', name, said['earlierCopies'], forecast(said), f'{seconds:.1f} s'))
    print(markdown(('round trip', 'copied', 'earlier copies', 'forecast', 'took'), lines), end='\n\n')
    if not held:
        return [Row('forecasts', '', 'none was made', 'none was made')]
    share = sum(held) / len(held)
    return [at_least('share of the forecasts whose range holds', share, HELD_MIN, f'{sum(held)} of {len(held)}', not short)]


def forecast(said):
    if not said['earlierCopies']:
        return f'at least {said["secondsMin"]:.1f} s at 1 Gbit/s'
    return f'{said["seconds"]:.1f} s ({said["secondsLow"]:.1f}–{said["secondsHigh"]:.1f} s)'
