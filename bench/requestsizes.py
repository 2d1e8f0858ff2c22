#!/usr/bin/env python3
"""Measures whether the size of an SFTP write and the unanswered content on a channel matter: bench/requestsizes.py [ROUNDS].

Made-up data over a fixed number of lanes to an sshd on this machine, directly and through a relay of 1 Gbit/s with a delay. Rates and
processor seconds for a GB, of the client and of the server.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

from plan import CLASSES
from processes import CannotMeasure
from relay import Relay, find_java
from server import Server
from table import markdown

LINKS = ((0, 2, 1), (8, 4, 1), (36, 4, 2))  # round trip in ms, lanes, channels on each
SECONDS = 1.5
LIMIT_SECONDS = 600


def measure(rounds):
    listed = CLASSES.parent / 'test.classpath'
    if not listed.is_file():
        raise CannotMeasure('Dozo is not built: ./dozo --help builds it')
    with tempfile.TemporaryDirectory(prefix='dozo-bench-') as temporary:
        folder = Path(temporary)
        (folder / 'site').mkdir()
        java = find_java()
        path = f'{folder}/classes:{CLASSES}:{listed.read_text().strip()}'
        program = Path(__file__).with_name('RequestSizes.java')
        subprocess.run([java + 'c', '-cp', path, '-d', folder / 'classes', program], check=True)
        with Server(folder / 'sshd') as server:
            for round_trip, lanes, channels in LINKS:
                link = Relay(round_trip, server.port) if round_trip else nullcontext(SimpleNamespace(port=server.port))
                with link as way:
                    command = [java, '-XX:+UseSerialGC', '-Xmx256m', '--enable-native-access=ALL-UNNAMED', '-cp', path]
                    command += ['dozo.remote.RequestSizes', way.port, server.user, folder / 'site', server.key]
                    command += [folder / 'sshd' / 'host_key.pub', server.process.pid, lanes, channels, int(1000 * SECONDS), rounds]
                    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=LIMIT_SECONDS)
                    if ended.returncode != 0:
                        raise CannotMeasure(ended.stderr.strip()[-500:])
                show(round_trip, lanes, channels, [json.loads(line) for line in ended.stdout.splitlines()])


def show(round_trip, lanes, channels, cells):
    print(f'\n{round_trip} ms, {lanes} lanes with {channels} channels each, medians (smallest and largest):\n')
    lines = []
    for request, unanswered in sorted({(cell['request'], cell['unanswered']) for cell in cells}):
        same = [cell for cell in cells if (cell['request'], cell['unanswered']) == (request, unanswered)]
        limit = f'{unanswered // 1024} KiB' if unanswered else f'{same[0]["usual"] // 1024} KiB (as Dozo)'
        line = [f'{request // 1024} KiB', limit]
        for name, factor, digits in (('rate', 1000, 0), ('client', 1, 2), ('server', 1, 2)):
            values = [factor * cell[name] for cell in same]
            line.append(f'{statistics.median(values):.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})')
        lines.append(line)
    print(markdown(('request', 'unanswered', 'MB/s', 'client s/GB', 'server s/GB'), lines), flush=True)


if __name__ == '__main__':
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
