"""A stranger's way on a bare system, by the words of docs/start alone: package, first verified night, restore; upgrade and removal.

The commands are the blocks of the pages. `LEFT` is what the pages leave to their reader. The machine is a Debian without Java, Maven,
locale and network, in a container (nspawn.py), and its own sshd is the site. A second machine has an earlier package with data.
"""

import itertools
import os
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

from measure import workspace
from nspawn import Machine
from processes import CannotMeasure, wait_for_end
from program import TOP, made_package
from row import Transcript, add_parts, at_most, chosen_parts, exactly, shown, teller
from table import markdown

SUITES = 'bookworm,trixie'
PACKAGES = 'systemd,systemd-sysv,openssh-server'
EARLIER = 'b8e118b8'  # a build of 29 November 2026, whose schema is 12 migrations older
SECONDS_MAX = 900
COMMAND_SECONDS = 900
CLOSE_SECONDS = 10
say = teller('stranger')

PAGES = {
    'install': 'start/install.md',
    'night': 'start/first-night.md',
    'restore': 'start/first-restore.md',
    'yearly': 'run/yearly.md',
    'services': 'run/services.md',
}

# Page, words of a command in a block there, and the words that are run instead. An empty text leaves the command out.
LEFT = (
    ('install', './dozo package', ''),  # on another machine; the bench made it
    ('install', 'sha256sum target', ''),
    ('install', 'scp target', ''),
    ('night', "'KEY'", "'{key}'"),
    ('night', 'dr.example.org', '127.0.0.1'),
    ('night', "'ssh-ed25519 AAAA…'", "'{host key}'"),
    ('restore', "--path anat --pattern '*.json'", "--path common-licenses --pattern 'GPL*'"),
    ('yearly', 'FOLDER', '/backup'),
    ('yearly', 'dozo-NEW', '{new}'),
    ('yearly', 'dozo-OLD', '{old}'),
    ('yearly', 'dozo-TIME', 'dozo-2*'),
)
# Page, the beginning of a command, and a command that the text of the page asks for before it.
BEFORE = (
    ('night', 'adduser', 'dozo site key'),
    ('restore', 'dozo project restore-roots', 'install -d -o dozo -g dozo /restore /spool'),
    ('restore', 'dozo project restore-roots', 'mkdir /etc/systemd/system/dozo.service.d'),
    ('restore', 'dozo project restore-roots', "echo '{drop-in}' > /etc/systemd/system/dozo.service.d/override.conf"),  # systemctl edit dozo
    ('restore', 'dozo project restore-roots', 'systemctl daemon-reload; systemctl restart dozo'),
)
# The beginning of a block, and the user of the site who runs it.
AS = (('cd /srv/dozo', 'dr'),)
# The end of a command, what it must print, and its exit code.
PRINTS = (
    ('dozo status', 'No experiment is registered yet', 1),  # no night yet
    ('dozo site add dr dr@127.0.0.1:/srv/dozo', '--host-key', 2),
    ('dozo site check dr', 'site dr can be used', 0),
    ('dozo run --wait', 'is complete: 100%', 0),
    ('dozo coverage', 'is safe: ', 0),
    ('echo all as listed', 'all as listed', 0),
    ('echo same as the source', 'same as the source', 0),
    ('dozo restore P1/E1 --as-of yesterday /root/yesterday', '', 3),  # there was none
)


def add_options(parser):
    parser.add_argument('--suite', metavar='SUITES', default=SUITES, help="Debian's names of the releases; default: %(default)s")
    parser.add_argument('--package', metavar='FILE', help='tests this package; else makes one')
    parser.add_argument('--earlier', metavar='COMMIT', default=EARLIER, help='upgrades from the package of this commit; default: %(default)s')
    add_parts(parser, WAYS)
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    chosen, shortfalls = chosen_parts(options, WAYS), []
    with workspace(options.work) as (_, folder):
        say('makes the packages')
        earlier = package_of(options.earlier) if 'upgrade' in chosen else None
        package = Path(options.package) if options.package else made_package(folder)
        print(markdown(('page', 'words', 'run instead'), [(page, words, instead or '(left out)') for page, words, instead in LEFT]))
        print('\n' + markdown(('page', 'before', 'is run'), BEFORE), end='\n\n', flush=True)
        for suite in options.suite.split(','):
            for way in map(WAYS.get, chosen):
                say(f'{suite}: makes a machine')
                machine = Machine(folder, suite, PACKAGES)
                try:
                    with machine, Stranger(machine) as stranger:
                        print(f'## {suite}, {way.__doc__}\n\n```', flush=True)
                        way(stranger, package, earlier)
                        print('```\n', flush=True)
                finally:
                    shutil.rmtree(machine.tree)
                shortfalls += [f'{suite}: {each}' for each in shown(f'{suite}, {way.__doc__[:-1]}', stranger.rows)]
    return shortfalls, ''


def package_of(commit):
    """Returns the package of an earlier commit, made once in a clone."""
    place = TOP / 'target' / 'bare' / commit
    found = list(place.glob('dozo-*.tar.gz'))
    if not found:
        clone = place / 'clone'
        shutil.rmtree(place, ignore_errors=True)
        for command in (['clone', '--quiet', '--shared', '--no-checkout', TOP, clone], ['-C', clone, 'checkout', '--quiet', commit]):
            if subprocess.run(['git', *command]).returncode != 0:
                raise CannotMeasure(f'expected the commit {commit} in the history of {TOP}')
        made = made_package(clone / 'target', clone / 'dozo')
        found = [made.rename(place / made.name)]  # only now, so that no half of one is found
        shutil.rmtree(clone)
    return found[0]


def first_way(stranger, package, _):
    """package, first night, first restore."""
    stranger.bring(package)
    began = len(stranger.seconds)
    for page in ('install', 'night', 'restore'):
        stranger.follow(page)
    total = sum(stranger.seconds[began:])
    stranger.tell(f'{total:.0f} s in commands')
    stranger.expect_same('commands of the pages with a result to check', len(stranger.judged), len(PRINTS))
    stranger.rows.append(at_most('package, first verified night, restores; s', total, SECONDS_MAX, f'{total:.0f}', True))


def upgrade(stranger, package, earlier):
    """an earlier package with data, upgrade, downgrade, removal."""
    stranger.bring(earlier)
    stranger.follow('install', until='dozo doctor')
    stranger.run('systemctl enable --now dozo')
    stranger.follow('night', until='cd /srv/dozo')
    stranger.run('echo more > /data/visit/more.txt')
    stranger.bring(package)
    stranger.follow('yearly', until='systemctl stop dozo')
    stranger.run('dozo run --wait')
    stranger.run('dozo coverage')
    stranger.run('dozo restore P1/E1 /root/upgraded')
    stranger.run('diff -r --no-dereference /data/visit /root/upgraded && echo same as the source')
    before = stranger.facts()
    stranger.downgrade(earlier)
    stranger.run('./install && systemctl restart dozo')
    stranger.expect_same('keys and what is safe after a refused downgrade', 'same' if stranger.facts() == before else 'other', 'same')
    stranger.follow('yearly', start='systemctl stop dozo')
    stranger.run('dozo run --wait', 'SITE_AHEAD', 1)
    stranger.run('dozo coverage')
    stranger.run('./install --remove')
    stranger.removed()


WAYS = {'first': first_way, 'upgrade': upgrade}


class Terminal:
    """A shell of root on the machine, without a locale, in which commands run one after another."""

    LOOP = r'exec 3<&0; while IFS= read -rd "" line <&3; do eval "$line" < /dev/null 3<&-; printf "\0%s\0" $?; done'

    def __init__(self, machine):
        command = machine.entering('bash', '-c', self.LOOP)
        self.shell = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def close(self):
        """Ends the shell at its end of input; if a command hangs, it ends with the machine. NB: a killed nsenter leaves a zombie there."""
        self.shell.stdin.close()
        wait_for_end(self.shell.pid, CLOSE_SECONDS)

    def run(self, command):
        """Returns the exit code and what it printed."""
        self.shell.stdin.write(command.encode() + b'\0')
        self.shell.stdin.flush()
        deadline, printed = time.monotonic() + COMMAND_SECONDS, b''
        while not (ended := re.search(rb'\0(\d+)\0$', printed)):
            if not select.select([self.shell.stdout], [], [], max(0, deadline - time.monotonic()))[0]:
                raise CannotMeasure(f'{command}: not done after {COMMAND_SECONDS} s: {printed.decode()[-1000:]}')
            more = os.read(self.shell.stdout.fileno(), 65_536)
            if not more:
                raise CannotMeasure(f'{command}: the shell has ended: {printed.decode()[-1000:]}')
            printed += more
        return int(ended[1]), printed[: ended.start()].decode(errors='replace')


class Stranger(Transcript):
    def __init__(self, machine):
        super().__init__()
        self.machine = machine
        self.terminal = Terminal(machine)
        self.seconds = []
        self.judged = set()
        self.known = {'drop-in': blocks('services', 'ini')[0][1].rstrip()}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.terminal.close()

    def bring(self, package):
        """Copies a package to the machine with what a release has beside it: digests, their signature, and the key."""
        home = self.machine.tree / 'root'
        for left in home.glob('dozo-*.tar.gz'):
            left.unlink()
        shutil.copy(package, home)
        self.known['old'] = self.known.get('new', '')
        self.known['new'] = package.name.partition('-linux-')[0]
        sign = """\
sha256sum dozo-*.tar.gz > SHA256SUMS
[ -e key ] || ssh-keygen -q -t ed25519 -N '' -f key
echo "dozo $(cat key.pub)" > allowed
rm -f SHA256SUMS.sig
ssh-keygen -q -Y sign -n dozo -f key SHA256SUMS"""
        self.machine.run('bash', '-ec', sign)

    def follow(self, page, start='', until=None):
        """Runs the commands of a page: from one that begins with `start`, else in a new terminal; before one that begins with `until`."""
        if not start:
            self.terminal.close()
            self.terminal = Terminal(self.machine)
        every = (command for block in blocks(page) for command in commands(*block))
        for command in itertools.dropwhile(lambda each: not each.startswith(start), every):
            if until and command.startswith(until):
                break
            for _, beginning, before in (row for row in BEFORE if row[0] == page):
                if command.startswith(beginning):
                    self.run(self.filled(before))
            for _, words, instead in (row for row in LEFT if row[0] == page):
                command = command.replace(words, instead) if instead or words not in command else ''
            if command:
                self.run(self.filled(command))

    def filled(self, command):
        for name, value in self.known.items():
            command = command.replace('{' + name + '}', value)
        return command

    def run(self, command, wanted='', code_wanted=0):
        """Runs a command as the reader does, and judges what it prints; without other words by `PRINTS`."""
        user = next((user for beginning, user in AS if command.startswith(beginning)), None)
        shown_command = re.sub(r'  +# .*', '', command, flags=re.MULTILINE)
        if not wanted and (rule := next((row for row in PRINTS if shown_command.endswith(row[0])), None)):
            self.judged.add(rule)
            _, wanted, code_wanted = rule
        began = time.monotonic()
        code, printed = self.terminal.run(f"runuser -u {user} -- sh -ec '{command}'" if user else command)
        seconds = time.monotonic() - began
        self.seconds.append(seconds)
        print(f'{seconds:6.1f} s  {shown_command[:180]}'.replace('\n', '\n          '), flush=True)
        if code != code_wanted or wanted not in printed:
            print(f'{printed.strip()[-1500:]}\n        exit code {code}', flush=True)
            claimed = f'exit code {code_wanted}, "{wanted}"'
            self.expect(shown_command, claimed, f'exit code {code}: {printed.strip()[-200:]}', False)
        self.learn(shown_command, printed)

    def learn(self, command, printed):
        """Keeps what the reader copies from one command into a later one."""
        if command == 'dozo site key':
            self.known['key'] = printed.strip().splitlines()[-1]
        elif command.startswith('ssh-keygen -l'):
            self.known['fingerprint'] = printed.split()[1]
        elif key := re.search(r"--host-key '([^']+)'", printed):
            self.known['host key'] = key[1]
            self.expect_same('the fingerprint of the host key at both ends', re.search(r'SHA256:\S+', printed)[0], self.known['fingerprint'])

    def expect_same(self, name, found, claimed):
        self.rows.append(exactly(name, found, claimed))

    def facts(self):
        """Returns what must not change: what is safe, and the keys."""
        self.run('dozo ledger verify')
        keys = self.machine.shell('cd /var/lib/dozo && sha256sum *-key admin-password')
        return self.machine.run('runuser', '-u', 'dozo', '--', 'dozo', 'coverage'), keys

    def downgrade(self, earlier):
        """Installs the earlier package over the data of the present one."""
        self.machine.shell(f'cd /root/{earlier.name.removesuffix(".tar.gz")} && ./install --without-caches')
        ended = self.machine.try_run('systemctl', 'restart', 'dozo')
        said = self.machine.run('journalctl', '--unit', 'dozo', '--output', 'cat', '--no-pager', '--lines', '60')
        refused = re.search(r'a later version of Dozo has upgraded the database[^\n]*', said)
        self.tell(f'an earlier package: {refused[0] if refused else said[-500:]}')
        self.expect_same('the earlier package over later data', 'refused' if refused and ended.returncode else 'not refused', 'refused')

    def removed(self):
        """Checks what a removal has left."""
        gone = self.machine.try_run('bash', '-c', 'ls -d /opt/dozo /usr/bin/dozo /usr/lib/systemd/system/dozo*; pgrep -u dozo').stdout.split()
        self.expect_same('the program after its removal', gone or 'nothing', 'nothing')
        left = self.machine.try_run('ls', '-d', '/etc/dozo/dozo.env', '/var/lib/dozo/postgres', '/srv/dozo/P1/E1/data').stdout.split()
        self.expect_same('settings, database and copies after its removal', len(left), 3)


def blocks(page, languages='sh|console'):
    """Returns the blocks of a page in these languages: (language, text)."""
    text = (TOP / 'docs' / PAGES[page]).read_text()
    return re.findall(rf'^```({languages})\n(.*?)^```', text, re.MULTILINE | re.DOTALL)


def commands(language, block):
    """Returns the commands of a block: those behind a prompt, or the lines; all of it if a user of the site runs it."""
    if language == 'console':
        return re.findall('^# (.+)', block, re.MULTILINE)
    if any(block.startswith(beginning) for beginning, _ in AS):
        return [block.rstrip()]
    return [line for line in block.splitlines() if line]
