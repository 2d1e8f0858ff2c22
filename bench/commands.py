"""Commands against a running service: processor time and elapsed time of each, from the shell to its end.

The database is small: the figures are the start of a command, and one or two requests. Commands start with only those libraries that
they need; some that need others are run once, untimed.
"""

import os
import statistics
from dataclasses import dataclass

from made import NO_SCRUB
from measure import workspace
from processes import CannotMeasure, timed
from program import LAUNCHER, build
from row import at_most, shown
from server import Server
from service import Service
from table import spread

CPU_SECONDS_MAX = 0.3
SECONDS_MAX = 0.5
QUIET_LOAD_MAX = 0.5
ROUNDS, ROUNDS_SHORT = 15, 1
EXPERIMENTS = 20
LIMIT_SECONDS = 60

# Each command with its exit code.
COMMANDS = {
    '--version': 0,
    'help': 0,
    'status': 1,
    'experiments': 0,
    'coverage --json': 1,
    'no-such-word': 2,
}


# Commands that need libraries which most commands do not.
RARE = {
    'site add dr {user}@127.0.0.1:{site} --port {port} --identity {key} --host-key-file {host_key}': 0,
    'site check dr': 0,
    'run --wait': 1,  # the sources are empty, which is a finding
    'findings': 1,
    'forecast': 0,
    'plan --from-table {sizes} --hours "daily 06:00-20:00 closed"': 0,
    'copy --limit 10MB -P {port} -i {key} -o UserKnownHostsFile={known} {sizes} {user}@127.0.0.1:{site}/sizes': 0,
}


@dataclass(frozen=True)
class Times:
    """The times of one command, a value for each round."""

    cpu_seconds: list
    seconds: list


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='each command once: does it all work? times are not judged')
    parser.add_argument('--rounds', type=int, metavar='N', help=f'how often each command is started: {ROUNDS}')
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    rounds = options.rounds or (ROUNDS_SHORT if options.short else ROUNDS)
    with workspace(options.work) as (_, folder):
        build()
        with Service(folder / 'dozo', **NO_SCRUB) as service:
            fill(service, folder)
            load = os.getloadavg()[0]
            times = {words: Times([], []) for words in COMMANDS}
            # The commands take turns, so that a temporary load affects all of them.
            for _ in range(rounds):
                for words, code in COMMANDS.items():
                    once(service, words, code, times[words])
            with Server(folder / 'sshd') as server:
                rare(service, server, folder)
    rows = [row for words, each in times.items() for row in rows_of(words, each, options.short, load)]
    print(f'Each command {rounds} times; load average {load:.1f} before, {os.getloadavg()[0]:.1f} after\n')
    return shown('`./dozo`', rows), 'short: times not judged' if options.short else ''


def fill(service, folder):
    service.post('/projects', {'code': 'P1', 'title': 'Vision'})
    for number in range(EXPERIMENTS):
        source = folder / 'sources' / f'{number:03}'
        source.mkdir(parents=True)
        service.post('/experiments', {'project': 'P1', 'code': f'E{number:03}', 'source': str(source)})


def rare(service, server, folder):
    sizes = folder / 'sizes.csv'
    sizes.write_text('P1,1000000\n')
    (folder / 'site').mkdir()
    given = {
        'sizes': sizes,
        'host_key': folder / 'sshd/host_key.pub',
        'port': server.port,
        'key': server.key,
        'known': server.known_hosts,
        'user': server.user,
        'site': folder / 'site',
    }
    for words, code in RARE.items():
        once(service, words.format(**given), code, Times([], []))


def once(service, words, code, times):
    environment = {**service.environment, 'DOZO_URL': f'http://127.0.0.1:{service.port}'}
    with open(service.folder / 'command.log', 'w+b') as log:
        ended = timed(f"exec '{LAUNCHER}' {words}", LIMIT_SECONDS, log, log, environment)
        if ended.code != code:
            log.seek(0)
            raise CannotMeasure(f'dozo {words} ended with {ended.code}, not {code}: {log.read()[-500:].decode(errors="replace")}')
    times.cpu_seconds.append(ended.cpu_seconds)
    times.seconds.append(ended.seconds)


def rows_of(words, times, short, load):
    # The processor time hardly depends on the load; the elapsed time does, so it is judged on a quiet machine only.
    cpu, elapsed = times.cpu_seconds, times.seconds
    yield at_most(f'{words}: processor s', statistics.median(cpu), CPU_SECONDS_MAX, spread(cpu), not short)
    judged = not short and load <= QUIET_LOAD_MAX
    yield at_most(f'{words}: elapsed s', statistics.median(elapsed), SECONDS_MAX, spread(elapsed), judged)
