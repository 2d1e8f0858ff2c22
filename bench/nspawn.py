"""A Debian of its own with a running systemd, in a container of systemd-nspawn: no network but its loopback, nothing installed here.

Needs root on Debian. The container's processes end with the `with` block, and its control groups are removed.
"""

import os
import shutil
import subprocess
from pathlib import Path

from containers import codename, mounts_below, succeed
from processes import CannotMeasure, begin, children, name_and_session, stop, wait_for
from program import TOP

BOOT_SECONDS = 300
STOP_SECONDS = 180
COMMAND_SECONDS = 900
PATH = '/usr/sbin:/usr/bin:/sbin:/bin'


class Machine:
    """For a `with` block. `tree` is its root folder."""

    def __init__(self, folder, suite, packages):
        if os.geteuid() != 0 or not shutil.which('apt-get'):
            raise CannotMeasure('needs root on Debian')
        self.folder = folder
        self.name = f'dozo-bench-{os.getpid()}'
        self.tree = folder / self.name
        self.environment = {**os.environ, 'SYSTEMD_NSPAWN_UNIFIED_HIERARCHY': '1'}
        succeed([str(TOP / 'bench/bare/root'), suite, str(self.tree), packages])
        self.nspawn = shutil.which('systemd-nspawn') or self.unpacked()

    def unpacked(self):
        programs = self.folder / 'programs'
        if not programs.exists():
            succeed(['mmdebstrap', '--quiet', '--variant=extract', '--include=systemd-container', codename(), str(programs)])
        libraries = [*(programs / 'usr/lib').glob('*-linux-gnu'), *(programs / 'usr/lib').glob('*-linux-gnu/systemd')]
        self.environment['LD_LIBRARY_PATH'] = ':'.join(map(str, libraries))
        return str(programs / 'usr/bin/systemd-nspawn')

    def __enter__(self):
        self.groups = [hierarchy / self.name for hierarchy in hierarchies()]
        for group in self.groups:
            group.mkdir()
        command = [self.nspawn, '--quiet', '--register=no', '--keep-unit', '--private-network', '--link-journal=no']
        command += [f'--machine={self.name}', f'--directory={self.tree}', '--boot']
        self.container = begin(command, self.folder / 'console.log', env=self.environment, preexec_fn=self.join_groups)
        try:
            wait_for(self.has_booted, BOOT_SECONDS, 'the start of the container')
        except BaseException:
            self.__exit__()
            raise
        return self

    def join_groups(self):
        for group in self.groups:
            (group / 'cgroup.procs').write_text(str(os.getpid()))

    def has_booted(self):
        if self.container.poll() is not None:
            raise CannotMeasure(f'the container ended: {self.console()}')
        try:
            self.init = next((pid for pid in children(self.container.pid) if name_and_session(pid)[0] == 'systemd'), None)
        except (FileNotFoundError, ProcessLookupError):
            return False  # a child ended meanwhile
        return self.init is not None and self.state() in ('running', 'degraded')

    def state(self):
        return self.try_run('systemctl', 'is-system-running').stdout.strip()

    def console(self):
        return (self.folder / 'console.log').read_text(errors='replace')[-1500:]

    def __exit__(self, *_):
        stop(self.container, STOP_SECONDS)
        for mount in mounts_below(self.tree):
            subprocess.run(['umount', '--lazy', mount], timeout=60)
        for group in self.groups:
            for folder, _, _ in os.walk(group, topdown=False):
                wait_for(lambda each=folder: removed(each), STOP_SECONDS, f'the end of all processes in {folder}')
        propagated = Path('/run/systemd/nspawn/propagate', self.name)
        if propagated.is_dir():
            propagated.rmdir()

    def entering(self, *words):
        """Returns the words that run a command in the container as root, in an environment with variables that stand before it."""
        enter = ['nsenter', '--target', str(self.init), '--mount', '--uts', '--ipc', '--net', '--pid', '--cgroup', '--']
        return [*enter, 'env', '--chdir=/root', '--ignore-environment', f'PATH={PATH}', 'HOME=/root', 'TERM=dumb', *words]

    def try_run(self, *words, limit_seconds=COMMAND_SECONDS, **options):
        """Runs a command in the container as root and returns the ended process, with what it printed."""
        return subprocess.run(
            self.entering('LANG=C.UTF-8', *map(str, words)),
            stdin=None if 'input' in options else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=limit_seconds,
            **options,
        )

    def run(self, *words, **options):
        """Returns what a command prints on standard output; it must succeed."""
        ended = self.try_run(*words, **options)
        if ended.returncode != 0:
            raise CannotMeasure(f'{" ".join(map(str, words))[:200]}: exit code {ended.returncode}: {(ended.stdout + ended.stderr).strip()[-1500:]}')
        return ended.stdout

    def shell(self, line):
        """Runs a line of the documentation, as root."""
        return self.run('bash', '-o', 'pipefail', '-ec', line)


def hierarchies():
    """Returns the control groups in which systemd keeps processes: that of version 2, and beside it that of version 1."""
    top = Path('/sys/fs/cgroup')
    if (top / 'cgroup.procs').exists():
        return [top]
    return [top / name for name in ('unified', 'systemd') if (top / name / 'cgroup.procs').exists()]


def removed(folder):
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True
