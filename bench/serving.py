"""The service by day: 50 people who list, search and check coverage during a backup, and a large CSV file.

The load comes from wrk: people who wait for each answer and then think. Prints their waiting times, and how much the
backup slowed down.
"""

import json
import math
import os
import random
import statistics
import subprocess
import time
import urllib.parse
import urllib.request
from dataclasses import dataclass

from beside import Backup, backup_sources
from made import NO_SCRUB, PASSWORD, PROJECTS, USERS, catalogue, copy, visits
from measure import workspace
from processes import CannotMeasure, stop
from row import teller
from server import Server, find_tool
from service import Service
from table import markdown, spread

P99_MS_MAX = 100
BACKUP_LOSS_MAX = 0.10
CSV_SECONDS_MAX = 10
START_SECONDS_MAX = 5
RATE_SHARE_MIN = 0.85  # a window begins with thinking, which alone costs 0.06
PAIRS = 2_000  # requests of each kind to choose from
# By day a service has been running for hours. With a warm-up of one window, compilation took 4 to 10 % of both
# processors during the measurement.
WARM_UP_HASTE = 20  # requests come so many times as often
WARM_UP_WINDOWS = 4
say = teller('service')

# How many of the 50 people do what.
PEOPLE = {'list': 15, 'search': 15, 'one experiment': 10, 'coverage': 10}
WORDS = ('finger tapping', 'visit 9', 'rest, visit 42', '視覚課題', 's1234', 'p017', 'p017/s1')

# wrk's results as a line of JSON; the end of each script.
DONE = """\
function done(summary, latency)
    local errors, times = summary.errors, {{}}
    for i = 1, #latency do
        local microseconds, count = latency(i)
        times[i] = "[" .. microseconds .. "," .. count .. "]"
    end
    io.write(string.format(
        '\\n{{"seconds": %.3f, "times": [%s], "errors": %d}}\\n', summary.duration / 1e6, table.concat(times, ","),
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
"""

# wrk's `delay` is the thinking time before each request, uniform from 0 to twice its mean, so that people do not
# synchronise.
SCRIPT = """\
local think_ms = tonumber(os.getenv("THINK_MS"))
math.randomseed(tonumber(os.getenv("SEED")))
local pairs_of = {{
{pairs}
}}
function delay() return math.random(0, 2 * think_ms) end
function request()
    local chosen = pairs_of[math.random(#pairs_of)]
    return wrk.format("GET", "/api/v1" .. chosen[2], {{["Authorization"] = "Bearer " .. chosen[1]}})
end
""" + DONE


def answer_of(said):
    """Returns what the script of wrk printed at its end."""
    try:
        return json.loads(said[said.rindex('\n{') :])
    except ValueError:
        raise CannotMeasure(f'wrk: {said}') from None


@dataclass(frozen=True)
class Size:
    """How much is measured. `backups` experiments with the same `files` of 1 MB each."""

    experiments: int
    entries: int
    files: int
    backups: int
    rounds: int
    window_seconds: int
    think_seconds: float
    lines: int


FULL = Size(20_000, 10_000_000, 1_000, 24, 4, 9, 2, 100_000)
SHORT = Size(400, 20_000, 100, 8, 1, 2, 0.3, 1_000)


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='little of everything: does it all work? figures are not judged')
    parser.add_argument('--rounds', type=int, metavar='N', help=f'without and with load: {FULL.rounds}')
    parser.add_argument('--seconds', type=int, metavar='N', help=f'of each window: {FULL.window_seconds}')
    parser.add_argument('--work', metavar='DIR', help='keeps the made-up catalogue below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    if not find_tool('wrk'):
        raise CannotMeasure('wrk is missing (package wrk)')
    size = SHORT if options.short else FULL
    rounds, seconds = options.rounds or size.rounds, options.seconds or size.window_seconds
    with workspace(options.work) as (data, folder):
        (folder / 'dozo').mkdir(mode=0o700)
        copy(catalogue(data, size.experiments, size.entries, say), folder / 'dozo/work')
        (folder / 'site').mkdir()
        say('makes the data of the backup')
        sources = backup_sources(folder, size.files, size.backups)
        with Server(folder / 'sshd') as server, Service(folder / 'dozo', **NO_SCRUB) as service:
            service.add_site(server, folder / 'site')
            scripts = write_scripts(folder, service, size)
            windows = Windows(Backup(service, folder / 'site', say), service, scripts, size)
            load = os.getloadavg()[0]
            windows.run(sources, rounds, seconds)
            print(windows.tables(load), flush=True)
            file_times = register_file(folder, service, size.lines)
        print(csv_table(size.lines, file_times), flush=True)
        starts = [Start(folder / 'start').seconds() for _ in range(2 if options.short else 6)][1:]
        print(markdown(['start to ready', 'seconds'], [['', spread(starts)]]) + '\n', flush=True)
        shortfalls = windows.faults()
        if not options.short:
            shortfalls += windows.shortfalls() + csv_shortfalls(size.lines, file_times) + start_shortfalls(starts)
    return shortfalls, 'short: figures not judged' if options.short else ''


def write_scripts(folder, service, size):
    """Writes a wrk script for each kind of request; all users request only data in their projects."""
    tokens = {}
    for name, (roles, projects) in USERS.items():
        service.add_user(name, PASSWORD, roles, projects)
        tokens[name] = service.add_token(name, PASSWORD)['secret']
    dice = random.Random('service')
    scripts = {}
    for kind in PEOPLE:
        pairs = []
        for _ in range(PAIRS):
            name = dice.choice(list(USERS))
            pairs.append((tokens[name], PATHS[kind](dice, dice.choice(USERS[name][1]), size)))
        lines = ',\n'.join(f'{{"{token}", "{path}"}}' for token, path in pairs)
        scripts[kind] = folder / f'{kind.replace(" ", "-")}.lua'
        scripts[kind].write_text(SCRIPT.format(pairs=lines))
        scripts[kind].chmod(0o600)
    return scripts


def any_of(dice, size, project):
    """Returns the number of an experiment of this project."""
    return project - 1 + PROJECTS * dice.randrange(1, size.experiments // PROJECTS)


def list_path(dice, project, size):
    filters = (
        '',
        f'&project=P{project:03}',
        f'&modality={dice.choice(("MR", "MEG", "EEG"))}',
        f'&scanner=T{dice.randrange(11)}&state=verified',
        f'&acquiredFrom={dice.randrange(2016, 2025)}-04-01&acquiredUntil=2025-03-31',
        f'&state={dice.choice(("at-risk", "complete", "planned"))}',
    )
    after = dice.choice((0, 0, dice.randrange(size.experiments)))
    return f'/experiments?after={after}{dice.choice(filters)}'


def search_path(dice, project, size):
    """Returns a search as the field sends it during typing."""
    word = dice.choice((*WORDS, f's{any_of(dice, size, project)}'))
    return '/experiments?q=' + urllib.parse.quote(word[: dice.randrange(1, len(word) + 1)])


def one_path(dice, project, size):
    path = f'/experiments/P{project:03}/S{any_of(dice, size, project)}'
    return path + dice.choice(('', '/manifests', '/manifests/1/entries'))


def coverage_path(dice, project, size):
    after = dice.randrange(size.experiments)
    return dice.choice(
        (
            '/coverage',
            f'/coverage/experiments?after={after}',
            '/coverage/groups?by=project',
            '/coverage/groups?by=modality',
            '/coverage/unprotected',
            '/coverage?asOf=2024-10-01',
            f'/runs/{dice.randrange(1, 3_000)}/findings',
        )
    )


def share_of(times, share):
    """Returns the time within which this share of the requests was answered; NaN if there were none."""
    return times[math.ceil(share * len(times)) - 1] if times else math.nan


PATHS = {'list': list_path, 'search': search_path, 'one experiment': one_path, 'coverage': coverage_path}


class Windows:
    """Windows of one backup, alternating without and with people."""

    def __init__(self, backup, service, scripts, size):
        self.backup = backup
        self.service = service
        self.scripts = scripts
        self.size = size
        self.answers = {kind: [] for kind in PEOPLE}
        self.dice = random.Random('windows')

    def run(self, sources, rounds, seconds):
        self.backup.register(sources)
        say('warms up, without a backup')
        self.people(WARM_UP_WINDOWS * seconds, self.size.think_seconds / WARM_UP_HASTE)
        self.backup.start()
        self.people(min(seconds, 5))
        for number in range(rounds):
            # The order alternates: a disk that slows down over time affects both equally.
            for with_people in (False, True) if number % 2 == 0 else (True, False):
                if with_people:
                    for kind, answer in self.backup.window(True, lambda: self.people(seconds)).items():
                        self.answers[kind].append(answer)
                else:
                    self.backup.window(False, lambda: time.sleep(seconds))
        self.backup.stop()

    def people(self, seconds, think_seconds=None):
        """Returns the times of each kind of request, as measured by wrk."""
        running = {}
        think_ms = round(1_000 * (think_seconds or self.size.think_seconds))
        try:
            for kind, script in self.scripts.items():
                command = [find_tool('wrk'), '-t1', f'-c{PEOPLE[kind]}', f'-d{seconds}s', '--timeout', '60s', '-s', script]
                command.append(f'http://127.0.0.1:{self.service.port}')
                running[kind] = subprocess.Popen(
                    [str(word) for word in command],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    env={**os.environ, 'THINK_MS': str(think_ms), 'SEED': str(self.dice.randrange(1 << 30))},
                )
            said = {kind: child.communicate(timeout=seconds + 60)[0] for kind, child in running.items()}
        finally:
            for child in running.values():
                stop(child)
        return {kind: answer_of(words) for kind, words in said.items()}

    def rows(self):
        for kind, answers in self.answers.items():
            errors = sum(answer['errors'] for answer in answers)
            # Over all windows: in a single one, the slowest 1 % would be one request or none.
            times = sorted(time / 1000 for answer in answers for time, count in answer['times'] for _ in range(count))
            rate = len(times) / sum(answer['seconds'] for answer in answers)
            yield kind, rate, [share_of(times, share) for share in (0.5, 0.95, 0.99, 1)], errors

    def tables(self, load):
        heads = ['request', 'people', 'a second', 'p50, ms', 'p95, ms', 'p99, ms', 'longest, ms', 'errors']
        rows = [
            [kind, PEOPLE[kind], f'{rate:.1f}', *(f'{time:.1f}' for time in times), errors]
            for kind, rate, times, errors in self.rows()
        ]
        about = (
            f'{self.size.experiments:,} experiments, {self.size.entries:,} entries; {sum(PEOPLE.values())} people, each thinks'
            f' {self.size.think_seconds} s on average; load average {load:.1f} before, {os.getloadavg()[0]:.1f} after'
        )
        return f'{about}\n\n{markdown(heads, rows)}\n\n{self.backup.table("with people")}'

    def shortfalls(self):
        short = []
        for kind, rate, times, _ in self.rows():
            p99 = times[2]
            if not p99 <= P99_MS_MAX:
                short.append(f'{kind}: p99 {p99:.0f} ms, at most {P99_MS_MAX} wanted')
            if rate < RATE_SHARE_MIN * PEOPLE[kind] / self.size.think_seconds:
                short.append(f'{kind}: only {rate:.1f} requests a second')
        return short + self.backup.shortfalls(BACKUP_LOSS_MAX)

    def faults(self):
        return [f'{kind}: {errors} errors' for kind, _, _, errors in self.rows() if errors]


def register_file(folder, service, lines):
    """Returns the seconds of a dry run, of the registration, and of the same file again."""
    say(f'registers {lines:,} experiments')
    body = visits(folder / 'visits', lines)
    return {
        'dry run': sent(service, '?dryRun=true', body, 'accepted', lines),
        'registered': sent(service, '', body, 'registered', lines),
        'the same file again': sent(service, '', body, 'unchanged', lines),
    }


def sent(service, query, body, outcome, lines):
    began = time.monotonic()
    told = service.post_csv(f'/experiments/bulk{query}', body)
    seconds = time.monotonic() - began
    if told[outcome] != lines:
        raise CannotMeasure(f'of {lines} lines not all are {outcome}')
    return seconds


def csv_table(lines, times):
    return markdown([f'CSV, {lines:,} lines', 'seconds'], [[name, f'{seconds:.1f}'] for name, seconds in times.items()]) + '\n'


def csv_shortfalls(lines, times):
    return [
        f'{lines:,} lines, {name}: {seconds:.1f} s, at most {CSV_SECONDS_MAX} wanted'
        for name, seconds in times.items()
        if seconds > CSV_SECONDS_MAX
    ]


class Start(Service):
    """`dozo serve`; the first start in a folder makes the database."""

    def __init__(self, folder):
        super().__init__(folder, **NO_SCRUB)

    def ask_first(self):
        with urllib.request.urlopen(f'http://127.0.0.1:{self.port}/actuator/health', timeout=5):
            pass  # an answer other than 200 is an exception

    def seconds(self):
        """Returns the seconds from the command to the first healthy answer."""
        began = time.monotonic()
        with self:
            return time.monotonic() - began


def start_shortfalls(starts):
    median = statistics.median(starts)
    return [f'start: {median:.1f} s, at most {START_SECONDS_MAX} wanted'] if median > START_SECONDS_MAX else []
