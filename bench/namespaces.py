"""Network namespaces: a site, and hosts that reach it through links of the same rate. Needs root, iproute2 and a kernel with tbf."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from processes import CannotMeasure, stop

PREFIX = 'dozo-bench'
SITE = '10.99.0.1'
LIMIT_SECONDS = 30
STOP_LIMIT_SECONDS = 120
# Set in a process that has a network namespace of its own.
OWN_NETWORK = 'BENCH_OWN_NETWORK'


def run(*words):
    ended = subprocess.run(list(map(str, words)), capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS)
    if ended.returncode != 0:
        raise CannotMeasure(f'{" ".join(map(str, words))}: {ended.stderr.strip() or ended.returncode}')
    return ended.stdout


def in_own_network(prepare):
    """Continues in a network namespace of its own, because this process must not change the network of the machine.

    `prepare`: a command that must run before, with the machine's network.
    """
    if os.geteuid() != 0:
        raise CannotMeasure('needs root')
    tools = [tool for tool in ('ip', 'tc', 'nsenter', 'unshare') if not shutil.which(tool)]
    if tools:
        raise CannotMeasure(f'needs {", ".join(tools)} (packages iproute2 and util-linux)')
    if os.environ.get(OWN_NETWORK):
        return
    subprocess.run(prepare, stdout=subprocess.DEVNULL, check=True)
    # In a session of its own, so that a signal to all of them does not reach it twice while it cleans up.
    command = ['unshare', '--net', sys.executable, *sys.argv]
    child = subprocess.Popen(command, env={**os.environ, OWN_NETWORK: '1'}, start_new_session=True)
    try:
        sys.exit(child.wait())
    finally:
        stop(child, STOP_LIMIT_SECONDS)


class Network:
    """A site, and near hosts that reach it through links of the same rate: this namespace (0), and one for each worker."""

    def __init__(self, bytes_per_second, workers):
        self.rate = 8 * bytes_per_second
        self.hub = f'{PREFIX}-{os.getpid()}-hub'
        self.names = [f'{PREFIX}-{os.getpid()}-w{number}' for number in range(1, workers + 1)]
        self.site = inside(self.hub)

    def __enter__(self):
        remove_left()
        try:
            run('ip', 'link', 'set', 'lo', 'up')
            for name in (self.hub, *self.names):
                run('ip', 'netns', 'add', name)
                run('ip', '-n', name, 'link', 'set', 'lo', 'up')
            run('ip', '-n', self.hub, 'address', 'add', f'{SITE}/32', 'dev', 'lo')
            run(*self.site, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward')
            self.connect(0, ())
            for number, name in enumerate(self.names, 1):
                self.connect(number, ('-n', name))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in (self.hub, *self.names):
            if namespace(name).exists():
                run('ip', 'netns', 'del', name)

    def connect(self, number, near):
        end = f'near{number}'
        run('ip', *near, 'link', 'add', 'line', 'type', 'veth', 'peer', 'name', end, 'netns', self.hub)
        run('ip', *near, 'address', 'add', f'{self.address(number)}/30', 'dev', 'line')
        run('ip', *near, 'link', 'set', 'line', 'up')
        run('ip', '-n', self.hub, 'address', 'add', f'10.99.{number + 1}.2/30', 'dev', end)
        run('ip', '-n', self.hub, 'link', 'set', end, 'up')
        run('ip', *near, 'route', 'add', 'default', 'via', f'10.99.{number + 1}.2')
        run('tc', *near, 'qdisc', 'add', 'dev', 'line', 'root', 'tbf', 'rate', f'{self.rate}bit', 'burst', '64kb', 'latency', '50ms')

    def address(self, number):
        return f'10.99.{number + 1}.1'

    def cut(self, number):
        """Cuts a worker's link. What its machine has sent and nobody has confirmed waits there."""
        run('ip', '-n', self.hub, 'link', 'set', f'near{number}', 'down')

    def mend(self, number):
        run('ip', '-n', self.hub, 'link', 'set', f'near{number}', 'up')

    def arrived_bytes(self):
        """Returns how many bytes of all links have arrived at the site."""
        links = json.loads(run('ip', '-j', '-s', '-n', self.hub, 'link'))
        return sum(each['stats64']['rx']['bytes'] for each in links if each['ifname'].startswith('near'))


def inside(name):
    """Returns the words that run a command in a namespace. The command keeps its mounts, unlike with ip."""
    return ('nsenter', f'--net={namespace(name)}', '--')


def namespace(name):
    return Path('/run/netns', name)


def remove_left():
    """Removes namespaces of benchmarks that were killed, and ends the processes in them."""
    for left in namespace('').glob(f'{PREFIX}-*-*'):
        owner = left.name.removeprefix(PREFIX).split('-')[1]
        if not Path('/proc', owner).exists():
            for process in run('ip', 'netns', 'pids', left.name).split():
                try:
                    os.kill(int(process), signal.SIGKILL)
                except ProcessLookupError:
                    pass  # ended meanwhile
            run('ip', 'netns', 'del', left.name)
