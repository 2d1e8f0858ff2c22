#!/usr/bin/env python3
"""Measures what scraping costs: bench/scraping.py [SECONDS] [EVERY] [EXPERIMENTS].

A service with its own database, at rest, then scraped every EVERY seconds as Prometheus does. With EXPERIMENTS the catalogue has that many, of
20 files each. Prints the processor seconds of the service and its database in both times, the share of one processor that scraping adds, and
what each snapshot of the catalogue adds. Promised: 1 %.
"""

import gzip
import re
import statistics
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from centre import tree_seconds
from made import NO_SCRUB, catalogue, copy
from row import teller
from service import Service

ENTRIES = 20
TAKEN = re.compile(rb'^dozo_snapshot_timestamp_seconds (.*)$', re.MULTILINE)
PATH = '/actuator/prometheus'
WARM_UP = 60
SETTLE_SECONDS = 60  # of what a service does after its start


def measure(seconds, every, experiments):
    with tempfile.TemporaryDirectory(prefix='dozo-bench-') as temporary:
        folder = Path(temporary)
        if experiments:
            copy(catalogue(folder, experiments, ENTRIES * experiments, teller('scraping')), folder / 'work')
        compare(folder, seconds, every)


def compare(folder, seconds, every):
    with Service(folder, DOZO_DRILL_CRON='-', **NO_SCRUB) as service:
        secret = service.post('/me/tokens', {'name': 'scrape', 'readOnly': True})['secret']
        request = urllib.request.Request(
            f'http://127.0.0.1:{service.port}{PATH}',
            headers={'Authorization': f'Bearer {secret}', 'Accept-Encoding': 'gzip'},
        )
        for _ in range(WARM_UP):
            scrape(request)
        time.sleep(SETTLE_SECONDS)
        answer, taken, first, times = b'', set(), tree_seconds(service.process.pid), []
        time.sleep(seconds)
        rest = tree_seconds(service.process.pid) - first
        first, end = tree_seconds(service.process.pid), time.monotonic() + seconds
        while (begun := time.monotonic()) < end:
            answer = scrape(request)
            times.append(time.monotonic() - begun)
            taken.update(TAKEN.findall(gzip.decompress(answer)))
            time.sleep(max(0, every - times[-1]))
        scraped = tree_seconds(service.process.pid) - first
    print(f'{len(times)} scrapes of {len(taken)} snapshots in {seconds} s, {len(answer)} bytes each, median {1000 * statistics.median(times):.0f} ms')
    print(f'processor seconds: {rest:.2f} at rest, {scraped:.2f} with scrapes; scraping adds {100 * (scraped - rest) / seconds:.2f} % of one')
    print(f'a snapshot: {1000 * (scraped - rest) / len(taken):.0f} ms of a processor')


def scrape(request):
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.read()


if __name__ == '__main__':
    given = [int(word) for word in sys.argv[1:]]
    measure(*(given + [300, 5, 0][len(given) :]))
