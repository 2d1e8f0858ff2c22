"""Viewers who keep a live run's page open: connections that read its events and count what they receive."""

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
CONNECT_LIMIT_SECONDS = 60
READ_BYTES = 65_536


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

    stream: socket.socket
    samples: int = 0
    rest: bytes = b''
    over: bool = False

    def read(self):
        try:
            came = self.stream.recv(READ_BYTES)
        except OSError:
            came = b''
        self.over = not came
        seen = self.rest + came
        self.samples += seen.count(SAMPLE)
        self.rest = seen[-len(SAMPLE) + 1 :]


class Viewers:
    """So many concurrent viewers, for a `with` block; inside it every viewer has received something."""

    def __init__(self, port, path, cookies, count):
        self.address = ('127.0.0.1', port)
        self.requests = [
            f'GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\nAccept-Encoding: gzip\r\n'
            # Without this, the connection stays open after the run, and its end is not noticed.
            f'Accept-Language: en\r\nConnection: close\r\nCookie: {cookies[number % len(cookies)]}\r\n\r\n'
            for number in range(count)
        ]
        self.selector = selectors.DefaultSelector()
        self.viewers = []
        self.leaving = False
        self.thread = threading.Thread(target=self.read, daemon=True)

    def __enter__(self):
        try:
            for request in self.requests:
                viewer = Viewer(socket.create_connection(self.address, timeout=CONNECT_LIMIT_SECONDS))
                viewer.stream.sendall(request.encode())
                self.viewers.append(viewer)
                self.selector.register(viewer.stream, selectors.EVENT_READ, viewer)
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
            viewer.stream.close()
        self.selector.close()

    def all_see(self):
        # Viewers of a finished run receive nothing more.
        return all(viewer.samples or viewer.over for viewer in self.viewers)

    def read(self):
        while not self.leaving:
            for key, _ in self.selector.select(0.1):
                key.data.read()
                if key.data.over:
                    self.selector.unregister(key.fileobj)

    def watch(self, seconds):
        """Returns (samples per second of the worst-served viewer, number of viewers disconnected before the end)."""
        before, began = [viewer.samples for viewer in self.viewers], time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - began
        fewest = min(viewer.samples - earlier for viewer, earlier in zip(self.viewers, before, strict=True))
        return fewest / took, sum(viewer.over for viewer in self.viewers)
