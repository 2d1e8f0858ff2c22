"""A temporary OpenSSH server: own keys and configuration, by default loopback only, default limits and ciphers."""

import getpass
import os
import shutil
import socket
import subprocess
from pathlib import Path

from processes import CannotMeasure, children, cpu_seconds, stop, wait_for

SYSTEM_FOLDERS = '/usr/sbin:/sbin:/usr/local/sbin'

# MaxSessions and MaxStartups are not set: results must hold with the defaults of a server. With SHLVL=1 bash does not
# regard itself as the first shell and skips its start-up file for each command.
SERVER_CONFIGURATION = """\
ListenAddress {address}
Port {port}
HostKey {folder}/host_key
PidFile {folder}/sshd.pid
AuthorizedKeysFile {folder}/user_key.pub
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
Subsystem sftp internal-sftp
PrintMotd no
LogLevel ERROR
SetEnv SHLVL=1{environment}{forced}
"""

CLIENT_CONFIGURATION = """\
Host {name} {address}
  HostName {address}
  Port {port}
  User {user}
  IdentityFile {key}
  IdentitiesOnly yes
  UserKnownHostsFile {known}
  StrictHostKeyChecking yes
  PreferredAuthentications publickey
"""


def find_tool(name):
    """Returns a tool's absolute path, which sshd requires for its own start; None if there is none."""
    found = shutil.which(name) or shutil.which(name, path=SYSTEM_FOLDERS)
    return found and os.path.abspath(found)


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as listener:
        return listener.getsockname()[1]


class Server:
    """The site's sshd, for a `with` block."""

    def __init__(self, folder, environment='', forced=None, address='127.0.0.1', inside=(), outside=()):
        """Prepares the server.

        `environment`: NAME=VALUE for the programs that it starts. `forced`: a program that replaces every requested
        one. `inside` and `outside`: words before the commands of sshd and of its clients, which run them in network
        namespaces.
        """
        self.address = address
        self.inside = inside
        self.outside = outside
        self.folder = Path(folder)
        self.environment = environment and ' ' + environment
        self.forced = f'\nForceCommand {forced}' if forced else ''
        self.key = self.folder / 'user_key'
        self.known_hosts = self.folder / 'known_hosts'
        self.log = self.folder / 'sshd.log'
        self.user = getpass.getuser()
        self.port = free_port()

    def __enter__(self):
        sshd = find_tool('sshd')
        if not sshd:
            raise CannotMeasure('sshd is missing (package openssh-server)')
        self.folder.mkdir(mode=0o700)
        self.make_key('host_key')
        self.make_key('user_key')
        if os.geteuid() == 0:
            Path('/run/sshd').mkdir(mode=0o755, exist_ok=True)
        configuration = self.folder / 'sshd_config'
        configuration.write_text(
            SERVER_CONFIGURATION.format(
                address=self.address,
                port=self.port,
                folder=self.folder,
                environment=self.environment,
                forced=self.forced,
            )
        )
        command = [*self.inside, sshd, '-D', '-f', configuration, '-E', self.log]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            wait_for(self.is_listening, 20, 'sshd')
            self.log_in_once()
        except BaseException:
            stop(self.process)
            raise
        return self

    def __exit__(self, *_):
        stop(self.process)

    def make_key(self, name):
        command = ['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'bench', '-f', self.folder / name]
        subprocess.run(command, check=True, timeout=30)

    def is_listening(self):
        if self.process.poll() is not None:
            raise CannotMeasure(f'sshd ended: {self.last_words()}')
        return (self.folder / 'sshd.pid').exists()  # written when it listens

    def log_in_once(self):
        command = [*self.outside, 'ssh', '-F', self.client_configuration(self.port), 'site', 'true']
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=30)
        if ended.returncode != 0:
            raise CannotMeasure(f'cannot log in at the sshd: {ended.stderr.strip()} {self.last_words()}')

    def client_configuration(self, port, name='site'):
        """Returns a file for `ssh -F` with a host of this name, reached by this port (the server's own, or a relay's)."""
        host_key = ' '.join((self.folder / 'host_key.pub').read_text().split()[:2])
        with open(self.known_hosts, 'a') as known:
            known.write(f'[{self.address}]:{port} {host_key}\n')
        path = self.folder / f'ssh_config.{name}.{port}'
        path.write_text(
            CLIENT_CONFIGURATION.format(
                name=name, address=self.address, port=port, user=self.user, key=self.key, known=self.known_hosts
            )
        )
        return path

    def wait_for_sessions(self):
        """Waits until all sessions have ended and their CPU time is counted."""
        wait_for(lambda: not children(self.process.pid), 20, "the end of sshd's sessions")

    def cpu_seconds(self):
        return cpu_seconds(self.process.pid)

    def last_words(self):
        return ' | '.join(self.log.read_text(errors='replace').splitlines()[-5:]) if self.log.exists() else ''
