"""docker-compose.yml, run for real: every neighbour, a night through all of them, a worker killed in the middle.

Uses the official images where they can be pulled. Elsewhere, as root on Debian, it makes stand-ins and names them.
"""

import base64
import json
import os
import re
import subprocess
import tarfile
import time
import urllib.error
import urllib.request
import zlib
from pathlib import Path

from containers import TESTS_IMAGE, Docker, engine, get_images, say, with_compose
from data import MB, even
from measure import workspace
from processes import CannotMeasure, wait_for
from program import TOP, build
from row import Transcript, share_done, shown
from server import free_port
from table import markdown

EXPERIMENTS = 8
FILES = 60  # of 1 MB, the same in every experiment
LIMIT_MB = 15  # a second to the site, so that the night lasts long enough to kill a worker in it
KILL_FROM, KILL_UNTIL = 0.15, 0.8  # of the bytes
DICOM_FILES_MAX = 20
UP_SECONDS = 600
NIGHT_SECONDS = 600
STABLE_SECONDS = 180
TESTS_SECONDS = 900
PASSWORD = 'of a bench only, gone with it'
TEST = 'MigrationTest'  # needs a PostgreSQL, and little else

BUILD_BESIDE = """\
services:
  site: {build: {network: host}}
  directory: {build: {network: host}}
  service: {build: {network: host}}
  worker: {build: {network: host}}
"""

PEOPLE = """\
dn: uid=yamada,ou=people,dc=dozo,dc=internal
objectClass: inetOrgPerson
uid: yamada
cn: Yamada
sn: Yamada
userPassword: {password}

dn: cn=operators,ou=groups,dc=dozo,dc=internal
objectClass: groupOfNames
cn: operators
member: uid=yamada,ou=people,dc=dozo,dc=internal
"""

# The image has no curl, and its port is not published.
STORE = """\
import sys, urllib.request
urllib.request.urlopen(urllib.request.Request('http://127.0.0.1:8042/instances', sys.stdin.buffer.read(), method='POST')).read()
"""
IS_STABLE = """\
import json, urllib.request
studies = json.load(urllib.request.urlopen('http://127.0.0.1:8042/studies?expand'))
print(len(studies), all(study['IsStable'] for study in studies))
"""


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='only what needs no containers: is the file valid, are missing secrets refused?')
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    with workspace(options.work) as (_, folder):
        if options.short:
            deployment = Deployment(with_compose(Docker()), folder)
            deployment.refusals()
            return shown('deployment', deployment.rows), 'short: no container was started'
        build()
        with engine(folder) as docker:
            deployment = Deployment(docker, folder)
            try:
                deployment.run()
            finally:
                deployment.remove()
    return shown('deployment', deployment.rows), deployment.remark


class Deployment(Transcript):
    """The compose file as a project of its own, with images of its own names."""

    def __init__(self, docker, folder):
        super().__init__()
        self.docker = docker
        self.folder = folder
        self.secrets = folder / 'secrets'
        self.source = folder / 'experiments'
        self.source.mkdir()
        self.source.chmod(0o755)
        self.project = f'dozo-bench-{os.getpid()}'
        self.image = f'{self.project}:bench'
        self.port = free_port()
        self.remark = ''
        self.without = {
            'COMPOSE_PROJECT_NAME': self.project,
            'COMPOSE_PROGRESS': 'quiet',
            'COMPOSE_MENU': 'false',
            'DOZO_IMAGE': self.image,
            'DOZO_PORT': str(self.port),
            'DOZO_DICOM_PORT': str(free_port()),
            'DOZO_SCHEDULE_CRON': '-',
            'DOZO_SOURCE': str(self.source),
        }
        self.settings = {**self.without, 'DOZO_SECRETS': str(self.secrets)}

    # --- the program's surroundings ---

    def compose(self, *words, settings=None, **options):
        return self.docker.run('compose', *self.file(), *words, environment=settings or self.settings, **options)

    def try_compose(self, *words, settings=None, **options):
        return self.docker.try_run('compose', *self.file(), *words, environment=settings or self.settings, **options)

    def file(self):
        words = '--project-directory', TOP, '--file', TOP / 'docker-compose.yml'
        if self.docker.own:
            # Its containers reach only each other.
            (self.folder / 'build.yml').write_text(BUILD_BESIDE)
            words += '--file', self.folder / 'build.yml'
        return words

    def dozo(self, *words):
        return self.compose('exec', '-T', 'service', 'dozo', *words, limit_seconds=NIGHT_SECONDS)

    def rest(self, name, password, path):
        login = base64.b64encode(f'{name}:{password}'.encode()).decode()
        request = urllib.request.Request(f'http://127.0.0.1:{self.port}/api/v1{path}', headers={'Authorization': f'Basic {login}'})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, None

    # --- the steps ---

    def run(self):
        self.refusals()
        self.secrets_made()
        self.images_got()
        self.empty_secrets()
        print('## transcript\n\n```', flush=True)
        self.up()
        self.cache_matches()
        self.directory_login()
        dicom = self.dicom_stored()
        self.sources_made()
        self.night(dicom)
        self.copies_at_site()
        self.up()
        self.tell('the killed worker is back')
        self.tests()
        print('```\n', flush=True)
        print(self.containers() + '\n', flush=True)
        print(self.images() + '\n', flush=True)
        print(self.layers() + '\n', flush=True)

    def refusals(self):
        """Checks what Compose refuses before it starts anything."""
        without = self.try_compose('config', '--quiet', settings={**self.without, 'DOZO_SECRETS': ''})
        with_them = self.try_compose('config', '--quiet')
        words = with_them.stderr.strip() or 'valid'
        self.expect('the file, with the secrets folder', 'valid', words, with_them.returncode == 0)
        words = without.stderr.strip().splitlines()[-1] if without.stderr.strip() else 'accepted'
        good = without.returncode != 0 and 'docker/make-secrets' in without.stderr
        self.expect('the file, without the secrets folder', 'refused, names docker/make-secrets', words, good)

    def secrets_made(self):
        subprocess.run([TOP / 'docker/make-secrets', self.secrets], stdout=subprocess.DEVNULL, timeout=60, check=True)

    def empty_secrets(self):
        """Checks that a secrets folder without its files is refused by name."""
        empty = self.folder / 'empty'
        empty.mkdir()
        settings = {**self.settings, 'DOZO_SECRETS': str(empty)}
        ended = self.try_compose('up', '--no-build', '--wait', 'database', settings=settings, limit_seconds=UP_SECONDS)
        self.try_compose('down', '--volumes', settings=settings)
        words = ended.stderr.strip().splitlines()
        said = words[-1].replace(str(self.folder), '…') if words else 'started'
        good = ended.returncode != 0 and '/database_' in ended.stderr
        self.expect('a start with an empty secrets folder', 'refused, names the file', said, good)

    def official_images(self):
        """Returns the names in the compose file and in the Dockerfiles."""
        files = [TOP / 'Dockerfile', *TOP.glob('docker/*/Dockerfile')]
        stages = {name for file in files for name in re.findall(r'^FROM \S+ AS (\S+)', file.read_text(), re.MULTILINE)}
        bases = {name for file in files for name in re.findall(r'^FROM (\S+)', file.read_text(), re.MULTILINE)}
        services = json.loads(self.compose('config', '--format', 'json'))['services'].values()
        return (bases - stages) | {service['image'] for service in services if 'build' not in service} | {TESTS_IMAGE}

    def images_got(self):
        get_images(self.docker, self.official_images())
        say('builds the images')
        self.compose('build', '--quiet')

    def up(self):
        started = time.monotonic()
        ended = self.try_compose('up', '--no-build', '--wait', '--wait-timeout', UP_SECONDS, limit_seconds=2 * UP_SECONDS)
        if ended.returncode != 0:
            logs = self.try_compose('logs', '--no-color', '--tail', 30).stdout
            raise CannotMeasure(f'docker compose up: {ended.stderr.strip()[-500:]}\n{logs[-4000:]}')
        states = [json.loads(line) for line in self.compose('ps', '--format', 'json').splitlines()]
        healthy = sum(state['Health'] == 'healthy' for state in states)
        self.tell(f'docker compose up --wait: {healthy} of {len(states)} containers healthy after {time.monotonic() - started:.0f} s')

    def cache_matches(self):
        """Checks that the image's Java accepts the cache that its build made."""
        java = 'java -XX:AOTMode=on -XX:AOTCache=/opt/dozo/app/service.aot --enable-native-access=ALL-UNNAMED'
        java += ' --sun-misc-unsafe-memory-access=allow -cp "$(sed "s|[^:]*|/opt/dozo/app/&|g" /opt/dozo/app/service.path)" dozo.Application --version'
        ended = self.try_compose('exec', '-T', 'service', 'sh', '-c', java)
        options = self.compose('exec', '-T', 'service', 'sh', '-c', "tr '\\0' ' ' < /proc/1/cmdline")
        self.tell(f'the service runs as: {" ".join(options.split()[1:3])} …')
        self.expect('the AOT cache of the image', 'matches', 'matches' if ended.returncode == 0 else ended.stdout[-300:], ended.returncode == 0)

    def directory_login(self):
        """Adds a person to the directory, who then logs in at the service."""
        hashed = self.compose('exec', '-T', 'directory', 'slappasswd', '-s', PASSWORD).strip()
        self.compose('exec', '-T', 'directory', 'ldapadd', '-Q', '-Y', 'EXTERNAL', '-H', 'ldapi:///', input=PEOPLE.format(password=hashed))
        allowed, _ = self.rest('yamada', PASSWORD, '/runs')
        refused, _ = self.rest('yamada', 'another password', '/runs')
        self.tell(f'yamada of the directory logs in: {allowed}; with another password: {refused}')
        self.expect('login of a user of the directory', '200, else 401', f'{allowed}, else {refused}', (allowed, refused) == (200, 401))

    def dicom_stored(self):
        """Sends instances to Orthanc and returns how many; none if there are no DICOM files here."""
        shared = Path(os.environ.get('DOZO_SHARED_DATA', TOP.parent / 'shared' / 'data')) / 'dicom' / 'ge_dcm_qa_ge'
        files = sorted(file for file in shared.rglob('*') if file.is_file() and is_dicom(file))[:DICOM_FILES_MAX]
        for file in files:
            with open(file, 'rb') as data:
                command = [self.docker.client, 'compose', *self.file(), 'exec', '-T', 'orthanc', 'python3', '-c', STORE]
                environment = {**self.docker.environment, **self.settings}
                subprocess.run(list(map(str, command)), stdin=data, env=environment, timeout=120, check=True)
        if not files:
            self.remark = 'no shared data: Orthanc had nothing to deliver'
        self.tell(f'{len(files)} DICOM files are in Orthanc')
        return len(files)

    def sources_made(self):
        first = even('visit-0', FILES, MB, 6).make(self.source)
        for number in range(1, EXPERIMENTS):
            subprocess.run(['cp', '-al', first, self.source / f'visit-{number}'], check=True, timeout=60)
        self.dozo('project', 'add', 'P1')
        key = self.compose('exec', '-T', 'site', 'cut', '-d', ' ', '-f', '1,2', '/srv/host-keys/ssh_host_ed25519_key.pub').strip()
        self.dozo('site', 'add', 'dr', 'dozo@site:/srv/backup', '--identity', '/run/secrets/site_key', '--host-key', key)
        self.dozo('site', 'timetable', 'dr', f'daily 00:00-24:00 {LIMIT_MB} MB/s')
        for number in range(EXPERIMENTS):
            self.dozo('register', '--project', 'P1', '--code', f'E{number}', f'/source/visit-{number}')
        self.tell(f'{EXPERIMENTS} experiments with {FILES} files of 1 MB each are registered')

    def night(self, dicom):
        """Runs a night, and kills a worker in it."""
        if dicom:
            words = ('--kind', 'dicomweb', '--address', 'http://orthanc:8042', '--spool', '/var/spool/dozo')
            self.dozo('origin', 'save', 'pacs', *words, '--project', 'P1', '--automatic')
            wait_for(self.is_stable, STABLE_SECONDS, 'a stable study in Orthanc', 1)
        run = json.loads(self.dozo('run', '--json'))['id']
        self.tell(f'run {run} begins')
        self.worker_killed(run)
        wait_for(lambda: self.state(run)['state'] not in ('RUNNING', 'PAUSED'), NIGHT_SECONDS, f'the end of run {run}')
        ended = self.state(run)
        progress = ended['progress']
        self.tell(f'run {run} is {ended["state"]}: {progress["bytesDone"]:,} of {progress["bytes"]:,} bytes, {ended["findings"]} findings')
        self.expect('the night', 'COMPLETE', ended['state'], ended['state'] == 'COMPLETE')
        coverage = self.try_compose('exec', '-T', 'service', 'dozo', 'coverage')
        for line in coverage.stdout.strip().splitlines():
            self.tell(f'  {line}')
        self.expect('every experiment is safe', 'exit code 0', f'exit code {coverage.returncode}', coverage.returncode == 0)
        if dicom:
            report = self.try_compose('exec', '-T', 'service', 'dozo', 'origin', 'report', str(run))
            delivered = coverage.stdout.count('P1/dcm-')
            self.tell(f'Orthanc: {report.stdout.strip().splitlines()[-1] if report.stdout.strip() else report.stderr.strip()}')
            good = delivered > 0 and report.returncode == 0
            self.expect('studies from Orthanc', '≥ 1, none missing', f'{delivered}, exit code {report.returncode}', good)

    def is_stable(self):
        count, stable = self.compose('exec', '-T', 'orthanc', 'python3', '-c', IS_STABLE).split()
        return int(count) > 0 and stable == 'True'

    def state(self, run):
        time.sleep(0.5)
        return json.loads(self.try_compose('exec', '-T', 'service', 'dozo', 'status', '--json').stdout)

    def worker_killed(self, run):
        workers = self.try_compose('ps', '--quiet', 'worker').stdout.split()
        if not workers:
            return self.expect('a worker of two is killed', 'yes', 'no workers', False)
        state = self.state(run)
        while state['state'] == 'RUNNING' and share_done(state) < KILL_FROM:
            state = self.state(run)
        share = share_done(state)
        self.docker.run('kill', workers[0])
        self.tell(f'a worker is killed at {share:.0%} of the bytes')
        good = len(workers) == 2 and KILL_FROM <= share <= KILL_UNTIL
        self.expect('a worker of two is killed', f'at {KILL_FROM:.0%} to {KILL_UNTIL:.0%} of the bytes', f'of {len(workers)}, at {share:.0%}', good)

    def copies_at_site(self):
        """Checks all bags at the site with sha256sum, as somebody without Dozo does."""
        loop = 'for bag in */*/; do (cd "$bag" && sha256sum --check --quiet manifest-sha256.txt) || exit 1; echo "$bag"; done'
        ended = self.try_compose('exec', '-T', '--user', 'dozo', 'site', 'bash', '-c', f'cd /srv/backup && {loop}')
        bags = len(ended.stdout.split())
        self.tell(f'sha256sum --check at the site: {bags} bags, exit code {ended.returncode}')
        good = ended.returncode == 0 and bags >= EXPERIMENTS
        self.expect('bags at the site', f'≥ {EXPERIMENTS}, sha256sum --check', f'{bags}, exit code {ended.returncode}', good)

    def tests(self):
        """Runs a test with this engine, whose database must come from a container."""
        since = str(int(time.time()))
        environment = dict(self.docker.environment)
        if not self.docker.pulls('testcontainers/ryuk:0.12.0'):
            # Then the containers are removed at the end of the process.
            environment['TESTCONTAINERS_RYUK_DISABLED'] = 'true'
            # Its own checks need an image of Alpine.
            environment['TESTCONTAINERS_CHECKS_DISABLE'] = 'true'
            environment['TESTCONTAINERS_HOST_OVERRIDE'] = 'localhost'
        log = self.folder / 'tests.log'
        with open(log, 'wb') as out:
            code = subprocess.run([TOP / 'dozo', 'test', TEST], stdin=subprocess.DEVNULL, stdout=out, stderr=out, timeout=TESTS_SECONDS, env=environment).returncode
        words = ('--since', since, '--until', str(int(time.time()) + 1), '--filter', 'event=start', '--format', '{{.Actor.Attributes.image}}')
        count = self.docker.run('events', *words).split().count(TESTS_IMAGE)
        passed = re.findall(r'(\d+) tests successful', log.read_text(errors='replace'))
        self.tell(f'./dozo test {TEST}: exit code {code}, {passed[-1] if passed else 0} tests, {count} container of {TESTS_IMAGE}')
        self.expect('tests with a database in a container', 'pass, 1 container', f'exit code {code}, {count}', code == 0 and count == 1)

    # --- what ran ---

    def containers(self):
        rows = []
        for identity in self.compose('ps', '--quiet').split():
            found = json.loads(self.docker.run('inspect', identity))[0]
            host = found['HostConfig']
            user = found['Config']['User'] or 'root'
            rights = ', '.join(each.removeprefix('CAP_').lower() for each in host['CapAdd'] or []) or 'none'
            rows.append(
                (
                    found['Config']['Labels']['com.docker.compose.service'],
                    user,
                    'read-only' if host['ReadonlyRootfs'] else 'writable',
                    rights if host['CapDrop'] == ['ALL'] else 'default',
                    'yes' if any('no-new-privileges' in each for each in host['SecurityOpt'] or []) else 'no',
                    found['State']['Health']['Status'],
                )
            )
        return markdown(('container', 'user', 'root', 'capabilities', 'no new privileges', 'health'), sorted(rows))

    def images(self):
        rows = []
        services = json.loads(self.compose('config', '--format', 'json'))['services']
        built = {service.get('image', f'{self.project}-{name}') for name, service in services.items() if 'build' in service}
        for image in sorted(self.official_images() | built):
            size = int(self.docker.run('image', 'inspect', '--format', '{{.Size}}', image)) / MB
            name = image.replace(self.project, 'dozo').replace('dozo:bench', 'dozo')
            if image in built:
                kind = 'built here'
            elif standin := self.docker.standin(image):
                kind = f'**stand-in**: {standin}'
            else:
                digests = json.loads(self.docker.run('image', 'inspect', '--format', '{{json .RepoDigests}}', image))
                kind = f'official, {digests[0].partition("@")[2][:19] if digests else "local"}'
            rows.append((name, kind, f'{size:.0f} MB'))
        return markdown(('image', 'is', 'size'), rows)

    def layers(self):
        """Returns a table of the image's own layers, the last ones, and what a download of each takes."""
        saved = self.folder / 'image.tar'
        self.docker.run('save', '--output', saved, self.image)
        rows = []
        with tarfile.open(saved) as image:
            names = json.load(image.extractfile('manifest.json'))[0]['Layers']
            for name in names:
                size, packed, paths = layer(image, name)
                if paths and all(path.startswith('opt') for path in paths):
                    kind = 'caches' if any(path.endswith('.aot') for path in paths) else 'program' if 'opt/dozo/dozo' in paths else 'libraries'
                    rows.append((kind, f'{size / MB:.0f} MB', f'{packed / MB:.0f} MB'))
        saved.unlink()
        return markdown(('layer of dozo', 'size', 'download'), rows)

    def remove(self):
        """Removes the containers, volumes and images of this project."""
        if self.secrets.exists():
            self.try_compose('down', '--volumes', '--rmi', 'local', '--timeout', 30)
            self.docker.try_run('image', 'rm', self.image)


def layer(image, name):
    """Returns the bytes of a layer, those of its download, and its paths."""
    member = image.getmember(name)
    while member.issym():
        member = image.getmember(os.path.normpath(os.path.join(os.path.dirname(member.name), member.linkname)))
    packer, packed = zlib.compressobj(6), 0
    with image.extractfile(member) as content:
        with tarfile.open(fileobj=content) as files:
            paths = [each.name for each in files if not each.isdir()]
        if not all(path.startswith('opt') for path in paths):
            return member.size, 0, paths
        content.seek(0)
        while block := content.read(MB):
            packed += len(packer.compress(block))
    return member.size, packed + len(packer.flush()), paths


def is_dicom(file):
    with open(file, 'rb') as data:
        return data.read(132)[128:] == b'DICM'
