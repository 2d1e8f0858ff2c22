"""Workers on other machines: how the rate of sending, and a whole night, grow with them.

The service and each worker are in network namespaces of their own, from which everything leaves through a queue of the same rate.
The site is in one more. The service counts as one of the processes. Needs root, iproute2 and a kernel with tbf.
"""

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from centre import Centre, make
from measure import workspace
from namespaces import PREFIX, inside, namespace, remove_left, run
from processes import CannotMeasure, stop, wait_for
from row import Row, at_least, print_rows
from server import Server, free_port
from service import TOP
from table import spread

# The links are slow, so the usual number of units under way would be the work of half a minute.
FEW = {'DOZO_TRANSFER_CHUNK': '1'}
# Set in the process that has a network namespace of its own.
INSIDE = 'BENCH_OWN_NETWORK'
SITE = '10.99.0.1'
SENDING_MIN = {2: 1.9, 4: 3.6}
NIGHT_MIN = 3.2
LIMIT_SECONDS = 600
BROKERS = ('/usr/lib/rabbitmq/bin/rabbitmq-server', '/usr/sbin/rabbitmq-server')
# The rate is that between these shares of the bytes: begin and end are those of the night.
MIDDLE = (0.1, 0.9)


@dataclass(frozen=True)
class Size:
    """`large` files of 4 MB in one night to send, and `experiments` of `files` small ones in a whole night."""

    bytes_per_second: int
    large: int
    experiments: int
    files: int
    processes: tuple
    rounds: int


FULL = Size(2_500_000, 60, 400, 6, (1, 2, 4), 3)
SHORT = Size(2_500_000, 4, 8, 6, (1, 2), 1)


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='little of everything: does it all work? figures are not judged')
    parser.add_argument('--rounds', type=int, metavar='N', help=f'nights with each number of processes: {FULL.rounds}')
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    if os.geteuid() != 0:
        raise CannotMeasure('needs root')
    tools = [tool for tool in ('ip', 'tc', 'nsenter', 'unshare') if not shutil.which(tool)]
    if tools:
        raise CannotMeasure(f'needs {", ".join(tools)} (packages iproute2 and util-linux)')
    if not os.environ.get(INSIDE):
        # Builds the program if needed, which is not possible without the machine's network.
        subprocess.run([TOP / 'dozo', 'version'], stdout=subprocess.DEVNULL, check=True)
        # NB: the same program once more, because this process must not change the network of the machine.
        ended = subprocess.run(['unshare', '--net', sys.executable, *sys.argv], env={**os.environ, INSIDE: '1'})
        sys.exit(ended.returncode)
    size = SHORT if options.short else FULL
    with ExitStack() as open_now:
        _, folder = open_now.enter_context(workspace(options.work))
        network = open_now.enter_context(Network(size))
        server = open_now.enter_context(Server(folder / 'sshd', address=SITE, inside=network.site))
        broker = open_now.enter_context(Broker(folder / 'broker', network.address(0)))
        centre = open_now.enter_context(Far(folder / 'centre', server, broker.url))
        rows = compared(folder, centre, network, size, options.rounds or size.rounds, open_now, not options.short)
    print_rows('processes', rows)
    return [f'{row.name}: {row.short}' for row in rows if row.short], f'load at the end {os.getloadavg()[0]:.1f}'


class Network:
    """A site, and near hosts that reach it through links of the same rate: this namespace, and one for each worker."""

    def __init__(self, size):
        self.rate = 8 * size.bytes_per_second
        self.count = max(size.processes)
        self.hub = f'{PREFIX}-{os.getpid()}-hub'
        self.names = [f'{PREFIX}-{os.getpid()}-w{number}' for number in range(1, self.count)]
        self.site = inside(self.hub)

    def __enter__(self):
        remove_left()
        try:
            run('ip', 'link', 'set', 'lo', 'up')
            for name in (self.hub, *self.names):
                run('ip', 'netns', 'add', name)
                run('ip', '-n', name, 'link', 'set', 'lo', 'up')
            run('ip', '-n', self.hub, 'address', 'add', f'{SITE}/32', 'dev', 'lo')
            run(*self.site, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward')
            self.connect(0, ())
            for number, name in enumerate(self.names, 1):
                self.connect(number, ('-n', name))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in (self.hub, *self.names):
            if namespace(name).exists():
                run('ip', 'netns', 'del', name)

    def connect(self, number, near):
        end = f'near{number}'
        run('ip', *near, 'link', 'add', 'line', 'type', 'veth', 'peer', 'name', end, 'netns', self.hub)
        run('ip', *near, 'address', 'add', f'{self.address(number)}/30', 'dev', 'line')
        run('ip', *near, 'link', 'set', 'line', 'up')
        run('ip', '-n', self.hub, 'address', 'add', f'10.99.{number + 1}.2/30', 'dev', end)
        run('ip', '-n', self.hub, 'link', 'set', end, 'up')
        run('ip', *near, 'route', 'add', 'default', 'via', f'10.99.{number + 1}.2')
        run('tc', *near, 'qdisc', 'add', 'dev', 'line', 'root', 'tbf', 'rate', f'{self.rate}bit', 'burst', '64kb', 'latency', '50ms')

    def address(self, number):
        return f'10.99.{number + 1}.1'

    def arrived_bytes(self):
        """Returns how many bytes of all links have arrived at the site."""
        links = json.loads(run('ip', '-j', '-s', '-n', self.hub, 'link'))
        return sum(each['stats64']['rx']['bytes'] for each in links if each['ifname'].startswith('near'))


class Far(Centre):
    """A centre whose site has an address of its own."""

    def __init__(self, folder, server, broker):
        super().__init__(folder, TOP, None, server, DOZO_BROKER_URL=broker, **FEW)
        self.broker = broker

    def __enter__(self):
        self.service.add_site = self.add_site
        return super().__enter__()

    def add_site(self, server, root, _):
        site = {'host': server.address, 'port': server.port, 'user': server.user, 'root': str(root), 'identity': str(server.key)}
        key = ' '.join((server.folder / 'host_key.pub').read_text().split()[:2])
        self.service.put('/sites/dr', {**site, 'hostKey': key})


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
        with open(self.folder / 'output', 'wb') as output:
            self.process = subprocess.Popen(
                [self.program],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=self.environment,
                start_new_session=True,
            )
        wait_for(self.is_ready, LIMIT_SECONDS, f'the broker ({self.folder / "output"})')
        return self

    def is_ready(self):
        told = (self.folder / 'output').read_text(errors='replace')
        if self.process.poll() is not None:
            raise CannotMeasure(f'the broker ended: {told[-500:]}')
        return 'completed with' in told

    def __exit__(self, *_):
        stop(self.process)
        subprocess.run(['epmd', '-kill'], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Forward:
    """The service's database, which listens on loopback only, at an address that workers reach."""

    def __init__(self, address, port):
        self.port = port
        self.listener = socket.create_server((address, 0))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(('127.0.0.1', self.port))
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self.passed, args=(one, other), daemon=True).start()

    @staticmethod
    def passed(source, target):
        try:
            while data := source.recv(1 << 16):
                target.sendall(data)
        except OSError:
            pass
        finally:
            for each in (source, target):
                each.close()


class Worker:
    """`dozo worker` in a namespace, for a `with` block."""

    def __init__(self, centre, network, number, database):
        self.folder = centre.folder / f'worker-{number}'
        password = centre.database / 'password'
        self.environment = {
            **os.environ,
            'DOZO_WORK': str(self.folder),
            'DOZO_DB_URL': f'jdbc:postgresql://{network.address(0)}:{database}/postgres',
            'DOZO_DB_USER': 'postgres',
            'DOZO_DB_PASSWORD_FILE': str(password),
            'DOZO_BROKER_URL': centre.broker,
            **FEW,
        }
        self.before = inside(network.names[number - 1])
        self.log = centre.folder / f'worker-{number}.log'

    def __enter__(self):
        with open(self.log, 'wb') as log:
            self.process = subprocess.Popen(
                [*self.before, TOP / 'dozo', 'worker'],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment,
                start_new_session=True,
            )
        wait_for(self.is_ready, LIMIT_SECONDS, f'a worker ({self.log})')
        return self

    def is_ready(self):
        if self.process.poll() is not None:
            raise CannotMeasure(f'a worker ended: {self.log.read_text()[-500:]}')
        return 'waits for work' in self.log.read_text()

    def __exit__(self, *_):
        stop(self.process, LIMIT_SECONDS)


def compared(folder, centre, network, size, rounds, workers, judged):
    port = int(next(centre.database.rglob('postmaster.pid')).read_text().split('\n')[3])
    database = Forward(network.address(0), port).listener.getsockname()[1]
    rates, seconds, cpu = {}, {}, {}
    running = 1
    for processes in size.processes:
        for number in range(running, processes):
            workers.enter_context(Worker(centre, network, number, database))
        running = processes
        night(centre, network, make(folder / f'warm-{processes}', 4 * processes, 20, 20_000, 40_000))
        for turn in range(rounds):
            name = f'{processes}-{turn}'
            large = make(folder / f'large-{name}', size.large // 4, 4, 4_000_000, 4_000_000)
            rate, _, used = night(centre, network, large)
            rates.setdefault(processes, []).append(rate)
            cpu.setdefault(processes, []).append(used / (size.large * 4e6) * 1e9)
            small = make(folder / f'small-{name}', size.experiments, size.files, 20_000, 200_000)
            _, took, _ = night(centre, network, small)
            seconds.setdefault(processes, []).append(took)
    return list(rows_of(size, rates, seconds, cpu, judged))


def rows_of(size, rates, seconds, cpu, judged):
    alone = statistics.median(seconds[1])
    for processes in size.processes:
        share = [rate / size.bytes_per_second for rate in rates[processes]]
        claimed = SENDING_MIN.get(processes, 0)
        yield at_least(f'{processes}: rate of sending, in rates of one link', statistics.median(share), claimed, spread(share), judged)
        times = alone / statistics.median(seconds[processes])
        row = f'{processes}: a night of {size.experiments} experiments'
        measured = f'{spread(seconds[processes], 1)} s, {times:.2f} × as fast as alone'
        yield at_least(row, times, NIGHT_MIN if processes == 4 else 0, measured, judged)
        yield Row(f'{processes}: processor seconds of the service for 1 GB in all', '', spread(cpu[processes], 1))


def night(centre, network, sources):
    """Runs a night of these new experiments. Returns the rate of sending, the seconds, and the service's processor seconds."""
    centre.register(sources)
    before = centre.cpu_seconds()
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
    return (MIDDLE[1] - MIDDLE[0]) * (last - first) / max(0.1, high - low), took, centre.cpu_seconds() - before
