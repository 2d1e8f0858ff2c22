"""Workers on other machines: how the rate of sending, and a whole night, grow with them.

The service and each worker are in network namespaces of their own, from which everything leaves through a queue of the same rate.
The site is in one more. The service counts as one of the processes. Needs root, iproute2 and a kernel with tbf.
"""

import os
import signal
import statistics
import subprocess
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from centre import Centre, make
from measure import workspace
from namespaces import SITE, Network, in_own_network, inside
from processes import TICKS, CannotMeasure, begin, cpu_seconds, stat, stop, wait_for
from program import LAUNCHER
from relay import Forward
from row import Row, at_least, at_most, shown
from server import Server, free_port
from table import spread

# The links are slow, so the usual number of units under way would be the work of half a minute.
FEW = {'DOZO_TRANSFER_CHUNK': '1'}
SENDING_MIN = {2: 1.9, 4: 3.6}
NIGHT_MIN = 3.2
NOTICES_MAX = 0.01
# Of one processor.
IDLE_MAX = 0.01
# The beginnings of the names of threads that send and receive notices; those of pools have other work as well.
NOTICE_THREADS = ('notices', 'container-', 'AMQP ', 'pool-')
LIMIT_SECONDS = 600
BROKERS = ('/usr/lib/rabbitmq/bin/rabbitmq-server', '/usr/sbin/rabbitmq-server')
# The rate is that between these shares of the bytes: begin and end are those of the night.
MIDDLE = (0.1, 0.9)


@dataclass(frozen=True)
class Size:
    """`large` files of 4 MB in one night to send, and `experiments` of `files` small ones in a whole night.

    `units` of one tiny file each, for the cost of notices; `idle_seconds` without a run, for that of workers.
    """

    bytes_per_second: int
    large: int
    experiments: int
    files: int
    processes: tuple
    rounds: int
    units: int
    idle_seconds: int


FULL = Size(1_000_000, 96, 400, 6, (1, 2, 4), 2, 100_000, 60)
SHORT = Size(2_500_000, 4, 8, 6, (1, 2), 1, 500, 2)


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='little of everything: does it all work? figures are not judged')
    parser.add_argument('--rounds', type=int, metavar='N', help=f'nights with each number of processes: {FULL.rounds}')
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    in_own_network([LAUNCHER, 'version'])
    size = SHORT if options.short else FULL
    with ExitStack() as open_now:
        _, folder = open_now.enter_context(workspace(options.work))
        network = open_now.enter_context(Network(size.bytes_per_second, max(size.processes) - 1))
        server = open_now.enter_context(Server(folder / 'sshd', address=SITE, inside=network.site))
        broker = open_now.enter_context(Broker(folder / 'broker', network.address(0)))
        rows = [notices(folder, server, broker, size, not options.short)]
        centre = open_now.enter_context(Centre(folder / 'centre', server, DOZO_BROKER_URL=broker.url, **FEW))
        rows += compared(folder, centre, network, broker, size, options.rounds or size.rounds, open_now, not options.short)
    return shown('processes', rows), f'load at the end {os.getloadavg()[0]:.1f}'


@dataclass(frozen=True)
class Night:
    """The rate of sending in bytes a second, the seconds, the service's processor seconds, and processors that the machine used."""

    rate: float
    seconds: float
    cpu_seconds: float
    processors: float


class Broker:
    """A RabbitMQ server for a `with` block, at an address that workers reach."""

    def __init__(self, folder, address):
        program = next((each for each in BROKERS if Path(each).exists()), None)
        if not program:
            raise CannotMeasure('rabbitmq-server is missing (package rabbitmq-server)')
        self.program = program
        self.folder = folder
        self.port = free_port()
        self.url = f'amqp://{address}:{self.port}'
        self.environment = {
            **os.environ,
            'HOME': str(folder),
            'ERL_EPMD_PORT': str(free_port()),
            'RABBITMQ_NODENAME': 'bench@localhost',
            'RABBITMQ_NODE_PORT': str(self.port),
            'RABBITMQ_DIST_PORT': str(free_port()),
            'RABBITMQ_MNESIA_BASE': str(folder / 'db'),
            'RABBITMQ_LOG_BASE': str(folder / 'log'),
            'RABBITMQ_ENABLED_PLUGINS_FILE': str(folder / 'plugins'),
            'RABBITMQ_CONFIG_FILE': str(folder / 'rabbitmq'),
        }

    def __enter__(self):
        self.folder.mkdir()
        # The default user may otherwise come from this machine only.
        (self.folder / 'rabbitmq.conf').write_text('loopback_users = none\n')
        self.start()
        return self

    def start(self):
        self.process = begin([self.program], self.folder / 'output', cwd=self.folder, env=self.environment)
        wait_for(self.is_ready, LIMIT_SECONDS, f'the broker ({self.folder / "output"})')

    def kill(self):
        """Ends it without a warning."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(LIMIT_SECONDS)

    def is_ready(self):
        told = (self.folder / 'output').read_text(errors='replace')
        if self.process.poll() is not None:
            raise CannotMeasure(f'the broker ended: {told[-500:]}')
        return 'completed with' in told

    def __exit__(self, *_):
        stop(self.process)
        subprocess.run(['epmd', '-kill'], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Worker:
    """`dozo worker` for a `with` block. `before`: words before the command, which run it in a namespace."""

    def __init__(self, folder, before, settings):
        self.environment = {**os.environ, 'DOZO_WORK': str(folder), **settings}
        self.before = before
        self.log = folder.with_suffix('.log')

    def __enter__(self):
        self.process = begin([*self.before, LAUNCHER, 'worker'], self.log, env=self.environment)
        wait_for(self.is_ready, LIMIT_SECONDS, f'a worker ({self.log})')
        return self

    def is_ready(self):
        if self.process.poll() is not None:
            raise CannotMeasure(f'a worker ended: {self.said()[-500:]}')
        return 'waits for work' in self.said()

    def said(self):
        return self.log.read_text(errors='replace')

    def __exit__(self, *_):
        stop(self.process, LIMIT_SECONDS)


def notices(folder, server, broker, size, judged):
    """Returns the processor time for the notices of a run of many units, of the time of the run."""
    settings = {'DOZO_BROKER_URL': broker.url, 'DOZO_TRANSFER_BUNDLE_ENTRIES': '1'}
    with Centre(folder / 'units-centre', server, **settings) as centre:
        centre.register(make(folder / 'units', 10, size.units // 10, 1, 100))
        before = thread_seconds(centre.service.process.pid)
        took = centre.night()
        after = thread_seconds(centre.service.process.pid)
    told, all_of_it = (now - then for now, then in zip(after, before))
    row = f'notices of {size.units} units: processor seconds in a second of the run'
    measured = f'{told / took:.4f}: {told:.2f} s in {took:.1f} s; the service took {all_of_it:.1f} s'
    return at_most(row, told / took, NOTICES_MAX, measured, judged)


def thread_seconds(pid):
    """Returns the processor seconds of a process in threads that only (or also) serve notices, and in all that exist or existed."""
    told = 0
    for thread in Path(f'/proc/{pid}/task').iterdir():
        try:
            fields, name = stat(f'{pid}/task/{thread.name}')
        except (FileNotFoundError, ProcessLookupError):
            continue  # ended meanwhile
        if name.startswith(NOTICE_THREADS):
            told += sum(int(field) for field in fields[11:13]) / TICKS
    return told, cpu_seconds(pid)


def idle(centre, workers, seconds, judged):
    """Measures what workers cost without a run: one of them, and what the service and its database need for all of them."""
    before = [centre.cpu_seconds(), *(cpu_seconds(each.process.pid) for each in workers)]
    time.sleep(seconds)
    service, *each = (now - then for now, then in zip([centre.cpu_seconds(), *(cpu_seconds(w.process.pid) for w in workers)], before))
    if not workers:
        return [Row('without workers and without a run: processors of the service and its database', '', f'{service / seconds:.4f}')]
    worst = max(each) / seconds
    return [
        Row(f'beside {len(workers)} idle workers: the same', '', f'{service / seconds:.4f}'),
        at_most('an idle worker: processors', worst, IDLE_MAX, f'{worst:.4f}', judged),
    ]


def compared(folder, centre, network, broker, size, rounds, workers, judged):
    # The service's database listens on loopback only.
    database = workers.enter_context(Forward(centre.database_port(), network.address(0))).port
    settings = {
        'DOZO_DB_URL': f'jdbc:postgresql://{network.address(0)}:{database}/postgres',
        'DOZO_DB_USER': 'dozo',
        'DOZO_DB_PASSWORD_FILE': str(centre.database / 'service-password'),
        'DOZO_BROKER_URL': broker.url,
        **FEW,
    }
    sending, whole = {}, {}
    rows = idle(centre, [], size.idle_seconds, judged)
    running = []
    for processes in size.processes:
        for number in range(len(running) + 1, processes):
            before = inside(network.names[number - 1])
            running.append(workers.enter_context(Worker(centre.folder / f'worker-{number}', before, settings)))
        night(centre, network, make(folder / f'warm-{processes}', 4 * processes, 20, 20_000, 40_000))
        for turn in range(rounds):
            name = f'{processes}-{turn}'
            large = make(folder / f'large-{name}', size.large // 4, 4, 4_000_000, 4_000_000)
            sending.setdefault(processes, []).append(night(centre, network, large))
            small = make(folder / f'small-{name}', size.experiments, size.files, 20_000, 200_000)
            whole.setdefault(processes, []).append(night(centre, network, small))
    return rows + idle(centre, running, size.idle_seconds, judged) + list(rows_of(size, sending, whole, judged))


def rows_of(size, sending, whole, judged):
    alone = statistics.median(each.seconds for each in whole[1])
    gb = size.large * 4e6 / 1e9
    for processes in size.processes:
        rates = [each.rate / size.bytes_per_second for each in sending[processes]]
        row = f'{processes}: rate of sending, in rates of one link'
        yield at_least(row, statistics.median(rates), SENDING_MIN.get(processes, 0), spread(rates), judged)
        yield Row(f'{processes}: processor seconds of the service and its database for 1 GB in all', '', spread([each.cpu_seconds / gb for each in sending[processes]], 1))
        nights = whole[processes]
        times = alone / statistics.median(each.seconds for each in nights)
        row = f'{processes}: a night of {size.experiments} experiments'
        measured = f'{spread([each.seconds for each in nights], 1)} s, {times:.2f} × as fast as alone'
        yield at_least(row, times, NIGHT_MIN if processes == 4 else 0, measured, judged)
        used = spread([each.processors for each in nights])
        yield Row(f'{processes}: processors in this night, of all {os.cpu_count()} of this machine', '', used)


def night(centre, network, sources):
    """Runs a night of these new experiments."""
    centre.register(sources)
    before, machine = centre.cpu_seconds(), busy_seconds()
    samples = [(time.monotonic(), network.arrived_bytes())]
    ended = threading.Event()

    def sample():
        while not ended.wait(0.1):
            samples.append((time.monotonic(), network.arrived_bytes()))

    watch = threading.Thread(target=sample)
    watch.start()
    try:
        took = centre.night()
    finally:
        ended.set()
        watch.join()
    first, last = samples[0][1], samples[-1][1]
    low, high = (next(at for at, seen in samples if seen - first >= share * (last - first)) for share in MIDDLE)
    rate = (MIDDLE[1] - MIDDLE[0]) * (last - first) / max(0.1, high - low)
    return Night(rate, took, centre.cpu_seconds() - before, (busy_seconds() - machine) / took)


def busy_seconds():
    """Returns the processor seconds of everything on this machine since its start."""
    user, nice, system, _, _, interrupts, soft, *_ = map(int, Path('/proc/stat').read_text().split('\n')[0].split()[1:])
    return (user + nice + system + interrupts + soft) / TICKS
