"""The pages: size and time of first loads, and the cost of a hundred viewers for a run.

Uses a catalogue of 20,000 experiments with 10,000,000 entries, Chromium, and a backup on this machine.
"""

import base64
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.parse
from dataclasses import dataclass, replace
from pathlib import Path

from beside import Backup, backup_sources
from made import NO_SCRUB, PASSWORD, USERS, catalogue, copy, visits
from measure import workspace
from processes import CannotMeasure
from program import TOP, find_java, java
from row import add_parts, chosen_parts, teller
from server import Server, find_tool
from service import Service
from table import markdown, spread
from viewers import Viewers, log_in

say = teller('pages')
REFERENCE = TOP / 'docs/reference'
BROWSERS = ('chromium', 'chromium-headless-shell', 'chromium-browser', 'google-chrome')
LOAD_LIMIT_SECONDS = 3600

KB_MAX = 100
# Swagger UI as its project ships it: 534 kB. Only developers open this page.
KB_MAX_OF = {'/docs/api': 600}
PAINTED_MS_MAX = 1_000
VIEWERS_LOSS_MAX = 0.05
SAMPLES_A_SECOND_MIN = 0.8  # one per second is intended; a busy machine may be late with some
VIEWERS = 100
FILE_BYTES_MAX = 4 * 1024**2

# The viewers: one user who may see everything, and one who sees only their own projects.
EVERYBODY, LAB = 'boss', 'lab0'
GIANT, USUAL = '/experiments/P002/S1', '/experiments/P003/S2'  # both in projects of lab0


@dataclass(frozen=True)
class Size:
    """How much is measured.

    `backups` experiments with the same `files` of 1 MB each. Not `thorough`: each page is loaded only once.
    """

    experiments: int
    entries: int
    lines: int
    loads: int
    warm_ups: int
    files: int
    backups: int
    rounds: int
    seconds: int
    viewers: int
    thorough: bool


FULL = Size(20_000, 10_000_000, 45_000, 5, 1, 1_000, 24, 5, 5, VIEWERS, True)
SHORT = Size(400, 20_000, 300, 1, 0, 100, 40, 1, 3, 20, False)


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='little of everything: does it all work? figures are not judged')
    add_parts(parser, PARTS)
    parser.add_argument('--loads', type=int, metavar='N', help=f'of each page: {FULL.loads}')
    parser.add_argument('--rounds', type=int, metavar='N', help=f'without and with viewers: {FULL.rounds}')
    parser.add_argument('--seconds', type=int, metavar='N', help=f'of each window: {FULL.seconds}')
    parser.add_argument('--experiments', type=int, metavar='N', help=f'made up: {FULL.experiments}')
    parser.add_argument('--entries', type=int, metavar='N', help=f'of all of them: {FULL.entries}')
    parser.add_argument('--work', metavar='DIR', help='keeps the made-up catalogue below there; else in a temporary folder')


ALL_PLACES = {'DOZO_STREAMS_PER_USER': '500', 'DOZO_STREAMS_PER_ADDRESS': '500'}  # all viewers connect from one address
PARTS = ('loads', 'viewers')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    chosen = chosen_parts(options, PARTS)
    size = chosen_size(options)
    shortfalls = []
    with workspace(options.work) as (data, folder):
        for part in measured(chosen, size, data, folder):
            shortfalls += part.faults() if options.short else part.faults() + part.shortfalls()
    return shortfalls, 'short: figures not judged' if options.short else ''


def measured(chosen, size, data, folder):
    """Returns the measured parts, to be judged after the run that they use; prints each table as soon as it is
    complete.
    """
    (folder / 'dozo').mkdir(mode=0o700)
    copy(catalogue(data, size.experiments, size.entries, say), folder / 'dozo/work')
    (folder / 'site').mkdir()
    sources = backup_sources(folder, size.files, size.backups)
    parts = []
    with Server(folder / 'sshd') as server, Service(folder / 'dozo', **NO_SCRUB, **ALL_PLACES) as service:
        service.add_site(server, folder / 'site')
        backup = Backup(service, folder / 'site', say)
        backup.register(sources)
        add_people(service)
        backup.start()
        if 'loads' in chosen:
            parts.append(Loads(folder, service, size))
            parts[-1].run(backup)
            print(parts[-1].table(), flush=True)
        if 'viewers' in chosen:
            parts.append(Watching(service, backup, size.viewers))
            parts[-1].run(size.rounds, size.seconds)
        backup.stop()
    if 'viewers' in chosen:
        print(parts[-1].table(), flush=True)
    return parts


def chosen_size(options):
    size = SHORT if options.short else FULL
    given = {name: getattr(options, name) for name in ('experiments', 'entries', 'loads', 'rounds', 'seconds')}
    return replace(size, **{name: number for name, number in given.items() if number is not None})


def add_people(service):
    """Adds the users, each with a token."""
    for name, (roles, projects) in USERS.items():
        service.add_user(name, PASSWORD, roles, projects)
        service.add_token(name, PASSWORD)
        if 'LAB_MANAGER' in roles:
            service.put(f'/projects/backup/members/{name}', {})


def pages():
    """Returns the product's pages, each with whether a lab manager sees their own data in it."""
    with tempfile.TemporaryDirectory() as folder:
        completed = shutil.copytree(REFERENCE, Path(folder, 'reference'))
        subprocess.run([TOP / 'dozo', '--write-reference', completed], check=True)
        table = (completed / 'access.md').read_text()
    lines = re.findall(r'^\| `GET (/\S*)` \| (\S+) \|', table, re.MULTILINE)
    # The table does not list the forms of operations; these two stand for all of them.
    found = {'/do/post/holds': False, '/do/post/erasures': True}
    found |= {path: lab == 'own' for path, lab in lines if not path.startswith(('/api/', '/actuator/'))}
    # Not pages: downloads, the events of a live page, and what leads to another one.
    return {path: own for path, own in found.items() if not path.endswith(('.csv', '/events', '/docs'))}


def coded(path):
    """Encodes a path as in the pages' addresses."""
    return base64.urlsafe_b64encode(path.encode()).decode().rstrip('=')


def addresses(run):
    """Returns the addresses to load for pages with a variable in their address, or with several views."""
    live = f'/runs/{run}'
    search = '/experiments?q='
    return {
        '/experiments': [
            '/experiments',
            f'{search}visit+9',
            search + urllib.parse.quote('視覚'),
            '/experiments?state=at-risk',
            '/experiments?project=P003&scanner=T7',
        ],
        '/experiments/{project}/{code}': [GIANT, USUAL],
        '/experiments/{project}/{code}/certificate': [f'{USUAL}/certificate'],
        '/experiments/{project}/{code}/changes': [f'{GIANT}/changes?from=1&to=4'],
        '/experiments/{project}/{code}/content': [f'{USUAL}/content', f'{GIANT}/content'],
        '/experiments/{project}/{code}/manifests/{number}': [
            f'{GIANT}/manifests/4',
            f'{GIANT}/manifests/4?folder={coded("folder1")}',
            f'{USUAL}/manifests/1',
        ],
        '/experiments/{project}/{code}/proof': [
            f'{GIANT}/proof?path={coded("folder1/scan1.dcm")}',
            f'{USUAL}/proof?path={coded("folder1/scan1.dcm")}',
        ],
        '/experiments/{project}/{code}/restore': [f'{GIANT}/restore', f'{USUAL}/restore'],
        # No copy of the catalogue has bytes.
        '/experiments/{project}/{code}/picture': [],
        # No experiment of the catalogue is frozen.
        '/experiments/{project}/{code}/frozen': [],
        # Restores are not in the catalogue.
        '/experiments/{project}/{code}/restores/{id}': [],
        # Neither are drills.
        '/drills/{id}': [],
        '/restores/{id}': ['/restores/1', '/restores/1?state=STOPPED'],
        '/runs/{id}': [live, '/runs/2'],
        '/runs/{id}/reconciliation': ['/runs/2/reconciliation'],
        '/findings': ['/findings', '/findings?all=true', '/findings?reason=UNREADABLE&project=P003', '/findings?run=2'],
        '/findings/acknowledge': [f'/findings/acknowledge?cause=UNREADABLE&experiment={GIANT.removeprefix("/experiments/")}'],
        '/findings/{id}/acknowledge': ['/findings/1/acknowledge'],
        '/audit': ['/audit', '/audit?asOf=2024-10-01&by=scanner', '/audit?by=month&from=2016-01-01&until=2025-12-31'],
        '/audit/report': ['/audit/report', '/audit/report?at=2024-10-01', '/audit/report?project=P003'],
        '/audit/proof': ['/audit/proof?experiment=P003/S2&path=folder1/scan1.dcm'],
        '/sites/{name}/change': ['/sites/dr/change'],
        '/sites/{name}/check': ['/sites/dr/check'],
        '/sites/{name}/forecast': ['/sites/dr/forecast'],
        '/sites/{name}/tuning': ['/sites/dr/tuning'],
        '/administration/users/{name}': ['/administration/users/lab0'],
        '/administration/projects/{project}': ['/administration/projects/P003'],
        # No run of the catalogue began with a forecast; this page has the template of a site's.
        '/runs/{id}/forecast': [],
        '/arrivals/{id}': [],
        '/origins/{name}/change': [],
    }


class Loads:
    """First loads of every page, while a run is paused."""

    def __init__(self, folder, service, size):
        self.folder = folder
        self.service = service
        self.size = size
        self.rounds = size.warm_ups + size.loads
        self.told = {}
        self.unknown = []

    def run(self, backup):
        backup.pause()
        lines = [f'user\t{EVERYBODY}\t{PASSWORD}', f'user\t{LAB}\t{PASSWORD}', f'file\t{EVERYBODY}\t{self.file()}']
        for user, path in self.wanted(backup.run['id']):
            lines.append(f'page\t{user}\t{path}')
        say(f'loads {len(lines) - 3} pages, {self.rounds} times')
        for load in driven(self.folder, self.service.port, self.rounds, lines):
            if load['round'] >= self.size.warm_ups:
                self.told.setdefault((load['path'], load['user']), []).append({**load, **load['loaded']})
        backup.resume()

    def file(self):
        """Makes a CSV file of the largest size that the form accepts, if there are enough lines."""
        path = self.folder / 'visits.csv'
        lines = visits(self.folder / 'visits', self.size.lines)
        path.write_bytes(lines if len(lines) <= FILE_BYTES_MAX else lines[:FILE_BYTES_MAX].rsplit(b'\n', 1)[0])
        return path

    def wanted(self, run):
        known = addresses(run)
        yield EVERYBODY, '/login'
        for page, own in pages().items():
            if page not in known and '{' in page:
                self.unknown.append(page)
            paths = [path for path in known.get(page, [page]) if '{' not in path]
            for path in paths if self.size.thorough else paths[:1]:
                yield EVERYBODY, path
                if self.size.thorough and own and path != '/register/csv/preview':  # bound to one login session
                    yield LAB, path

    def table(self):
        heads = ['page', 'kB', 'of that HTML', 'kB uncompressed', 'files', 'answered, ms', 'to be seen, ms']
        heads.append('to be seen by a lab manager, ms')
        rows = []
        for (path, user), loads in self.told.items():
            if user == EVERYBODY:
                sizes = ('bytes', 'htmlBytes', 'unpackedBytes')
                kb, html, unpacked = (max(load[of] for load in loads) / 1000 for of in sizes)
                lab = self.told.get((path, LAB))
                times = [spread((load[of] for load in loads), 0) for of in ('answered', 'painted')]
                times.append(spread((load['painted'] for load in lab), 0) if lab else '')
                files = max(load['requests'] for load in loads)
                rows.append([f'`{path}`', f'{kb:.1f}', f'{html:.1f}', f'{unpacked:.0f}', files, *times])
        about = (
            f'{self.size.experiments:,} experiments, {self.size.entries:,} entries; {self.size.loads} first loads of each'
            f' page and person, after {self.size.warm_ups} to warm up; load average {os.getloadavg()[0]:.1f} after'
        )
        return f'{about}\n\n{markdown(heads, rows)}\n'

    def faults(self):
        """Returns faults that do not depend on the load of the machine."""
        short = [f'{page}: no address in bench/pages.py' for page in self.unknown]
        for (path, user), loads in self.told.items():
            if loads[0]['status'] != 200:
                short.append(f'{path} for {user}: answered with {loads[0]["status"]}')
            if loads[0]['plain']:
                short.append(f'{path}: not compressed: {", ".join(loads[0]["plain"])}')
        return short

    def shortfalls(self):
        short = []
        for (path, user), loads in self.told.items():
            kb, painted = max(load['bytes'] for load in loads) / 1000, statistics.median(load['painted'] for load in loads)
            most = KB_MAX_OF.get(path, KB_MAX)
            if kb > most:
                short.append(f'{path} for {user}: {kb:.0f} kB, at most {most} wanted')
            if painted > PAINTED_MS_MAX:
                short.append(f'{path} for {user}: {painted:.0f} ms until something is visible, limit {PAINTED_MS_MAX} ms')
        return short


def driven(folder, port, rounds, lines):
    """Returns the browser's figures for each load."""
    chromium = next((found for found in map(find_tool, BROWSERS) if found), None)
    if not chromium:
        raise CannotMeasure('there is no Chromium (package chromium)')
    arguments = (f'http://127.0.0.1:{port}', chromium, rounds)
    ended = subprocess.run(
        java(playwright(folder), 'PageLoads.java', *arguments, options=('-Xmx256m',)),
        input='\n'.join(lines),
        stdout=subprocess.PIPE,
        text=True,
        timeout=LOAD_LIMIT_SECONDS,
    )
    if ended.returncode != 0:
        raise CannotMeasure(f'PageLoads ended with {ended.returncode}')
    return [json.loads(line) for line in ended.stdout.splitlines() if line.startswith('{')]


def playwright(folder):
    """Returns the class path of the browser's driver; Maven knows its place and the version that the tests use."""
    told = folder / 'class-path'
    command = ['mvn', '-q', '-B', '-ntp', '-f', Path(__file__).with_name('pom.xml'), 'dependency:build-classpath']
    command.append(f'-Dmdep.outputFile={told}')
    java_home = str(Path(find_java()).parent.parent)
    ended = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={**os.environ, 'JAVA_HOME': java_home},
        timeout=600,
    )
    if ended.returncode != 0:
        raise CannotMeasure('Maven does not find Playwright')
    return told.read_text().strip()


class Watching:
    """A run's events read by many viewers, alternating with no viewers."""

    def __init__(self, service, backup, viewers):
        self.service = service
        self.backup = backup
        self.count = viewers
        self.told = []

    def run(self, rounds, seconds):
        cookies = [log_in(self.service.port, name, PASSWORD) for name in USERS]
        for number in range(rounds):
            # The order alternates, so that slow drifts affect both equally.
            for watched in (False, True) if number % 2 == 0 else (True, False):
                if watched:
                    with Viewers(self.service.port, f'/runs/{self.backup.run["id"]}/events', cookies, self.count) as viewers:
                        self.told.append(self.backup.window(True, lambda: viewers.watch(seconds)))
                else:
                    self.backup.window(False, lambda: time.sleep(seconds))

    def table(self):
        samples = spread(rate for rate, _ in self.told)
        rows = [['samples a second, the worst served viewer', samples], ['viewers left out', self.left_out()]]
        return f'{self.backup.table(f"with {self.count} viewers")}\n{markdown(["viewers", ""], rows)}\n'

    def left_out(self):
        return sum(gone for _, gone in self.told)

    def faults(self):
        """Returns faults that do not depend on the load of the machine."""
        return [f'{self.left_out()} viewers left out before the end'] if self.left_out() else []

    def shortfalls(self):
        short = self.backup.shortfalls(VIEWERS_LOSS_MAX)
        slowest = statistics.median(rate for rate, _ in self.told)
        if slowest < SAMPLES_A_SECOND_MIN:
            short.append(f'a viewer received {slowest:.2f} samples per second, minimum {SAMPLES_A_SECOND_MIN}')
        return short
