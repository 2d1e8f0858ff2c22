#!/usr/bin/env python3
"""Measures what scraping costs: bench/scraping.py [SECONDS] [EVERY].

A service with its own database, at rest, then scraped every EVERY seconds as Prometheus does. Prints the processor seconds of the service and
its database in both times, and the share of one processor that scraping adds. Promised: 1 %.
"""

import os
import statistics
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from service import Service

PATH = '/actuator/prometheus'
WARM_UP = 60


def cpu_seconds(pid):
    """Returns the processor seconds of a process and all its descendants, also of those that have ended."""
    parents, used = {}, {}
    for folder in Path('/proc').glob('[0-9]*'):
        try:
            words = (folder / 'stat').read_text().rpartition(')')[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents[int(folder.name)] = int(words[1])
        used[int(folder.name)] = sum(map(int, words[11:15])) / os.sysconf('SC_CLK_TCK')
    family = {pid}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(used[each] for each in family)


def measure(seconds, every):
    with tempfile.TemporaryDirectory(prefix='dozo-bench-') as temporary, Service(temporary, DOZO_SCRUB_WINDOW='-') as service:
        secret = service.post('/me/tokens', {'name': 'scrape', 'readOnly': True})['secret']
        request = urllib.request.Request(
            f'http://127.0.0.1:{service.port}{PATH}',
            headers={'Authorization': f'Bearer {secret}', 'Accept-Encoding': 'gzip'},
        )
        for _ in range(WARM_UP):
            scrape(request)
        size, first, times = 0, cpu_seconds(service.process.pid), []
        time.sleep(seconds)
        rest = cpu_seconds(service.process.pid) - first
        first, end = cpu_seconds(service.process.pid), time.monotonic() + seconds
        while (begun := time.monotonic()) < end:
            size = scrape(request)
            times.append(time.monotonic() - begun)
            time.sleep(max(0, every - times[-1]))
        scraped = cpu_seconds(service.process.pid) - first
    print(f'{len(times)} scrapes in {seconds} s, {size} bytes each, median {1000 * statistics.median(times):.0f} ms')
    print(f'processor seconds: {rest:.2f} at rest, {scraped:.2f} with scrapes; scraping adds {100 * (scraped - rest) / seconds:.2f} % of one')


def scrape(request):
    with urllib.request.urlopen(request, timeout=20) as answer:
        return len(answer.read())


if __name__ == '__main__':
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 300, int(sys.argv[2]) if len(sys.argv) > 2 else 5)
