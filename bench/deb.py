"""The Debian package and the Ansible role on a bare Debian: installed, upgraded, removed and purged, and their data stays.

In a container with systemd and without network (nspawn.py). Ansible runs outside and reaches it by SSH.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from measure import workspace
from nspawn import Machine
from processes import CannotMeasure
from program import LAUNCHER, TOP
from row import Transcript, shown, teller

SUITE = 'bookworm'
PACKAGES = 'systemd,systemd-sysv,dbus,openssh-server,python3'  # the last two for Ansible
ANSIBLE = 'ansible-core==2.19.14'
SECRET = 'a secret of this bench'
START_SECONDS = 600
PLAY_SECONDS = 1800
say = teller('deb')


def add_options(parser):
    parser.add_argument('--package', metavar='FILE', help='tests this package; else makes one')
    parser.add_argument('--suite', default=SUITE, help="Debian's name of the release; default: %(default)s")
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    with workspace(options.work) as (_, folder):
        first = Path(options.package).resolve() if options.package else made_package(folder)
        later = with_higher_version(first, folder)
        say('makes a machine')
        machine = Machine(folder, options.suite, PACKAGES)
        for package in (first, later):
            shutil.copy(package, machine.tree / 'root')
        with machine:
            package = Package(machine, first, later)
            print('## transcript\n\n```', flush=True)
            try:
                package.by_apt()
                package.by_ansible(folder)
            finally:
                print('```\n', flush=True)
    return shown('deb', package.rows), ''


def made_package(folder):
    say('makes the package')
    return Path(succeed([LAUNCHER, 'package', '--deb', folder]).split()[-1])


def with_higher_version(package, folder):
    """Returns the same package, with a 9 before its version."""
    tree, later = folder / 'later', folder / package.name.replace('dozo_', 'dozo_9')
    succeed(['dpkg-deb', '--raw-extract', package, tree])
    for file in (tree / 'DEBIAN/control', tree / 'usr/lib/dozo/version'):
        file.write_text(re.sub(r'^(Version: )?(\d)', r'\g<1>9\2', file.read_text(), count=1, flags=re.MULTILINE))
    succeed(['dpkg-deb', '--root-owner-group', '-Znone', '--build', tree, later])
    shutil.rmtree(tree)
    return later


def succeed(command):
    """Returns what a command prints on standard output; it must succeed."""
    ended = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=3600)
    if ended.returncode != 0:
        raise CannotMeasure(f'{command[0]} failed: {(ended.stdout + ended.stderr)[-1500:]}')
    return ended.stdout


class Package(Transcript):
    def __init__(self, machine, first, later):
        super().__init__()
        self.machine, self.first, self.later = machine, first, later

    def apt(self, *words, good=True):
        ended = self.machine.try_run('env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '--yes', *words)
        if (ended.returncode == 0) != good:
            raise CannotMeasure(f'apt-get {" ".join(words)}: exit code {ended.returncode}: {(ended.stdout + ended.stderr)[-1500:]}')
        return ended.stdout + ended.stderr

    def dozo(self, *words):
        return self.machine.run('runuser', '-u', 'dozo', '--', 'dozo', *words)

    def there(self, *paths):
        """Returns which of the files are there."""
        return [path for path in paths if os.path.lexists(self.machine.tree / path.lstrip('/'))]

    def equal(self, name, claimed, found):
        self.expect(name, claimed, found, found == claimed)

    def unit(self, *properties):
        return self.machine.run('systemctl', 'show', '--value', '--property', ','.join(properties), 'dozo').split()

    def healthy(self):
        """Returns what the service answers to a health check."""
        ask = "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:8080/actuator/health', timeout=20).status)"
        return self.machine.try_run('python3', '-c', ask).stdout.strip()

    def digest(self, file):
        return hashlib.sha256((self.machine.tree / file.lstrip('/')).read_bytes()).hexdigest()

    def data_is_there(self, when):
        listed = self.dozo('project', 'list')
        self.expect(when, 'P1', 'P1' if 'P1' in listed else listed, 'P1' in listed)

    def release_in_use(self):
        return os.readlink(self.machine.tree / 'opt/dozo/current').removeprefix('releases/')

    # --- apt ---

    def by_apt(self):
        settings, first, later = '/etc/dozo/dozo.env', f'/root/{self.first.name}', f'/root/{self.later.name}'
        self.apt('install', first)
        self.tell('apt-get install')
        self.equal('after the installation', ['inactive', 'disabled'], self.unit('ActiveState', 'UnitFileState'))
        self.equal('owner of /usr/bin/dozo', 'dozo: /usr/bin/dozo', self.machine.run('dpkg', '-S', '/usr/bin/dozo').strip())
        self.machine.run('systemd-analyze', 'verify', '--man=no', 'dozo.service', 'dozo-worker.service')
        self.dozo('doctor')
        self.machine.shell(f'echo DOZO_SCHEDULE_CRON=- >> {settings}')
        digest = self.digest(settings)
        self.machine.run('systemctl', 'enable', '--now', 'dozo', limit_seconds=START_SECONDS)
        self.dozo('project', 'add', 'P1')
        self.equal('health', '200', self.healthy())
        self.tell('set up and started')

        process, before = self.unit('MainPID'), self.release_in_use()
        self.apt('install', later)
        self.equal('the running release during an upgrade', (process, '200'), (self.unit('MainPID'), self.healthy()))
        self.equal('its files', [f'/opt/dozo/releases/{before}/app/rehearsed'], self.there(f'/opt/dozo/releases/{before}/app/rehearsed'))
        self.equal('the release after an upgrade', f'9{before}', self.release_in_use())
        self.machine.run('systemctl', 'restart', 'dozo', limit_seconds=START_SECONDS)
        self.data_is_there('data after an upgrade')
        self.equal('settings after an upgrade', digest, self.digest(settings))
        # The service must not write into the program, nor the program into what dpkg has written.
        self.equal('dpkg --verify', '', self.machine.try_run('dpkg', '--verify', 'dozo').stdout)
        refused = self.apt('install', first, good=False)
        self.expect('a downgrade', 'refused', 'refused' if 'downgraded' in refused else refused, 'downgraded' in refused)
        self.tell('upgraded')

        self.apt('remove', 'dozo')
        kept = [settings, '/var/lib/dozo/postgres']
        self.equal('after a removal', kept, self.there(*kept, '/opt/dozo', '/usr/lib/dozo', '/usr/bin/dozo', '/usr/lib/systemd/system/dozo.service'))
        self.equal('the service', ['inactive'], self.unit('ActiveState'))
        self.tell('removed')
        self.killed_installation(later)
        self.machine.run('systemctl', 'start', 'dozo', limit_seconds=START_SECONDS)
        self.data_is_there('data after a removal')
        self.equal('settings after a removal', digest, self.digest(settings))
        self.tell('installed again')

        said = self.apt('purge', 'dozo')
        left = re.findall(r'^Still there: (?:\d\S* )?(.+)$', said, re.MULTILINE)
        self.equal('what a purge names', ['/var/lib/dozo', 'the user dozo'], left)
        self.equal('after a purge', ['/var/lib/dozo/postgres'], self.there('/var/lib/dozo/postgres', '/etc/dozo', '/var/cache/dozo', '/opt/dozo'))
        self.tell('purged: ' + '; '.join(re.findall(r'^Still there: .*$', said, re.MULTILINE)))

    def killed_installation(self, package):
        """Kills an installation while it makes the caches, and finishes it as dpkg proposes."""
        self.machine.shell(f"""\
apt-get --yes install {package} > /dev/null 2>&1 &
until [ -e /opt/dozo/releases/*/app/rehearsal.lock ]; do sleep 0.1; done
kill -KILL $(grep -lasF /usr/lib/dozo/install /proc/[0-9]*/cmdline | cut -d / -f 3 | grep -vx $$)
wait $! || true""")
        self.equal('a killed installation', 'iF', self.machine.run('dpkg-query', '--show', '--showformat', '${db:Status-Abbrev}', 'dozo').strip())
        self.machine.run('dpkg', '--configure', '--pending')
        made = self.there(f'/opt/dozo/releases/{self.release_in_use()}/app/rehearsed')
        self.equal('caches after dpkg --configure', 1, len(made))

    # --- Ansible ---

    def by_ansible(self, folder):
        say('installs Ansible')
        self.ansible = Ansible(self.machine, folder)
        first, later = self.ansible.released(self.first), self.ansible.released(self.later)
        secret = '/etc/dozo/secrets/admin-password'
        first |= {
            'dozo_settings': {'DOZO_ADMIN_PASSWORD_FILE': secret, 'DOZO_USER': 'admin', 'DOZO_PASSWORD_FILE': secret},
            'dozo_secrets': {'admin-password': SECRET},
            'dozo_unit': '[Service]\nReadWritePaths=/srv\n',
        }
        later = first | later
        self.refused('another digest', first | {'dozo_package_sha256': '0' * 64}, f'{"0" * 64}, found {first["dozo_package_sha256"]}')
        self.refused('another key', first | {'dozo_release_key': self.ansible.another_key()}, 'Verify the signature')
        self.equal('after a refusal', [], self.there('/usr/lib/dozo', '/opt/dozo'))

        changed, said = self.ansible.play(first, '-vvv', '--diff')
        self.expect('the role installs', 'changed', changed, changed > 0)
        self.equal('the secret in the output of -vvv --diff', False, SECRET in said)
        self.equal('the secret', f'640 root dozo {SECRET}', self.machine.shell(f'echo "$(stat -c "%a %U %G" {secret}) $(cat {secret})"').strip())
        self.equal('the service', (['active', 'enabled'], '200'), (self.unit('ActiveState', 'UnitFileState'), self.healthy()))
        self.data_is_there('data of before')
        self.tell(f'the role has installed: {changed} changed')
        self.twice(first)
        # As after a play that was killed before the restart.
        self.machine.run('touch', secret)
        self.equal('the role after a change without a restart', 1, self.ansible.play(first)[0])

        self.refused('a wrong setting', first | {'dozo_settings': {'DOZO_TRANSFER_LANES': 65}}, 'DOZO_TRANSFER_LANES is')
        self.refused('an upgrade without a backup', later, 'Expected dozo_backup_folder')
        self.equal('health after refusals', '200', self.healthy())

        self.machine.run('install', '-d', '-o', 'dozo', '-m', '700', '/srv/of-dozo')
        later['dozo_backup_folder'] = '/srv/of-dozo'
        before = self.release_in_use()
        changed, _ = self.ansible.play(later)
        self.equal('the release after an upgrade', f'9{before}', self.release_in_use())
        running = self.machine.run('readlink', f'/proc/{self.unit("MainPID")[0]}/exe').split('/')[4]
        self.equal('the running release after an upgrade', (f'9{before}', '200'), (running, self.healthy()))
        self.equal('backups', 1, len(list((self.machine.tree / 'srv/of-dozo').iterdir())))
        self.tell(f'the role has upgraded: {changed} changed')
        self.twice(later)

    def twice(self, variables):
        changed, _ = self.ansible.play(variables)
        self.equal('the role again', 0, changed)
        self.tell(f'the role again: {changed} changed')

    def refused(self, what, variables, words):
        changed, said = self.ansible.play(variables, good=False)
        self.expect(what, f'"{words}"', 'refused' if words in said else said[-1500:], words in said and changed == 0)


class Ansible:
    def __init__(self, machine, folder):
        self.machine, self.folder = machine, folder / 'ansible'
        succeed([sys.executable, '-m', 'venv', self.folder])
        succeed([self.folder / 'bin/pip', 'install', '--quiet', '--disable-pip-version-check', ANSIBLE])
        self.key = self.another_key('key')
        machine.run('install', '-D', '-m', '600', '/dev/stdin', '/root/.ssh/authorized_keys', input=self.key)
        (self.folder / 'play.yml').write_text('[{hosts: all, roles: [dozo]}]')
        # By a name of its own: 127.0.0.1 would be the control machine.
        (self.folder / 'inventory').write_text('server ansible_host=127.0.0.1\n')
        self.environment = {
            'PATH': os.environ['PATH'],
            'HOME': str(self.folder),
            'LANG': 'C.UTF-8',
            'ANSIBLE_HOST_KEY_CHECKING': 'False',
            'ANSIBLE_ROLES_PATH': str(TOP / 'docs/ansible/roles'),
        }

    def another_key(self, name='another'):
        """Makes a key, and returns its public part."""
        succeed(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', self.folder / name])
        return (self.folder / f'{name}.pub').read_text().strip()

    def released(self, package):
        """Returns the role's variables for a package, which it puts into a signed release."""
        release = self.folder / f'release-{package.name}'
        release.mkdir()
        (release / package.name).symlink_to(package)
        with open(package, 'rb') as file:
            digest = hashlib.file_digest(file, 'sha256').hexdigest()
        (release / 'SHA256SUMS').write_text(f'{digest}  {package.name}\n')
        succeed(['ssh-keygen', '-q', '-Y', 'sign', '-n', 'dozo', '-f', self.folder / 'key', release / 'SHA256SUMS'])
        return {'dozo_package': str(release / package.name), 'dozo_package_sha256': digest, 'dozo_release_key': self.key}

    def play(self, variables, *options, good=True):
        """Returns how many tasks changed something, and what Ansible printed."""
        (self.folder / 'variables.json').write_text(json.dumps(variables))
        command = ['nsenter', '--target', self.machine.init, '--net', self.folder / 'bin/ansible-playbook', '--inventory', self.folder / 'inventory']
        command += ['--user', 'root', '--private-key', self.folder / 'key', '--extra-vars', f'@{self.folder}/variables.json', *options]
        ended = subprocess.run(
            list(map(str, [*command, self.folder / 'play.yml'])),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PLAY_SECONDS,
            env=self.environment,
        )
        changed = re.search(r'changed=(\d+)', ended.stdout)
        if (ended.returncode == 0) != good or not changed:
            raise CannotMeasure(f'ansible-playbook: exit code {ended.returncode}: {ended.stdout[-3000:]}')
        return int(changed[1]), ended.stdout
