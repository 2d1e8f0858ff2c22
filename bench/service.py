"""A running Dozo with its own database, and HTTP requests to it."""

import base64
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime
from pathlib import Path

from processes import CannotMeasure, begin, stop, wait_for
from program import LAUNCHER
from server import free_port

START_LIMIT_SECONDS = 120
STOP_LIMIT_SECONDS = 60
ANSWER_SECONDS_MAX = 600
LIMIT_SECONDS = 1800  # of a job
PAGE = 500
POLL_SECONDS = 0.5  # a job has the times of its start and its end; asking often would cost the service processor time
UNDER_WAY = ('WAITING', 'RUNNING', 'PAUSED')


class Service:
    """`dozo serve` for a `with` block; it runs only what is requested."""

    def __init__(self, folder, heap='512m', program=LAUNCHER, before=(), **settings):
        """Prepares it. `before`: words before the command, which run it in namespaces."""
        self.folder = Path(folder)
        self.command = [*before, program, 'serve']
        self.port = free_port()
        self.log = self.folder / 'service.log'
        self.environment = {
            **os.environ,
            'DOZO_WORK': str(self.folder / 'work'),
            'DOZO_HTTP_PORT': str(self.port),
            'DOZO_SCHEDULE_CRON': '-',
            'DOZO_HEAP': heap,
            **settings,
        }

    def __enter__(self):
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self.process = begin(self.command, self.log, env=self.environment)
        try:
            wait_for(self.answers, START_LIMIT_SECONDS, f'the service ({self.log})')
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        stop(self.process, STOP_LIMIT_SECONDS)

    def answers(self):
        if self.process.poll() is not None:
            raise CannotMeasure(f'the service ended: {self.log.read_text(errors="replace")[-500:]}')
        try:
            self.ask_first()
            return True
        except (urllib.error.URLError, ConnectionError, TimeoutError, FileNotFoundError):
            return False

    def ask_first(self):
        """Requests something that only a service that has started answers."""
        self.get('/sites')

    def get(self, path):
        return self.ask('GET', path)

    def post(self, path, body):
        return self.ask('POST', path, body)

    def put(self, path, body):
        return self.ask('PUT', path, body)

    def post_csv(self, path, text):
        return self.send('admin', self.admin_password(), 'POST', path, text, 'text/csv')

    def ask(self, method, path, body=None):
        return self.ask_as('admin', self.admin_password(), method, path, body)

    def admin_password(self):
        return (self.folder / 'work' / 'admin-password').read_text().strip()

    def ask_as(self, name, password, method, path, body=None):
        return self.send(name, password, method, path, None if body is None else json.dumps(body).encode(), 'application/json')

    def send(self, name, password, method, path, data, kind):
        with self.opened(name, password, method, path, data, kind) as answer:
            return json.load(answer)

    def opened(self, name, password, method, path, data, kind):
        login = base64.b64encode(f'{name}:{password}'.encode()).decode()
        request = urllib.request.Request(
            f'http://127.0.0.1:{self.port}/api/v1{path}',
            data=data,
            headers={'Authorization': f'Basic {login}', 'Content-Type': kind},
            method=method,
        )
        return urllib.request.urlopen(request, timeout=ANSWER_SECONDS_MAX)

    def all(self, path):
        """Returns the items of all pages."""
        after = ''
        while True:
            page = self.get(f'{path}?limit={PAGE}{after}')
            yield from page['items']
            if 'next' not in page:
                return
            after = '&after=' + urllib.parse.quote(str(page['next']))

    def add_site(self, server, root, port=None):
        """Adds the site `dr`. `port`: of a relay before the server."""
        self.put(
            '/sites/dr',
            {
                'host': server.address,
                'port': port or server.port,
                'user': server.user,
                'root': str(root),
                'identity': str(server.key),
                'hostKey': ' '.join((server.folder / 'host_key.pub').read_text().split()[:2]),
            },
        )

    def add_user(self, name, password, roles, projects):
        """Adds a user. `projects`: numbers of a lab manager's projects; other roles see all."""
        self.post('/users', {'name': name, 'password': password, 'roles': roles})
        if 'LAB_MANAGER' in roles:
            for project in projects:
                self.put(f'/projects/P{project:03}/members/{name}', {})

    def add_token(self, name, password):
        """Adds a token and returns it with its secret."""
        return self.ask_as(name, password, 'POST', '/me/tokens', {'name': 'bench', 'readOnly': True})

    def complete(self, run):
        """Waits until a run has ended, and returns it; it must be complete."""
        run = self.ended(run)
        if run['state'] != 'COMPLETE':
            raise CannotMeasure(f'a run ended {run["state"]}: {run.get("message")} {self.findings(run)[:3]}')
        return run

    def ended(self, run, limit_seconds=LIMIT_SECONDS):
        """Waits until a run has ended, and returns it."""
        return self.over(f'/runs/{run["id"]}', limit_seconds)

    def over(self, path, limit_seconds=LIMIT_SECONDS):
        """Waits until a job has ended, which is at this path, and returns it."""

        def ended():
            job = self.get(path)
            return job if job['state'] not in UNDER_WAY else None

        return wait_for(ended, limit_seconds, f'the end of {path}', POLL_SECONDS)

    def findings(self, run):
        return list(self.all(f'/runs/{run["id"]}/findings'))


def seconds_of(job):
    """Returns the seconds from the start to the end of a job, by the service's own clock."""
    began, ended = (datetime.fromisoformat(job[field]) for field in ('startedAt', 'endedAt'))
    return (ended - began).total_seconds()
