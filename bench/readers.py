"""Nights of new files with and without readers, and one with far more readers than are served at once.

The readers use wrk: each requests the next page as soon as it has the last one. The flood is our own client, because
wrk does not report how long an unanswered request has waited.
"""

import math
import os
import random
import selectors
import signal
import socket
import statistics
import subprocess
import threading
import time
import urllib.error
from collections import Counter
from dataclasses import dataclass

from centre import Centre, make, new_nights, warm_up_row, warmed_up
from data import KB, MB
from processes import CannotMeasure, stop, wait_for
from row import Row, at_most, teller
from server import find_tool
from service import LIMIT_SECONDS, POLL_SECONDS, seconds_of
from serving import DONE, answer_of
from table import spread

READERS = 50
LOSS_MAX = 1.10  # a night with readers / one without
P99_MS_MAX = 300
FLOOD = 800
HANG_SECONDS_MAX = 10  # on a quiet machine
BUSY_HANG_SECONDS_MAX = 120  # if times are not judged: a machine with other work only makes answers late
PAUSE_SECONDS = 0.2  # after a refused request
READ_BYTES = 65_536
say = teller('night')

SCRIPT = """\
local paths = {{
{paths}
}}
local place = 0
wrk.headers["Authorization"] = "Bearer {token}"
function request()
    place = place % #paths + 1
    return wrk.format("GET", "/api/v1" .. paths[place])
end
""" + DONE


def readers(folder, server, counts, rounds, warm_ups, flood, judged):
    """Measures nights with readers.

    `counts`: experiments × files of each night. `flood`: how many read at once in the last one.
    """
    if not find_tool('wrk'):
        raise CannotMeasure('wrk is missing (package wrk)')
    nights, answers = {False: [], True: []}, []
    with Centre(folder / 'dozo', server) as centre:
        token = centre.service.add_token('admin', centre.service.admin_password())['secret']
        script = write_script(folder, token, counts[0])
        patience = HANG_SECONDS_MAX if judged else BUSY_HANG_SECONDS_MAX
        few = new_nights(centre, folder / 'warm', max(1, counts[0] // 4), counts[1], 100 * KB, MB, 4)
        warm = warmed_up(few, warm_ups)
        for number in range(rounds + 1):
            # The order alternates, so that slow drifts affect both equally. The first round warms up what readers use.
            for beside in (False, True) if number % 2 == 0 else (True, False):
                centre.register(make(folder / f'sources-{number}-{beside}', *counts, 100 * KB, MB, 4))
                os.sync()
                if beside:
                    with Readers(centre.service.port, script, patience) as reading:
                        seconds = centre.night()
                    answer = reading.answer
                else:
                    seconds = centre.night()
                say(f'readers {number}/{rounds} {"with" if beside else "without"}: night {seconds:.2f} s')
                if number:
                    nights[beside].append(seconds)
                    if beside:
                        answers.append(answer)
        centre.register(make(folder / 'sources-flood', *counts, 100 * KB, MB, 4))
        os.sync()
        seconds, flooding = flooded_night(centre, token, flood, counts[0], patience)
    return [
        warm_up_row('readers', warm),
        *reader_rows(counts, nights, answers, judged),
        *flood_rows(flood, seconds, flooding),
    ]


def paths(experiments):
    """Returns the requested paths, in the same order every time: pages of coverage, experiments, runs and findings."""
    dice = random.Random('readers')
    found = []
    for _ in range(200):
        found += [
            '/coverage',
            f'/coverage/experiments?after={dice.randrange(experiments)}',
            '/coverage/groups?by=project',
            '/coverage/unprotected',
            f'/experiments?after={dice.randrange(experiments)}',
            '/runs',
            '/runs/1',
            '/runs/1/findings',
            '/findings',
        ]
    dice.shuffle(found)
    return found


def write_script(folder, token, experiments):
    script = folder / 'readers.lua'
    script.write_text(SCRIPT.format(paths=',\n'.join(f'"{path}"' for path in paths(experiments)), token=token))
    script.chmod(0o600)
    return script


class Readers:
    """Readers for a `with` block; after it, `answer` has the result."""

    def __init__(self, port, script, patience):
        self.command = [find_tool('wrk'), '-t1', f'-c{READERS}', f'-d{LIMIT_SECONDS}s', '--timeout', f'{patience}s', '-s', script]
        self.command.append(f'http://127.0.0.1:{port}')

    def __enter__(self):
        self.process = subprocess.Popen(
            [str(word) for word in self.command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return self

    def __exit__(self, *failure):
        self.process.send_signal(signal.SIGINT)  # it then prints its counts
        try:
            said = self.process.communicate(timeout=60)[0]
        finally:
            stop(self.process)
        if not any(failure):
            self.answer = answer_of(said)


def reader_rows(counts, nights, answers, judged):
    ratio = statistics.median(nights[True]) / statistics.median(nights[False])
    times = sorted(time / 1000 for answer in answers for time, count in answer['times'] for _ in range(count))
    if not times:
        raise CannotMeasure('no reader was answered')
    p50, p99 = (times[math.ceil(share * len(times)) - 1] for share in (0.5, 0.99))
    rate = len(times) / sum(answer['seconds'] for answer in answers)
    errors = sum(answer['errors'] for answer in answers)
    with_readers, without = spread(nights[True]), spread(nights[False])
    about = f'{counts[0]} × {counts[1]} new files, {READERS} readers'
    return [
        at_most(f'{about}: night with / without them', ratio, LOSS_MAX, f'{ratio:.2f}: {with_readers} s, without {without} s', judged),
        at_most(
            f'{about}: 99 % of reads, ms', p99, P99_MS_MAX, f'{p99:.0f} (median {p50:.0f}, longest {times[-1]:.0f}; {rate:.0f} a second)', judged
        ),
        Row(f'{about}: reads that failed', '0', str(errors), str(errors) if errors else ''),
    ]


def flooded_night(centre, token, count, experiments, patience):
    """Returns the night's seconds, and the flood after its end."""
    run = centre.start()
    with Flood(centre.service.port, token, count, paths(experiments), patience) as flooding:
        # NB: the request for the run's state may be refused as well.
        wait_for(lambda: ended(centre, run), LIMIT_SECONDS, 'the end of a night in a flood', POLL_SECONDS)
    return seconds_of(centre.service.complete(run)), flooding


def ended(centre, run):
    try:
        return centre.service.get(f'/runs/{run["id"]}')['state'] != 'RUNNING'
    except urllib.error.HTTPError as refused:
        if refused.code != 503:
            raise
        return False
    except (urllib.error.URLError, ConnectionError, TimeoutError):  # refused as well
        return False


@dataclass(eq=False)
class Asking:
    """A request in progress on its own connection; without a connection, the client pauses until `since`."""

    since: float
    stream: socket.socket | None = None
    head: bytes = b''


class Flood:
    """Many clients that send requests continuously, each on a new connection, for a `with` block.

    `patience`: the seconds after which an answer counts as never given.
    """

    def __init__(self, port, token, count, asked, patience):
        self.patience = patience
        self.address = ('127.0.0.1', port)
        self.count = count
        self.asked = [
            f'GET /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n'.encode()
            for path in asked
        ]
        self.place = 0
        self.statuses = Counter()
        self.longest = {}
        self.unsaid = 0  # refused without Retry-After
        self.hanging = 0
        self.leaving = False
        self.selector = selectors.DefaultSelector()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        """Sends no more requests, and waits for those in progress, up to the longest allowed wait."""
        self.leaving = True
        self.thread.join()
        self.selector.close()

    def run(self):
        pausing, under_way = [Asking(0) for _ in range(self.count)], set()
        end = math.inf
        while time.monotonic() < end and not (self.leaving and not under_way):
            if self.leaving:
                end = min(end, time.monotonic() + self.patience)
            else:
                for asking in [each for each in pausing if each.since <= time.monotonic()]:
                    pausing.remove(asking)
                    self.ask(asking, under_way, pausing)
            for key, _ in self.selector.select(0.05):
                self.read(key.data, under_way, pausing)
        self.hanging = len(under_way)
        for asking in under_way:
            asking.stream.close()

    def ask(self, asking, under_way, pausing):
        asking.since, asking.head = time.monotonic(), b''
        try:
            asking.stream = socket.create_connection(self.address, timeout=self.patience)
            asking.stream.sendall(self.asked[self.place % len(self.asked)])
        except OSError as failure:
            self.over(asking, under_way, pausing, type(failure).__name__)
            return
        self.place += 1
        asking.stream.setblocking(False)
        self.selector.register(asking.stream, selectors.EVENT_READ, asking)
        under_way.add(asking)

    def read(self, asking, under_way, pausing):
        try:
            came = asking.stream.recv(READ_BYTES)
        except OSError as failure:
            self.over(asking, under_way, pausing, type(failure).__name__)
            return
        if came:
            asking.head = (asking.head + came)[:4096]
            return
        words = asking.head.split(b'\r\n\r\n')[0].split(b'\r\n')
        status = words[0][9:12].decode(errors='replace') or 'no answer'
        if status == '503' and not any(word.lower().startswith(b'retry-after:') for word in words):
            self.unsaid += 1
        self.over(asking, under_way, pausing, status)

    def over(self, asking, under_way, pausing, what):
        took = time.monotonic() - asking.since
        self.statuses[what] += 1
        self.longest[what] = max(self.longest.get(what, 0), took)
        if asking.stream:
            if asking in under_way:
                self.selector.unregister(asking.stream)
                under_way.remove(asking)
            asking.stream.close()
        asking.stream = None
        asking.since = time.monotonic() + (0 if what == '200' else PAUSE_SECONDS)
        pausing.append(asking)


def flood_rows(count, seconds, flooding):
    told = ', '.join(f'{times:,} × {what} (longest {flooding.longest[what]:.1f} s)' for what, times in flooding.statuses.most_common())
    others = sum(times for what, times in flooding.statuses.items() if what not in ('200', '503'))
    longest = max(flooding.longest.values(), default=0)
    about = f'{count} at once'
    return [
        Row(f'{about}: the night', 'COMPLETE', f'COMPLETE, {seconds:.2f} s'),
        Row(f'{about}: answers but 200 and 503', '0', f'{others}: {told}', str(others) if others else ''),
        Row(f'{about}: 503 without Retry-After', '0', str(flooding.unsaid), str(flooding.unsaid) if flooding.unsaid else ''),
        at_most(f'{about}: the longest wait for an answer, s', longest, flooding.patience, f'{longest:.1f}', True),
        Row(f'{about}: never answered', '0', str(flooding.hanging), str(flooding.hanging) if flooding.hanging else ''),
    ]
