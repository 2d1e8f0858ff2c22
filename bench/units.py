"""The package's units under a real systemd: first steps, nights, a stop, a kill, a new certificate, a worker.

Follows the documentation's words on a new Debian without Java, Maven and network, in a container (nspawn.py). The site is its sshd.
"""

import json
import re
import shutil
import time
from pathlib import Path

from measure import workspace
from nspawn import Machine
from processes import CannotMeasure, wait_for
from program import made_package
from row import Transcript, share_done, shown, teller

SUITE = 'trixie'  # has a PostgreSQL that is new enough
WITHOUT_DATABASE = ('bookworm',)  # has a systemd that is new enough, but PostgreSQL 15
PACKAGES = 'systemd,systemd-sysv,dbus,openssh-server,openssl,procps,sudo'
NEIGHBOURS = 'postgresql,rabbitmq-server'
EXPERIMENTS = 4
FILES = 60  # of 1 MB
LIMIT_MB = 3  # a second to the site, so that the night lasts long enough for a stop and a kill
STOP_FROM, KILL_FROM, KILL_UNTIL = 0.1, 0.3, 0.95  # of the bytes
NIGHT_SECONDS = 900
START_SECONDS = 600
STOP_SECONDS = 120  # TimeoutStopSec of the units
CERTIFICATE_SECONDS = 300
PORT = 8443
say = teller('units')

SITE = """\
useradd --create-home --shell /bin/bash dr
install -d -o dr -g dr -m 700 /srv/backup /srv/second /home/dr/.ssh
"""
SOURCES = f"""\
umask 022
mkdir -p /data/visit /data/of-another /home/lab/visit
for n in 1 2 3; do head -c 300000 /dev/urandom > /data/visit/$n.dat; head -c 300000 /dev/urandom > /home/lab/visit/$n.dat; done
install -d -o games -m 700 /data/of-another/private
head -c 1000 /dev/urandom > /data/of-another/private/x
for e in $(seq {EXPERIMENTS}); do
    mkdir -p /data/night-$e
    for n in $(seq {FILES}); do head -c 1000000 /dev/urandom > /data/night-$e/$n.dat; done
done
"""
DROP_IN = """\
[Service]
ReadWritePaths=/restore /spool
AmbientCapabilities=CAP_DAC_READ_SEARCH
CapabilityBoundingSet=CAP_DAC_READ_SEARCH
"""
WORKER_DROP_IN = """\
[Service]
LoadCredential=db-password:/root/db-password
Environment=DOZO_DB_PASSWORD_FILE=%d/db-password
"""
SETTINGS = f"""\
DOZO_DB_URL=jdbc:postgresql://127.0.0.1/dozo
DOZO_DB_USER=dozo
DOZO_DB_PASSWORD_FILE=/etc/dozo/secrets/db-password
DOZO_BROKER_URL=amqp://127.0.0.1
DOZO_BROKER_USER=dozo
DOZO_BROKER_PASSWORD_FILE=/etc/dozo/secrets/broker-password
DOZO_HTTP_PORT={PORT}
DOZO_HTTP_TLS_CERTIFICATE_FILE=/etc/dozo/tls/certificate.pem
DOZO_HTTP_TLS_KEY_FILE=/etc/dozo/tls/key.pem
DOZO_URL=https://localhost:{PORT}
DOZO_CA_FILE=/etc/dozo/tls/ca.pem
"""
NEIGHBOURS_SET_UP = """\
runuser -u postgres -- psql -q -c "create user dozo password 'of a bench'" -c 'create database dozo owner dozo'
rabbitmqctl -q add_user dozo of-a-bench
rabbitmqctl -q set_permissions dozo '.*' '.*' '.*'
echo 'of a bench' | install -m 640 -g dozo /dev/stdin /etc/dozo/secrets/db-password
echo of-a-bench | install -m 640 -g dozo /dev/stdin /etc/dozo/secrets/broker-password
install -m 600 /etc/dozo/secrets/db-password /root/db-password
"""


def certificate(name):
    """Returns a line that makes and installs a certificate."""
    return f"""\
cd "$(mktemp -d)"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 300 -subj /CN={name} \
    -addext subjectAltName=DNS:localhost -keyout key.pem -out certificate.pem 2> /dev/null
install -m 640 -g dozo key.pem certificate.pem /etc/dozo/tls
install -m 640 -g dozo certificate.pem /etc/dozo/tls/ca.pem
"""


def add_options(parser):
    parser.add_argument('--package', metavar='FILE', help='tests this package; else makes one')
    parser.add_argument('--suite', default=SUITE, help=f"Debian's name of the release: {SUITE}, or bookworm (its PostgreSQL is too old: only the first half)")
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    has_neighbours = options.suite not in WITHOUT_DATABASE
    with workspace(options.work) as (_, folder):
        say('makes a machine')
        machine = Machine(folder, options.suite, f'{PACKAGES},{NEIGHBOURS}' if has_neighbours else PACKAGES)
        say('makes the package')
        package = Path(options.package) if options.package else made_package(folder)
        shutil.copy(package, machine.tree / 'root')
        with machine:
            units = Units(machine)
            print('## transcript\n\n```', flush=True)
            try:
                units.first_half()
                if has_neighbours:
                    units.second_half()
                units.removed()
            finally:
                print('```\n', flush=True)
    return shown('units', units.rows), '' if has_neighbours else f'{options.suite}: only the first half'


class Units(Transcript):
    def __init__(self, machine):
        super().__init__()
        self.machine = machine

    def try_dozo(self, *words):
        return self.machine.try_run('sudo', '-u', 'dozo', 'dozo', *words)

    def dozo(self, *words):
        return self.machine.run('sudo', '-u', 'dozo', 'dozo', *words)

    def property(self, name, unit='dozo'):
        return self.machine.run('systemctl', 'show', '--property', name, '--value', unit).strip()

    def log(self, unit='dozo'):
        return self.machine.run('journalctl', '--unit', unit, '--output', 'cat', '--no-pager')

    def wait(self, condition, seconds, what):
        wait_for(condition, seconds, what, 0.5)

    # --- docs/start and docs/run, with nothing set ---

    def first_half(self):
        machine = self.machine
        self.tell(f'{machine.run("systemctl", "--version").splitlines()[0]}, {machine.state()}')
        machine.shell('echo "127.0.0.1 $(hostname)" >> /etc/hosts')
        machine.shell('tar xzf dozo-*.tar.gz && cd dozo-*/ && ./install')
        self.tell('./install')
        doctor = self.try_dozo('doctor')
        self.expect('dozo doctor before the first start', 'exit code 0', f'exit code {doctor.returncode}', doctor.returncode == 0)
        machine.run('systemctl', 'enable', '--now', 'dozo', limit_seconds=START_SECONDS)
        status = self.try_dozo('status')
        self.expect('dozo status as soon as systemctl returns', 'No run yet.', status.stdout.strip() or status.stderr.strip(), status.stdout.strip().endswith('No run yet.'))
        self.tell(f'systemctl enable --now dozo: {self.property("ActiveState")}, {self.property("Type")}')
        lines = self.log().splitlines()
        listens = next((number for number, line in enumerate(lines) if 'Dozo listens at' in line), None)
        ready = next((number for number, line in enumerate(lines) if line.startswith('Started dozo.service')), None)
        good = listens is not None and ready is not None and listens < ready
        self.expect('the ready notification', 'after the line "Dozo listens"', 'after it' if good else lines[-10:], good)
        self.rights()
        machine.shell(SITE)
        machine.shell(SOURCES)
        self.site_added('dr', '/srv/backup')
        self.dozo('project', 'add', 'P1')
        self.dozo('project', 'roots', 'P1', '/data', '/home/lab')
        for code, source in (('E1', '/data/visit'), ('E2', '/home/lab/visit'), ('E3', '/data/of-another')):
            self.dozo('register', '--project', 'P1', '--code', code, source)
        self.tell('dozo run --wait: ' + self.first_night('FINDINGS'))
        machine.shell('mkdir -p /etc/systemd/system/dozo.service.d && cat > /etc/systemd/system/dozo.service.d/override.conf << "END"\n' + DROP_IN + 'END')
        machine.shell('install -d -o dozo -g dozo /restore /spool && systemctl daemon-reload && systemctl restart dozo')
        self.tell('with a drop-in, dozo run --wait: ' + self.first_night('COMPLETE'))
        self.dozo('project', 'restore-roots', 'P1', '/restore')
        restored = self.try_dozo('restore', '--in-service', 'P1/E2', '/restore/E2')
        same = machine.try_run('diff', '-r', '/home/lab/visit', '/restore/E2')
        good = restored.returncode == 0 and same.returncode == 0
        self.expect('a restore by the service below a folder of ReadWritePaths', 'equal', 'equal' if good else restored.stderr + same.stdout, good)
        self.tell('a restore by the service into /restore: ' + ('equal' if good else 'not equal'))

    def rights(self):
        status = self.machine.run('cat', f'/proc/{self.property("MainPID")}/status')
        found = dict(re.findall(r'^(CapEff|CapBnd|NoNewPrivs|Seccomp):\s+(\w+)$', status, re.MULTILINE))
        good = found == {'CapEff': '0' * 16, 'CapBnd': '0' * 16, 'NoNewPrivs': '1', 'Seccomp': '2'}
        self.expect('rights of the running service', 'no capability, no new privileges, a filter of system calls', 'these' if good else found, good)
        # In the service's own view of the machine.
        inside = ['nsenter', '--target', self.property('MainPID'), '--mount', 'findmnt', '--noheadings', '--output', 'OPTIONS', '--target']
        options = {folder: self.machine.run(*inside, folder).strip().split(',')[0] for folder in ('/usr', '/etc', '/home', '/srv', '/var/lib/dozo')}
        good = options.pop('/var/lib/dozo') == 'rw' and set(options.values()) == {'ro'}
        self.expect('what the service may write', '/var/lib/dozo only', 'only that' if good else options, good)

    def site_added(self, name, root):
        key = self.dozo('site', 'key').strip()
        self.machine.run('bash', '-c', 'cat > /home/dr/.ssh/authorized_keys && chown dr: /home/dr/.ssh/authorized_keys', input=f'{key}\n')
        asked = self.try_dozo('site', 'add', name, f'dr@127.0.0.1:{root}')
        host_key = re.search(r"--host-key '([^']+)'", asked.stderr + asked.stdout)
        if not host_key:
            raise CannotMeasure(f'dozo site add: {asked.stdout}{asked.stderr}')
        self.dozo('site', 'add', name, f'dr@127.0.0.1:{root}', '--host-key', host_key[1])
        self.dozo('site', 'check', name)
        self.tell(f'site {name}: registered with its host key, and checked')

    def first_night(self, claimed):
        """Returns the state of a run and its findings in words."""
        ended = self.try_dozo('run', '--wait')
        state = json.loads(self.try_dozo('status', '--json').stdout)
        self.expect(f'night {state["id"]}', claimed, state['state'], state['state'] == claimed)
        unread = re.search(r'UNREADABLE +(\S+ \S+)', ended.stdout)
        return f'{state["state"]}, {state["progress"]["bytesDone"]:,} bytes{f", UNREADABLE {unread[1]}" if unread else ""}'

    # --- a database and a broker of their own, TLS, secrets ---

    def second_half(self):
        machine = self.machine
        machine.run('systemctl', 'stop', 'dozo')
        self.wait(lambda: machine.try_run('rabbitmqctl', '-q', 'await_startup').returncode == 0, START_SECONDS, 'the broker')
        machine.shell(NEIGHBOURS_SET_UP)
        machine.shell(certificate('first'))
        machine.run('bash', '-c', 'cat >> /etc/dozo/dozo.env', input=SETTINGS)
        doctor = self.try_dozo('doctor')
        broken = [line for line in doctor.stdout.splitlines() if line.startswith('broken ')]
        self.expect('dozo doctor while the service is stopped, with secrets in files', 'nothing broken', broken or 'nothing broken', not broken)
        machine.run('systemctl', 'start', 'dozo', limit_seconds=START_SECONDS)
        self.tell(f'with PostgreSQL, RabbitMQ and TLS: {self.property("ActiveState")}')
        self.site_added('second', '/srv/second')
        self.dozo('site', 'timetable', 'second', f'daily 00:00-24:00 {LIMIT_MB} MB/s')
        self.dozo('project', 'add', 'P2')
        for number in range(1, EXPERIMENTS + 1):
            self.dozo('register', '--project', 'P2', '--code', f'N{number}', f'/data/night-{number}')
        self.interrupted_night()
        self.new_certificate()
        self.worker()
        self.readable()

    def interrupted_night(self):
        machine = self.machine
        run = json.loads(self.dozo('run', '--json'))['id']
        self.wait(lambda: self.share() >= STOP_FROM, NIGHT_SECONDS, 'the first bytes')
        share, began = self.share(), time.monotonic()
        machine.run('systemctl', 'stop', 'dozo')
        seconds = time.monotonic() - began
        ended = f'{self.property("Result")}, exit code {self.property("ExecMainStatus")}'
        self.tell(f'systemctl stop at {share:.0%} of run {run}: {ended}, after {seconds:.0f} s')
        self.expect('systemctl stop during a night', f'success, exit code 143, within {STOP_SECONDS} s', ended, ended == 'success, exit code 143')
        machine.run('systemctl', 'start', 'dozo', limit_seconds=START_SECONDS)
        self.wait(lambda: self.share() >= KILL_FROM, NIGHT_SECONDS, 'more bytes')
        share, killed = self.share(), self.property('MainPID')
        machine.run('kill', '-KILL', killed)
        self.wait(lambda: self.property('ActiveState') == 'active' and self.property('MainPID') != killed, START_SECONDS, 'a restart after a kill')
        restarts = self.property('NRestarts')
        self.tell(f'kill -9 at {share:.0%}: active again, {restarts} restart')
        good = restarts == '1' and share <= KILL_UNTIL
        self.expect('restarts after kill -9', f'1, killed before {KILL_UNTIL:.0%} of the bytes', f'{restarts}, killed at {share:.0%}', good)
        self.wait(lambda: self.state()['state'] != 'RUNNING', NIGHT_SECONDS, f'the end of run {run}')
        state = self.state()
        self.tell(f'run {state["id"]} is {state["state"]}: {state["progress"]["bytesDone"]:,} of {state["progress"]["bytes"]:,} bytes')
        good = state['id'] == run and state['state'] == 'COMPLETE'
        self.expect('the same night', 'COMPLETE', f'run {state["id"]}: {state["state"]}', good)
        coverage = self.try_dozo('coverage')
        self.expect('every experiment is safe', 'exit code 0', f'exit code {coverage.returncode}', coverage.returncode == 0)
        loop = 'for bag in */*/; do (cd "$bag" && sha256sum --check --quiet manifest-sha256.txt) || exit 1; echo "$bag"; done'
        checked = machine.try_run('runuser', '-u', 'dr', '--', 'bash', '-c', f'cd /srv/second && {loop}')
        bags = len(checked.stdout.split())
        self.tell(f'sha256sum --check at the site: {bags} bags, exit code {checked.returncode}')
        good = checked.returncode == 0 and bags >= EXPERIMENTS
        self.expect('bags at the site', f'≥ {EXPERIMENTS}, sha256sum --check', f'{bags}, exit code {checked.returncode}', good)

    def state(self):
        """Returns the last run; while the service starts, a run without bytes."""
        status = self.try_dozo('status', '--json')
        return json.loads(status.stdout) if status.stdout.startswith('{') else {'state': 'RUNNING'}

    def share(self):
        return share_done(self.state())

    def new_certificate(self):
        machine, began = self.machine, time.monotonic()
        pid = self.property('MainPID')
        machine.shell(certificate('second'))
        shown = f'openssl s_client -connect localhost:{PORT} < /dev/null 2> /dev/null | openssl x509 -noout -subject'
        self.wait(lambda: 'second' in machine.try_run('bash', '-c', shown).stdout, CERTIFICATE_SECONDS, 'the new certificate')
        good = self.property('MainPID') == pid
        self.tell(f'a new certificate is used after {time.monotonic() - began:.0f} s, {"without" if good else "after"} a restart')
        self.expect('a replaced certificate', 'used without a restart', 'used without a restart' if good else 'restarted', good)

    def worker(self):
        machine = self.machine
        machine.shell('mkdir -p /etc/systemd/system/dozo-worker.service.d && cat > /etc/systemd/system/dozo-worker.service.d/override.conf << "END"\n' + WORKER_DROP_IN + 'END')
        machine.shell('systemctl daemon-reload && systemctl start dozo-worker')
        self.wait(lambda: 'this worker waits for work' in self.log('dozo-worker'), START_SECONDS, 'a worker')
        machine.shell('for e in /data/night-*; do head -c 20000000 /dev/urandom > $e/more.dat; done')
        self.dozo('run', '--json')
        self.wait(lambda: 'joins run' in self.log('dozo-worker'), NIGHT_SECONDS, 'a worker that joins')
        began = time.monotonic()
        machine.run('systemctl', 'stop', 'dozo-worker')
        ended = self.property('Result', 'dozo-worker')
        self.tell(f'dozo-worker, with a secret by LoadCredential: joined; systemctl stop: {ended}, after {time.monotonic() - began:.0f} s')
        self.expect('systemctl stop of a worker during a night', 'success', ended, ended == 'success')
        self.wait(lambda: self.state()['state'] != 'RUNNING', NIGHT_SECONDS, 'the end of the night with a worker')
        self.tell(f'that night is {self.state()["state"]}')
        self.expect('the night that a worker joined and left', 'COMPLETE', self.state()['state'], self.state()['state'] == 'COMPLETE')

    def readable(self):
        """Checks that every line of the service in the journal is one of its own, and not a part of a stack trace."""
        lines = self.machine.run('journalctl', 'SYSLOG_IDENTIFIER=dozo', '--output', 'cat', '--no-pager').splitlines()
        odd = [line for line in lines if not re.match(r'\d{4}-\d\d-\d\dT[\d:.]+\S+ +(INFO|WARN|ERROR) ', line)]
        self.tell(f'journalctl: {len(lines)} lines of Dozo, of which {len(odd)} are of another form')
        self.expect('lines in the journal', 'all with time and level', odd[:5] or 'all', not odd)

    def removed(self):
        self.machine.shell('cd dozo-*/ && ./install --remove')
        left = self.machine.try_run('bash', '-c', 'ls /usr/lib/systemd/system/ | grep dozo; pgrep -u dozo').stdout.strip()
        self.tell(f'./install --remove: {left or "nothing runs, no unit is left"}')
        self.expect('units and processes after a removal', 'none', left or 'none', not left)
