"""A link in network namespaces: a sender, a router with a shaped and possibly classified egress, and a site.

Near and site are hosts. Everything from near to the site leaves the router through one queue at the rate of the link. So the
queue is not in the sender, whose TCP would otherwise see how full it is. Answers come back without a limit, and later by the
round trip (traffic.py). Needs root, iproute2, and a kernel with htb, u32 and TUN.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from processes import CannotMeasure, stop

TRAFFIC = Path(__file__).with_name('traffic.py')
PREFIX = 'dozo-bench'
# Addresses of documentation, which exist only in the namespaces.
NEAR, NEAR_ROUTER, SITE, SITE_ROUTER = '192.0.2.1', '192.0.2.2', '198.51.100.1', '198.51.100.2'
MARK = 'af11'
MARK_FIELD = '0x28 0xfc'  # the field of the IP header with its mask: the upper six bits are the mark
GUARANTEED = 0.3
FRAME_BYTES_MAX = 1514
QUEUE_FRAMES_MIN = 20
LIMIT_SECONDS = 30
STOP_LIMIT_SECONDS = 120
# Set in a process that has a network namespace of its own.
OWN_NETWORK = 'BENCH_OWN_NETWORK'


class Failed(CannotMeasure):
    """A command for networks failed."""


def run(*words):
    ended = subprocess.run(list(map(str, words)), capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS)
    if ended.returncode != 0:
        raise Failed(f'{" ".join(map(str, words))}: {ended.stderr.strip() or ended.returncode}')
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


def missing():
    """Says what such a link lacks on this machine; empty if nothing."""
    if os.geteuid() != 0:
        return 'needs root'
    tools = [tool for tool in ('ip', 'tc', 'nsenter') if not shutil.which(tool)]
    if tools:
        return f'needs {", ".join(tools)} (packages iproute2 and util-linux)'
    try:
        with Link(1_000_000, has_priority=True, round_trip_ms=1, queue_seconds=0.01, congestion='cubic'):
            return ''
    except Failed as reason:
        return f'this machine has no such link: {reason}'


class Link:
    """A link for a `with` block.

    `near` and `site`: words before a command that run it there. Without priority the queue is first-in-first-out. With
    priority, packets marked MARK have a queue of their own with a guaranteed share of the rate, and may use what the others
    leave. `queue_seconds`: the length of each queue at the rate of the link. `congestion`: the name of TCP's control.
    """

    def __init__(self, bytes_per_second, has_priority, round_trip_ms, queue_seconds, congestion):
        self.bytes_per_second = bytes_per_second
        self.has_priority = has_priority
        self.round_trip_ms = round_trip_ms
        self.queue_bytes = max(QUEUE_FRAMES_MIN * FRAME_BYTES_MAX, round(queue_seconds * bytes_per_second))
        self.congestion = congestion
        self.names = {place: f'{PREFIX}-{os.getpid()}-{place}' for place in ('near', 'router', 'site')}
        self.near, self.router, self.site = (inside(name) for name in self.names.values())
        self.delay = None

    def __enter__(self):
        remove_left()
        try:
            self.connect()
            self.shape()
            if self.round_trip_ms:
                self.answer_late()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.delay:
            stop(self.delay)
            self.delay.stdout.close()
        for name in self.names.values():
            if namespace(name).exists():
                run('ip', 'netns', 'del', name)

    def connect(self):
        near, router, site = self.names.values()
        for name in self.names.values():
            run('ip', 'netns', 'add', name)
            run('ip', '-n', name, 'link', 'set', 'lo', 'up')
        for place, address, other in ((near, NEAR, NEAR_ROUTER), (site, SITE, SITE_ROUTER)):
            run('ip', '-n', place, 'link', 'add', 'line', 'type', 'veth', 'peer', 'name', f'to{place[-4:]}', 'netns', router)
            # A frame for each segment, as on a wire: queues count frames.
            run('ip', '-n', place, 'link', 'set', 'line', 'gso_max_segs', '1', 'up')
            run('ip', '-n', router, 'link', 'set', f'to{place[-4:]}', 'up')
            run('ip', '-n', place, 'address', 'add', f'{address}/24', 'dev', 'line')
            run('ip', '-n', router, 'address', 'add', f'{other}/24', 'dev', f'to{place[-4:]}')
            # NB: not by tcp_congestion_control, which in a namespace takes only what the machine allows to all its users.
            run('ip', '-n', place, 'route', 'add', 'default', 'via', other, 'congctl', self.congestion)
        run(*self.router, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward')

    def shape(self):
        def tc(*words):
            run('tc', '-n', self.names['router'], *words)

        on = ('dev', 'tosite')
        rate = round(8 * self.bytes_per_second)
        shares = {10: GUARANTEED, 20: 1 - GUARANTEED} if self.has_priority else {20: 1}
        tc('qdisc', 'add', *on, 'root', 'handle', '1:', 'htb', 'default', '20')
        tc('class', 'add', *on, 'parent', '1:', 'classid', '1:1', 'htb', 'rate', rate, 'quantum', FRAME_BYTES_MAX)
        for number, share in shares.items():
            limits = ('rate', round(share * rate), 'ceil', rate, 'quantum', FRAME_BYTES_MAX)
            tc('class', 'add', *on, 'parent', '1:1', 'classid', f'1:{number}', 'htb', *limits)
            tc('qdisc', 'add', *on, 'parent', f'1:{number}', 'handle', f'{number}:', 'bfifo', 'limit', self.queue_bytes)
        if self.has_priority:
            match = ('u32', 'match', 'ip', 'dsfield', *MARK_FIELD.split())
            tc('filter', 'add', *on, 'parent', '1:', 'protocol', 'ip', 'prio', 1, *match, 'flowid', '1:10')

    def answer_late(self):
        """Takes the site's packets to near on a way of their own, where a program holds each for the round trip."""
        names = [f'dz{os.getpid()}{end}' for end in 'ab']
        command = [sys.executable, TRAFFIC, 'delay', str(self.round_trip_ms), *names]
        self.delay = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True)
        if not self.delay.stdout.readline():
            raise Failed('no packets can be delayed: no TUN interfaces')
        for name, place in zip(names, (self.names['site'], self.names['near'])):
            run('ip', 'link', 'set', name, 'netns', place)
            run('ip', '-n', place, 'link', 'set', name, 'txqueuelen', '10000', 'up')
        run('ip', '-n', self.names['site'], 'route', 'add', f'{NEAR}/32', 'dev', names[0])

    def marked_bytes(self):
        """Returns how many bytes left through the class of the marked packets."""
        text = run('tc', '-n', self.names['router'], '-s', 'class', 'show', 'dev', 'tosite')
        found = re.search(r'class htb 1:10 .*\n Sent (\d+) bytes', text)
        if not found:
            raise CannotMeasure(f'tc does not show the class of the marked packets: {text}')
        return int(found[1])


class Load:
    """Datagrams from near to the site, for a `with` block; afterwards `sent`, `seconds` and `arrived`."""

    def __init__(self, link, frame_bytes, bytes_per_second):
        self.link = link
        self.command = [*link.near, sys.executable, str(TRAFFIC), 'load', SITE, '9', str(frame_bytes), str(bytes_per_second)]
        self.sent = self.arrived = 0
        self.seconds = 0.0

    def __enter__(self):
        self.before = arrived(self.link)
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True)
        return self

    def __exit__(self, kind, *_):
        stop(self.process)
        said = self.process.stdout.read().split()
        self.process.stdout.close()
        if kind:
            return
        if len(said) != 2:
            raise CannotMeasure(f'the load ended early: exit code {self.process.returncode}')
        self.sent, self.seconds = int(said[0]), float(said[1])
        self.arrived = arrived(self.link) - self.before


def arrived(link):
    """Returns how many datagrams have reached the site, which has no use for them."""
    return counters(link.site, 'Udp')['NoPorts']


def counters(words, protocol):
    """Returns the kernel's counters of a protocol in a namespace."""
    text = run(*words, 'cat', '/proc/net/snmp')
    names, values = (line.split()[1:] for line in text.splitlines() if line.startswith(f'{protocol}:'))
    return dict(zip(names, map(int, values)))


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
