#!/usr/bin/env python3
"""A simulated link that carries IP packets, so that the kernel's TCP meets distance, a bounded queue and loss.

A process passes packets between two TUN devices, one in this network namespace and one in that of the site. Each direction has one
rate and one drop-tail queue for all connections, then the delay, then loss, which is independent and has the same probability for
each packet. Packets have at most 9000 bytes, so that one Python process needs only 0.2 processors for 1 Gbit/s.

tunnel.py pass NEAR_DEVICE FAR_DEVICE ROUND_TRIP_MS MEGABITS LOSS SEED
    creates the devices, prints a line, and passes packets. At SIGTERM prints counts as JSON.
tunnel.py receive ADDRESS
    prints the port that it listens on, and discards what arrives.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import random
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path

from namespaces import PREFIX, SITE, inside, namespace, remove_left, run
from processes import CannotMeasure, stop

MTU_MAX = 9000
QUEUE_BYTES_MIN = 1_000_000
TICK_SECONDS = 0.00025  # the loop works in batches, because client and site share the processors with it
LATE_SECONDS = 0.005
PACKETS_A_TURN = 64
# Long enough that bursts wait in the device until the next turn; only the simulated queue may drop packets.
DEVICE_PACKETS = 20_000
NEAR, NEAR_6, SITE_6 = '10.99.1.1', 'fd99:1::1', 'fd99::1'
# In the kernel's struct tcp_info.
RETRANSMITTED, ACKNOWLEDGED, ROUND_TRIP_MICROS_MIN, SENT, NEEDLESS = ('I', 100), ('Q', 120), ('I', 148), ('I', 156), ('I', 216)
BLOCK_BYTES = 1 << 20


class Way:
    """One direction."""

    def __init__(self, source, target, bytes_per_second, delay_seconds, queue_bytes, loss, seed):
        self.source, self.target = source, target
        self.seconds_per_byte = 1 / bytes_per_second
        self.delay = delay_seconds
        self.queue_seconds = queue_bytes / bytes_per_second
        self.loss = loss
        self.dice = random.Random(seed)
        self.free_at = 0.0
        self.held = deque()
        self.counts = dict.fromkeys(('passed', 'dropped', 'lost', 'late'), 0)

    def read(self, since):
        """Reads what has arrived since a moment; returns the number of packets."""
        # The queue is only calculated: when its last byte will have left.
        free_at = max(self.free_at, since)
        full_at = since + self.queue_seconds
        held, chance, count = self.held, self.dice.random, 0
        try:
            while count < PACKETS_A_TURN:
                packet = os.read(self.source, MTU_MAX)
                count += 1
                leaves_at = free_at + len(packet) * self.seconds_per_byte
                if leaves_at > full_at:
                    self.counts['dropped'] += 1
                    continue
                free_at = leaves_at
                if self.loss and chance() < self.loss:
                    self.counts['lost'] += 1
                else:
                    held.append((leaves_at + self.delay, packet))
        except BlockingIOError:
            pass  # that was all
        self.free_at = free_at
        return count

    def deliver(self, now):
        """Writes what is due; returns the number of packets."""
        held, count = self.held, 0
        while held and held[0][0] <= now:
            due, packet = held.popleft()
            count += 1
            self.counts['late'] += now - due > LATE_SECONDS
            try:
                os.write(self.target, packet)
            except OSError:
                pass  # the device is not up
        self.counts['passed'] += count
        return count


def pass_packets(near, far, round_trip_ms, megabits, loss, seed):
    devices = device(near), device(far)
    round_trip, rate = float(round_trip_ms) / 1000, float(megabits) * 125_000
    queue_bytes = max(QUEUE_BYTES_MIN, rate * round_trip)
    ways = [
        Way(source, target, rate, round_trip / 2, queue_bytes, float(loss), f'{seed} {number}')
        for number, (source, target) in enumerate((devices, devices[::-1]))
    ]
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))  # a real link does not wait for a processor
    print('ready', flush=True)
    try:
        since = time.monotonic()
        while True:
            now = time.monotonic()
            count = sum(way.read(since) for way in ways)
            count += sum(way.deliver(time.monotonic()) for way in ways)
            if count:
                since = now
                time.sleep(TICK_SECONDS)
            else:
                due = min((way.held[0][0] for way in ways if way.held), default=now + 1)
                select.select(devices, [], [], max(0, due - time.monotonic()))
                since = time.monotonic()
    finally:
        with contextlib.suppress(BrokenPipeError):  # the bench was killed
            print(json.dumps({name: sum(way.counts[name] for way in ways) for name in ways[0].counts}), flush=True)


def device(name):
    """Creates a TUN device that exists until this process ends, in whatever namespace it then is."""
    set_interface, tun_without_header = 0x400454CA, 0x1001
    handle = os.open('/dev/net/tun', os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(handle, set_interface, struct.pack('16sH', name.encode(), tun_without_header))
    return handle


def receive(address):
    listener = socket.create_server((address, 0), family=socket.AF_INET6 if ':' in address else socket.AF_INET)
    print(listener.getsockname()[1], flush=True)
    while True:
        threading.Thread(target=discard, args=(listener.accept()[0],), daemon=True).start()


def discard(connection):
    buffer = bytearray(BLOCK_BYTES)
    try:
        while connection.recv_into(buffer, 0, socket.MSG_TRUNC):  # without a copy
            pass
    except OSError:
        pass  # the sender has ended


class Tunnel:
    """The link, for a `with` block in a network namespace of this process's own. `site`: words that run a command at the site.

    `control`: TCP's congestion control at both ends. `counts`: of packets, set at the end. `dropped` are those that met a full
    queue, `late` those that were passed over 5 ms too late, because the machine was busy.
    """

    def __init__(self, round_trip_ms, loss=0, megabits=1000, mtu=MTU_MAX, control='cubic', seed=1):
        self.simulated = (round_trip_ms, megabits, loss, seed)
        self.mtu = mtu
        self.control = control
        self.name = f'{PREFIX}-{os.getpid()}-far'
        self.site = inside(self.name)
        self.process = None
        self.counts = {}

    def __enter__(self):
        remove_left()
        try:
            run('ip', 'netns', 'add', self.name)
            self.process, _ = program((), 'pass', 'near', 'far', *self.simulated)
            run('ip', 'link', 'set', 'far', 'netns', self.name)
            self.connect((), 'near', (NEAR, NEAR_6), (SITE, SITE_6))
            self.connect(('-n', self.name), 'far', (SITE, SITE_6), (NEAR, NEAR_6))
            self.forget()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process:
            stop(self.process)
            self.counts = json.loads(self.process.stdout.read() or '{}')
            self.process.stdout.close()
        if namespace(self.name).exists():
            run('ip', 'netns', 'del', self.name)

    def connect(self, where, name, own, other):
        run('ip', *where, 'link', 'set', 'lo', 'up')
        run('ip', *where, 'link', 'set', name, 'mtu', self.mtu, 'txqueuelen', DEVICE_PACKETS, 'up')
        for family, address, peer in zip(('-4', '-6'), own, other):
            run('ip', *where, family, 'address', 'add', address, 'dev', name)
            # NB: not by tcp_congestion_control, which in a namespace takes only what the machine allows to all its users.
            run('ip', *where, family, 'route', 'add', peer, 'dev', name, 'congctl', self.control)

    def forget(self):
        """Removes what TCP has learned from earlier connections, so that each measurement begins alike."""
        for where in ((), ('-n', self.name)):
            run('ip', *where, 'tcp_metrics', 'flush', 'all')


class Streams:
    """Plain TCP connections that send to the site as fast as they can, for a `with` block."""

    def __init__(self, tunnel, count, address=SITE):
        self.tunnel, self.count, self.address = tunnel, count, address
        self.connections = []

    def __enter__(self):
        self.receiver, port = program(self.tunnel.site, 'receive', self.address)
        for _ in range(self.count):
            self.connections.append(socket.create_connection((self.address, int(port)), timeout=30))
            self.connections[-1].settimeout(None)
            threading.Thread(target=send, args=(self.connections[-1],), daemon=True).start()
        return self

    def __exit__(self, *_):
        stop(self.receiver)
        self.receiver.stdout.close()
        for connection in self.connections:
            connection.close()

    def total(self, field):
        """Returns the sum of a field of all connections, as the kernel counts."""
        return sum(self.each(field))

    def each(self, field):
        kind, place = field
        facts = [each.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256) for each in self.connections]
        return [struct.unpack_from(kind, each, place)[0] for each in facts]

    def during(self, seconds, *fields):
        """Returns how much the fields grow a second."""
        began, before = time.monotonic(), [self.total(field) for field in fields]
        time.sleep(seconds)
        took = time.monotonic() - began
        return [(self.total(field) - value) / took for field, value in zip(fields, before)]


def send(connection):
    block = bytes(BLOCK_BYTES)
    try:
        while True:
            connection.sendall(block)
    except OSError:
        pass  # closed


def program(before, *words):
    """Starts this program; returns its process and its first line."""
    command = [*before, sys.executable, __file__, *map(str, words)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True)
    if not (line := process.stdout.readline()):
        stop(process)
        raise CannotMeasure(f'{Path(__file__).name} {words[0]} did not start')
    return process, line.strip()


def end(*_):
    raise SystemExit(0)


if __name__ == '__main__':
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM, 0, 0, 0)
    signal.signal(signal.SIGTERM, end)
    {'pass': pass_packets, 'receive': receive}[sys.argv[1]](*sys.argv[2:])
