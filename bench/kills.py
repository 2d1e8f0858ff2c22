"""Deaths of workers, services and the broker, and links that are cut: nights go on until all of them have happened.

Two services, of which one stands by, and each worker are in network namespaces of their own; the site, the database and a real
RabbitMQ are outside. Each fault comes at a random moment in the middle of a night, often several at a time. After each night every
file at the site is compared, and what was recorded is checked. Needs root, iproute2 and a kernel with tbf.
"""

import filecmp
import os
import random
import shutil
import signal
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field

from centre import Centre, make, psql
from measure import workspace
from namespaces import SITE, Network, in_own_network, inside
from processes import CannotMeasure, begin, wait_for
from program import LAUNCHER
from row import Row, at_most, exactly, shown
from server import Server, free_port
from service import Service
from workers import Broker, Worker

BYTES_PER_SECOND = 400_000  # of each link
SETTINGS = {'DOZO_TRANSFER_CHUNK': '2', 'DOZO_TRANSFER_BUNDLE_ENTRIES': '4', 'DOZO_TRANSFER_PARTITIONS': '2', 'DOZO_INGEST_LOOKS': '1'}
WORKERS = ('w1', 'w2', 'w3')
SERVICES = ('s1', 's2')
TAKEOVER_SECONDS_MAX = 60
LIMIT_SECONDS = 600
WAIT_SECONDS_MAX = 5  # before a fault, from the moment when it is possible
AWAY_SECONDS = (40, 60)  # a link; longer than a lease
BROKER_SECONDS = (2, 20)
POLL_SECONDS = 0.3


@dataclass(frozen=True)
class Size:
    """How often each fault comes, and the experiments of a night with `files` files of 100 kB each."""

    faults: dict
    experiments: int
    files: int


FULL = Size({'worker': 50, 'service': 20, 'broker': 10, 'cut': 10}, 48, 40)
SHORT = Size({'worker': 1, 'service': 1, 'broker': 1, 'cut': 1}, 16, 30)


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='each fault once')
    parser.add_argument('--seed', type=int, metavar='N', help='of the moments; else a new one, which is printed')
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    in_own_network([LAUNCHER, 'version'])
    size = SHORT if options.short else FULL
    seed = options.seed or random.SystemRandom().randrange(1 << 32)
    with ExitStack() as open_now:
        _, folder = open_now.enter_context(workspace(options.work))
        network = open_now.enter_context(Network(BYTES_PER_SECOND, len(WORKERS)))
        server = open_now.enter_context(Server(folder / 'sshd', address=SITE, inside=network.site))
        broker = open_now.enter_context(Broker(folder / 'broker', network.address(0)))
        party = open_now.enter_context(Party(folder, network, server, broker))
        faults = Faults(party, size, seed)
        rows = list(faults.rows(faults.nights(folder)))
    shortfalls = shown('faults', rows)
    print(f'A worker whose link is back:\n\n{faults.seen.late[0].strip()}\n', flush=True)
    return shortfalls, f'seed {seed}, load at the end {os.getloadavg()[0]:.1f}'


class Database:
    """A PostgreSQL of its own that workers reach, with the data of a service's embedded one, for a `with` block."""

    def __init__(self, centre, address):
        """Takes the embedded one over: the service must end before the block begins."""
        pid_file = next(centre.database.rglob('postmaster.pid'))
        lines = pid_file.read_text().split('\n')
        self.program = os.readlink(f'/proc/{lines[0]}/exe')
        self.data = pid_file.parent
        self.port = int(lines[3])
        self.address = address
        self.password = centre.database / 'password'

    def __enter__(self):
        with open(self.data / 'pg_hba.conf', 'a') as hosts:
            hosts.write('host all all 10.99.0.0/16 scram-sha-256\n')
        # PostgreSQL does not run as root.
        command = ['unshare', '--user', self.program, '-D', self.data, '-p', str(self.port), '-c', 'max_connections=200']
        command += ['-c', f'listen_addresses=127.0.0.1,{self.address}']
        self.process = begin(command, self.data.parent / 'log')
        wait_for(self.is_ready, LIMIT_SECONDS, 'the database')
        return self

    def is_ready(self):
        try:
            return self.ask('select 1') == [['1']]
        except CannotMeasure:
            if self.process.poll() is None:
                return False
            raise

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(LIMIT_SECONDS)

    def settings(self):
        return {
            'DOZO_DB_URL': f'jdbc:postgresql://{self.address}:{self.port}/postgres',
            'DOZO_DB_USER': 'dozo',
            'DOZO_DB_PASSWORD_FILE': str(self.password.with_name('service-password')),
        }

    def ask(self, query):
        """Returns the rows of a query, each a list of texts."""
        return psql(self.port, self.password, query)

    def number(self, query):
        return int(self.ask(query)[0][0])


class Party:
    """Two services and three workers with one database, each of which can die, for a `with` block."""

    def __init__(self, folder, network, server, broker):
        self.folder = folder
        self.network = network
        self.server = server
        self.broker = broker
        self.workers = {}
        self.services = {}
        self.ports = {name: free_port() for name in SERVICES}
        self.ended = ExitStack()

    def __enter__(self):
        site = self.folder / 'centre/site'
        with Centre(self.folder / 'centre', self.server) as centre:
            database = Database(centre, self.network.address(0))
        self.site = site / 'P'
        self.versions = site / '.dozo/versions'
        self.database = self.ended.enter_context(database)
        self.settings = {**database.settings(), **SETTINGS, 'DOZO_BROKER_URL': self.broker.url, 'DOZO_SCRUB_WINDOW': '-'}
        for name in SERVICES:
            # As docs/run/services.md says: both have the same keys.
            (self.folder / name / 'work').mkdir(mode=0o700, parents=True)
            for key in (self.folder / 'centre/dozo/work').iterdir():
                if key.is_file() and key.stat().st_mode & 0o077 == 0:
                    shutil.copy2(key, self.folder / name / 'work')
            self.serve(name)
        for name in WORKERS:
            self.work(name)
        return self

    def __exit__(self, *_):
        for each in (*self.workers.values(), *self.services.values()):
            each.__exit__()
        self.ended.close()

    def serve(self, name):
        """Starts a service and waits until it is active or stands by."""
        self.services[name] = Service(self.folder / name, before=named(name), **self.settings, DOZO_SERVICE_NAME=name)
        self.services[name].__enter__()

    def work(self, name):
        """Starts a worker."""
        before = (*inside(self.network.names[WORKERS.index(name)]), *named(name))
        self.workers[name] = Worker(self.folder / name, before, self.settings)
        self.workers[name].__enter__()

    def kill(self, process):
        process.kill()
        process.wait(LIMIT_SECONDS)

    def active(self):
        """Returns the name of the active service; None if there is none now."""
        rows = self.database.ask('select name from service_lease where lease_until > now()')
        return rows[0][0] if rows else None

    def claims(self, host):
        """Returns (number of its worker, units that it has claimed, their bytes) in the open run; None if it has no part in one."""
        rows = self.database.ask(f"""
            select worker_id, count(unit_id), coalesce(sum(length_bytes), 0)
            from run_worker join run using (run_id)
                left join transfer_unit as unit using (run_id, worker_id)
            where host = '{host}' and not ended and ended_at is null and (unit_id is null or unit.state = 'PLANNED')
            group by worker_id order by worker_id desc limit 1
            """)
        return tuple(map(int, rows[0])) if rows else None

    def is_in_night(self):
        return self.database.number("select count(*) from transfer_unit join run using (run_id) where ended_at is null") > 0


def named(name):
    """Returns the words that run a command on a machine with this name."""
    return ('unshare', '--uts', 'sh', '-c', f'hostname {name} && exec "$@"', 'sh')


@dataclass
class Seen:
    """What faults did. `fenced`: of each worker whose lease has ended, what was recorded of it then."""

    seconds: dict = field(default_factory=lambda: {'worker': [], 'service': [], 'cut': []})
    in_flight_bytes: int = 0
    fenced: dict = field(default_factory=dict)
    late: list = field(default_factory=list)


class Faults:
    """Threads that each do what is left to do to their victims."""

    def __init__(self, party, size, seed):
        self.party = party
        self.database = party.database
        self.size = size
        self.left = dict(size.faults)
        self.dice = random.Random(seed)
        self.lock = threading.Lock()
        self.seen = Seen()
        self.failure = None
        self.threads = [threading.Thread(target=self.safely, args=(self.harm_worker, name), daemon=True) for name in WORKERS]
        self.threads += [threading.Thread(target=self.safely, args=(each,), daemon=True) for each in (self.harm_service, self.harm_broker)]

    # --- faults ---

    def safely(self, harm, *name):
        try:
            while harm(*name):
                pass
        except Exception as failure:
            self.failure = failure

    def take(self, *kinds):
        """Returns a kind of fault that is still to do, and counts it as done; None if there is none."""
        with self.lock:
            left = [kind for kind in kinds for _ in range(self.left[kind])]
            if not left:
                return None
            kind = self.dice.choice(left)
            self.left[kind] -= 1
            return kind

    def put_back(self, kind):
        with self.lock:
            self.left[kind] += 1

    def pause(self, least, most):
        time.sleep(self.dice.uniform(least, most))

    def until(self, condition, what):
        return wait_for(condition, LIMIT_SECONDS, what, POLL_SECONDS)

    def busy(self, host):
        claims = self.party.claims(host)
        return claims and claims[1] and claims

    def harm_worker(self, name):
        kind = self.take('worker', 'cut')
        if not kind:
            return False
        self.until(lambda: self.busy(name), f'{name} has something to send')
        self.pause(0, WAIT_SECONDS_MAX)
        number = WORKERS.index(name) + 1
        victim = self.party.workers[name]
        if kind == 'worker':
            self.party.kill(victim.process)
        else:
            self.party.network.cut(number)
        began = time.monotonic()
        claims = self.busy(name)
        if kind == 'worker':
            self.party.work(name)
        if not claims or not self.note_takeover(kind, began, *claims):
            # Nothing was in flight, or it had arrived after all and the run is over: this fault does not count.
            if kind == 'cut':
                self.party.network.mend(number)
            self.put_back(kind)
            return True
        if kind == 'cut':
            self.pause(*(max(0, limit - (time.monotonic() - began)) for limit in AWAY_SECONDS))
            told = len(victim.said())
            self.party.network.mend(number)
            self.until(lambda: 'others have taken over the work of worker' in victim.said()[told:], f'{name} learns what has happened')
            self.seen.late.append(victim.said()[told:])
        return True

    def note_takeover(self, kind, began, worker, _, in_flight):
        """Waits until others have taken over from a worker. Returns false if its run ended without that."""
        ended = f'from run_worker where worker_id = {worker} and ended'
        over = f'from run join run_worker using (run_id) where worker_id = {worker} and ended_at is not null'
        try:
            self.until(lambda: self.database.number(f'select (select count(*) {ended}) + (select count(*) {over})'), 'a takeover')
        except CannotMeasure as problem:
            raise CannotMeasure(f'{problem}; worker {worker} of {self.database.ask(STATE)}') from problem
        if not self.database.number(f'select count(*) {ended}'):
            return False
        with self.lock:
            self.seen.seconds[kind].append(time.monotonic() - began)
            self.seen.in_flight_bytes += in_flight
            self.seen.fenced[worker] = self.recorded(worker)
        return True

    def harm_service(self):
        kind = self.take('service')
        if not kind:
            return False
        name = self.until(lambda: (active := self.party.active()) and self.busy(active) and active, 'the active service has something to send')
        self.pause(0, WAIT_SECONDS_MAX)
        recoveries = self.recoveries()
        self.party.kill(self.party.services[name].process)
        began = time.monotonic()
        claims = self.party.claims(name)
        self.until(lambda: self.recoveries() > recoveries or not self.party.is_in_night(), 'another service continues the night')
        seconds = time.monotonic() - began
        if claims and self.recoveries() > recoveries:
            with self.lock:
                self.seen.seconds[kind].append(seconds)
                self.seen.in_flight_bytes += claims[2]
        else:
            self.put_back(kind)
        self.party.serve(name)
        return True

    def recoveries(self):
        return self.database.number("select count(*) from ledger where action = 'run.recovered'")

    def harm_broker(self):
        kind = self.take('broker')
        if not kind:
            return False
        self.until(self.party.is_in_night, 'a night')
        self.pause(0, 4 * WAIT_SECONDS_MAX)
        self.party.broker.kill()
        self.pause(*BROKER_SECONDS)
        self.party.broker.start()
        return True

    # --- nights ---

    def recorded(self, worker):
        """Returns what is recorded of a worker. Once its lease has ended, nothing may come to it."""
        return self.database.ask(f"""
            select bytes_moved, entries_proven,
                (select count(*) from transfer_unit where worker_id = {worker} and state = 'VERIFIED')
            from run_worker where worker_id = {worker}
            """)

    def nights(self, folder):
        """Runs nights until all faults have happened. Returns the folders with their sources, by experiment."""
        copied = {}
        for thread in self.threads:
            thread.start()
        while any(thread.is_alive() for thread in self.threads):
            turn = len(copied) // self.size.experiments
            sources = make(folder / f'night-{turn}', self.size.experiments, self.size.files, 20_000, 180_000)
            these = {f'E{len(copied) + number}': source for number, source in enumerate(sources)}
            self.night(these)
            copied |= these
            if self.failure:
                raise self.failure
        return copied

    def night(self, sources):
        lines = '\n'.join(['project,code,source', *(f'P,{code},{source}' for code, source in sources.items())]).encode()
        self.insist(lambda service: service.post_csv('/experiments/bulk', lines))
        before = self.database.number('select coalesce(max(run_id), 0) from run')
        self.insist(lambda service: service.post('/runs', {'site': 'dr'}))
        self.until_ended(before)

    def insist(self, act):
        """Asks the active service until it answers: it can have been killed."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while True:
            try:
                return act(self.party.services[self.party.active() or SERVICES[0]])
            except OSError as problem:
                if time.monotonic() > deadline:
                    raise CannotMeasure(f'no service answers: {problem}') from problem
                time.sleep(POLL_SECONDS)

    def until_ended(self, before):
        deadline = time.monotonic() + 6 * LIMIT_SECONDS
        while self.database.number(f'select count(*) from run where run_id > {before} and ended_at is not null') == 0:
            if self.failure:
                raise self.failure
            if time.monotonic() > deadline:
                raise CannotMeasure('a night does not end')
            time.sleep(POLL_SECONDS)
        state, message = self.database.ask('select state, message from run order by run_id desc limit 1')[0]
        if state != 'COMPLETE':
            raise CannotMeasure(f'a night ended {state}: {message} {self.database.ask("select * from finding")[:3]}')

    # --- results ---

    def rows(self, copied):
        seen = self.seen
        for kind, name in (('worker', 'deaths of workers'), ('service', 'deaths of the active service'), ('cut', 'links cut, with a late return')):
            seconds = seen.seconds[kind]
            measured = f'{len(seconds)}; taken over after {min(seconds):.0f} to {max(seconds):.0f} s'
            yield at_most(f'{name}: seconds until others have taken over', max(seconds), TAKEOVER_SECONDS_MAX, measured, True)
        yield Row('deaths of the broker', '', str(self.size.faults['broker']))
        yield Row('nights, all complete', '', str(self.database.number('select count(*) from run')))
        wrong = [difference for code, source in copied.items() for difference in differences(source, self.party.site / code / 'data')]
        yield exactly('files that differ from the source, or are missing, or nobody sent', len(wrong), 0, f'of {len(copied) * self.size.files} {wrong[:3] or ""}')
        yield exactly('replaced files', int(self.party.versions.exists()), 0)
        for name, query in CHECKS.items():
            yield exactly(name, self.database.number(query), 0)
        after = {worker: self.recorded(worker) for worker in seen.fenced}
        late = [worker for worker, then in seen.fenced.items() if after[worker] != then]
        yield exactly('workers that recorded something after others had taken over', len(late), 0, f'of {len(after)} {late[:3] or ""}')
        resent = self.database.number('select coalesce(sum((attempts - 1) * length_bytes), 0) from transfer_unit')
        measured = f'{resent / 1e6:.1f} MB of {seen.in_flight_bytes / 1e6:.1f} MB'
        yield at_most('bytes sent again, of those in flight', resent / max(1, seen.in_flight_bytes), 1, measured, True)


# Of the runs that go on, for a failure's message.
STATE = """
    select run_id, state, worker_id, host, joined, ended, lease_until - now(),
           (select count(*) from transfer_unit u where u.worker_id = w.worker_id and u.state = 'PLANNED')
    from run join run_worker w using (run_id) where ended_at is null order by worker_id
    """

# Each must count nothing.
CHECKS = {
    'units that are not proven': "select count(*) from transfer_unit where state <> 'VERIFIED'",
    'units that were recorded twice': 'select count(*) from (select unit_id from receipt group by unit_id having count(*) > 1) as twice',
    'entries that were proven twice': """
        select count(*) from (
            select 1 from receipt, unnest(entry_nos) as entry group by experiment_id, site_id, entry having count(*) > 1
        ) as twice
        """,
    'findings': 'select count(*) from finding',
}


def differences(source, copy):
    """Returns the relative names of files that are not the same in both folders."""
    names = {name.relative_to(folder) for folder in (source, copy) for name in folder.rglob('*') if name.is_file()}
    return [str(name) for name in sorted(names) if not is_same(source / name, copy / name)]


def is_same(one, other):
    return one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False)
