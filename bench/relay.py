"""A simulated long link to the site: starts, checks and stops Relay.java."""

import socket
import statistics
import subprocess
import threading
import time

from processes import CannotMeasure, cpu_seconds, stop
from program import java

MEGABITS_PER_SECOND = 1000
LINK_BYTES_PER_SECOND = MEGABITS_PER_SECOND * 1_000_000 / 8


class Forward:
    """An address that leads to a port of this machine, without a delay, for a `with` block. `bytes` counts both directions."""

    def __init__(self, target_port, address='127.0.0.1'):
        self.target_port = target_port
        self.listener = socket.create_server((address, 0))
        self.port = self.listener.getsockname()[1]
        self.bytes = 0
        self.adding = threading.Lock()

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:  # closed
                return
            far = socket.create_connection(('127.0.0.1', self.target_port))
            for source, sink in ((near, far), (far, near)):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.passed, args=(source, sink), daemon=True).start()

    def passed(self, source, sink):
        try:
            while data := source.recv(1 << 20):
                with self.adding:
                    self.bytes += len(data)
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:  # the other side has closed
            sink.close()


class Relay:
    """A relay for a `with` block: `port` leads to the site over a link of this rate with the given round trip."""

    def __init__(self, round_trip_ms, site_port, megabits=MEGABITS_PER_SECOND):
        self.round_trip_ms = round_trip_ms
        self.site_port = site_port
        self.megabits = megabits

    def __enter__(self):
        self.echo = socket.create_server(('127.0.0.1', 0))
        ports = [str(self.echo.getsockname()[1]), str(self.site_port)]
        options = ('-XX:+UseSerialGC', '-XX:MaxDirectMemorySize=1g')
        command = java('', 'Relay.java', self.round_trip_ms, self.megabits, *ports, options=options)
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        watch = threading.Timer(60, self.process.kill)
        watch.start()
        try:
            lines = [self.process.stdout.readline() for _ in ports]
            if not all(lines):
                raise CannotMeasure('the relay did not start')
            self.echo_port, self.port = map(int, lines)
        except BaseException:
            self.__exit__()
            raise
        finally:
            watch.cancel()
        return self

    def __exit__(self, *_):
        stop(self.process)
        self.process.stdout.close()
        self.echo.close()

    def cpu_seconds(self):
        return cpu_seconds(self.process.pid)

    def check(self, megabytes):
        """Returns the link's actual values: median round trip of a byte in ms, and MB/s of an echo (both directions at
        once).
        """
        server = threading.Thread(target=self.send_back, daemon=True)
        server.start()
        with socket.create_connection(('127.0.0.1', self.echo_port), timeout=60) as link:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            trips = [round_trip_seconds(link) for _ in range(12)]
            trip = statistics.median(trips[1:])  # the first one includes the handshake
            echo_seconds(link, 10_000_000)  # warm-up: Java compiles hot code
            seconds = echo_seconds(link, megabytes * 1_000_000)
        server.join(60)
        return trip * 1000, megabytes / (seconds - trip)

    def send_back(self):
        connection, _ = self.echo.accept()
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while data := connection.recv(1 << 20):
                connection.sendall(data)


def round_trip_seconds(link):
    started = time.monotonic()
    link.sendall(b'.')
    link.recv(1)
    return time.monotonic() - started


def echo_seconds(link, size_bytes):
    started = time.monotonic()
    sender = threading.Thread(target=link.sendall, args=(bytes(size_bytes),), daemon=True)
    sender.start()
    while size_bytes > 0:
        data = link.recv(1 << 20)
        if not data:
            raise CannotMeasure('the relay ended')
        size_bytes -= len(data)
    sender.join()
    return time.monotonic() - started
