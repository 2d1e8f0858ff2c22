"""The start time of the service: from the command to its first healthy answer."""

import os
import shutil
import statistics
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from processes import CannotMeasure, cpu_seconds, stop
from server import free_port
from table import markdown, spread

TOP = Path(__file__).resolve().parent.parent
JAR = TOP / 'service' / 'target' / 'dozo.jar'
APP = TOP / 'service' / 'target' / 'app'
START_LIMIT_SECONDS = 120
STOP_LIMIT_SECONDS = 60
LOOK_EVERY_SECONDS = 0.01

OPTIONS = ['-Xmx512m', '-XX:+ExitOnOutOfMemoryError']
OPTIONS += ['--enable-native-access=ALL-UNNAMED', '--sun-misc-unsafe-memory-access=allow']


@dataclass(frozen=True)
class Start:
    """One start; the CPU time is Java's until then, without its children (PostgreSQL)."""

    seconds: float
    cpu_seconds: float


def measure_start(rounds, folder):
    """Measures `rounds` starts of `./dozo serve` with an existing embedded database; `folder` is new or empty.

    An extra start before creates the database, and builds the program if necessary.
    """
    return measure_ways({'./dozo serve': [str(TOP / 'dozo'), 'serve']}, rounds, folder)['./dozo serve']


def ways():
    """Returns the commands that the launcher is compared with, by name."""
    java = Path(os.environ['JAVA_HOME'] if 'JAVA_HOME' in os.environ else java_home()) / 'bin' / 'java'
    plain = [str(java), *OPTIONS]
    return {
        'one jar': [*plain, '-jar', str(JAR), 'serve'],
        'jars side by side': [*plain, '-jar', str(APP / 'dozo.jar'), 'serve'],
        'the same with the AOT cache': [
            *plain, f'-XX:AOTCache={APP / "service.aot"}', '-jar', str(APP / 'dozo.jar'), 'serve'
        ],
        './dozo serve': [str(TOP / 'dozo'), 'serve'],
    }  # fmt: skip


def measure_ways(commands, rounds, folder):
    """Returns starts by command name. The commands take turns, so that a temporary load affects all of them."""
    work = Path(folder) / 'work'
    work.mkdir(mode=0o700, parents=True)
    once(next(iter(commands.values())), work)
    starts = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            starts[name].append(once(command, work))
    return starts


def once(command, work):
    port = free_port()
    environment = {
        **os.environ,
        'DOZO_WORK': str(work),
        'DOZO_HTTP_PORT': str(port),
        'DOZO_SCHEDULE_CRON': '-',
        'DOZO_SCRUB_WINDOW': '-',
    }
    log = Path(work).parent / 'service.log'
    with open(log, 'wb') as output:
        begun = time.monotonic()
        service = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            start_new_session=True,
        )
    try:
        while not is_well(port):
            if service.poll() is not None:
                raise CannotMeasure(f'the service ended: {log.read_text(errors="replace")[-500:]}')
            if time.monotonic() - begun > START_LIMIT_SECONDS:
                raise CannotMeasure(f'the service did not start within {START_LIMIT_SECONDS} s ({log})')
            time.sleep(LOOK_EVERY_SECONDS)
        return Start(time.monotonic() - begun, cpu_seconds(service.pid))
    finally:
        stop(service, STOP_LIMIT_SECONDS)


def is_well(port):
    try:
        with urllib.request.urlopen(f'http://127.0.0.1:{port}/actuator/health', timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def java_home():
    java = shutil.which('java')
    if java is None:
        raise CannotMeasure('there is no java on the PATH, and no JAVA_HOME')
    return Path(java).resolve().parent.parent


def median(starts):
    return statistics.median(start.seconds for start in starts)


def shown(starts_by_name):
    return markdown(
        ['started as', 'ready after s', 'processor s'],
        [
            [name, spread(start.seconds for start in starts), spread(start.cpu_seconds for start in starts)]
            for name, starts in starts_by_name.items()
        ],
    )


if __name__ == '__main__':
    import sys
    import tempfile

    with tempfile.TemporaryDirectory(prefix='dozo-bench-') as temporary:
        print(shown(measure_ways(ways(), int(sys.argv[1]) if len(sys.argv) > 1 else 5, Path(temporary) / 'start')))
