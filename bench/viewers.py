"""Viewers who keep a live run's page open: connections that read its events and count what they receive.

Like the page, they connect again if they are refused at first.
"""

import http.cookiejar
import re
import selectors
import socket
import threading
import time
import urllib.parse
import urllib.request
from dataclasses import dataclass

from processes import CannotMeasure, wait_for

SAMPLE = b'event: sample\n'
REFUSED = b'HTTP/1.1 503 '
CONNECT_LIMIT_SECONDS = 60
READ_BYTES = 65_536
RETRY_SECONDS = 2


def log_in(port, name, password):
    """Logs in by the form and returns the Cookie header."""
    address = f'http://127.0.0.1:{port}/login'
    cookies = http.cookiejar.CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(cookies))
    with browser.open(address, timeout=60) as answer:
        token = re.search(r'name="_csrf"[^>]*value="([^"]+)"', answer.read().decode())
    if not token:
        raise CannotMeasure('the login form has no CSRF token')
    form = urllib.parse.urlencode({'username': name, 'password': password, '_csrf': token[1]})
    with browser.open(address, form.encode(), timeout=60) as answer:
        if urllib.parse.urlsplit(answer.url).path != '/':
            raise CannotMeasure(f'{name} cannot log in: {answer.url}')
    return '; '.join(f'{cookie.name}={cookie.value}' for cookie in cookies)


@dataclass
class Viewer:
    """A connection, the number of samples received, and its last bytes, which may be half of the next sample's name."""

    address: tuple
    request: bytes
    stream: socket.socket = None
    samples: int = 0
    rest: bytes = b''
    over: bool = False
    refused_at: float = None

    def connect(self):
        self.stream = socket.create_connection(self.address, timeout=CONNECT_LIMIT_SECONDS)
        self.stream.sendall(self.request)
        self.refused_at = None
        self.rest = b''

    def read(self):
        try:
            came = self.stream.recv(READ_BYTES)
        except OSError:
            came = b''
        seen = self.rest + came
        if not came and not self.samples and REFUSED in self.rest:
            self.refused_at = time.monotonic()
        self.over = not came and not self.refused_at
        self.samples += seen.count(SAMPLE)
        self.rest = seen if not self.samples else seen[-len(SAMPLE) + 1 :]


class Viewers:
    """So many concurrent viewers, for a `with` block; inside it every viewer has received something."""

    def __init__(self, port, path, cookies, count):
        self.viewers = [
            Viewer(
                ('127.0.0.1', port),
                f'GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\nAccept-Encoding: gzip\r\n'
                # Without this, the connection stays open after the run, and its end is not noticed.
                f'Accept-Language: en\r\nConnection: close\r\nCookie: {cookies[number % len(cookies)]}\r\n\r\n'.encode(),
            )
            for number in range(count)
        ]
        self.selector = selectors.DefaultSelector()
        self.leaving = False
        self.thread = threading.Thread(target=self.read, daemon=True)

    def __enter__(self):
        try:
            for viewer in self.viewers:
                self.connect(viewer)
            self.thread.start()
            wait_for(self.all_see, CONNECT_LIMIT_SECONDS, 'something to see for all viewers')
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.leaving = True
        if self.thread.ident:
            self.thread.join()
        for viewer in self.viewers:
            if viewer.stream:
                viewer.stream.close()
        self.selector.close()

    def connect(self, viewer):
        viewer.connect()
        self.selector.register(viewer.stream, selectors.EVENT_READ, viewer)

    def all_see(self):
        # Viewers of a finished run receive nothing more.
        return all(viewer.samples or viewer.over for viewer in self.viewers)

    def read(self):
        while not self.leaving:
            for key, _ in self.selector.select(0.1):
                key.data.read()
                if key.data.over or key.data.refused_at:
                    self.selector.unregister(key.fileobj)
                    key.fileobj.close()
            for viewer in self.viewers:
                if viewer.refused_at and time.monotonic() - viewer.refused_at > RETRY_SECONDS:
                    self.connect(viewer)

    def watch(self, seconds):
        """Returns (samples per second of the worst-served viewer, number of viewers disconnected before the end)."""
        before, began = [viewer.samples for viewer in self.viewers], time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - began
        fewest = min(viewer.samples - earlier for viewer, earlier in zip(self.viewers, before, strict=True))
        return fewest / took, sum(viewer.over for viewer in self.viewers)
