#!/usr/bin/env python3
"""Programs for simulated links, which end with the program that started them.

traffic.py load ADDRESS PORT FRAME_BYTES BYTES_PER_SECOND
    sends datagrams; the rate is that of whole Ethernet frames. At SIGTERM prints the number sent and the seconds.
traffic.py delay MILLISECONDS NAME NAME
    creates two TUN interfaces, prints a line, and passes packets from the first to the second, each so much later.
"""

import ctypes
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import time
from collections import deque

HEADER_BYTES = 14 + 20 + 8  # Ethernet, IP, UDP
TICK_SECONDS = 0.001
CATCH_UP_SECONDS = 0.003
PACKETS_A_TURN = 64


def load(address, port, frame_bytes, bytes_per_second):
    frames_per_second = float(bytes_per_second) / int(frame_bytes)
    place = (address, int(port))  # not connected: that nobody listens there is no error
    burst = max(1, int(CATCH_UP_SECONDS * frames_per_second))
    payload = bytes(int(frame_bytes) - HEADER_BYTES)
    sent = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        started = time.monotonic()
        try:
            while True:
                due = int((time.monotonic() - started) * frames_per_second)
                # After a pause of this process not all at once, which would fill the queue.
                for _ in range(min(burst, due - sent)):
                    out.sendto(payload, place)
                    sent += 1
                time.sleep(TICK_SECONDS)
        except SystemExit:
            print(sent, time.monotonic() - started, flush=True)
            raise


def delay(milliseconds, source_name, target_name):
    source, target = tun(source_name), tun(target_name)
    print('ready', flush=True)
    seconds = float(milliseconds) / 1000
    held = deque()
    while True:
        rest = max(0, held[0][0] - time.monotonic()) if held else None
        if select.select([source], [], [], rest)[0]:
            due = time.monotonic() + seconds
            try:
                for _ in range(PACKETS_A_TURN):
                    held.append((due, os.read(source, 65536)))
            except BlockingIOError:
                pass  # that was all
        now = time.monotonic()
        while held and held[0][0] <= now:
            try:
                os.write(target, held.popleft()[1])
            except OSError:
                pass  # lost: the interface is not up


def tun(name):
    """Creates an interface that exists until this process ends, in whatever namespace it then is."""
    set_interface, tun_without_header = 0x400454CA, 0x1001
    handle = os.open('/dev/net/tun', os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(handle, set_interface, struct.pack('16sH', name.encode(), tun_without_header))
    return handle


def end_with_parent():
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM, 0, 0, 0)


def end(*_):
    raise SystemExit(0)


if __name__ == '__main__':
    end_with_parent()
    signal.signal(signal.SIGTERM, end)
    {'load': load, 'delay': delay}[sys.argv[1]](*sys.argv[2:])
