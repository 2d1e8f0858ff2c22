"""Measures how much a backup slows down under another load: alternating windows of one run, without and with it."""

import os
import statistics
import subprocess
import time

from data import MB, even
from processes import wait_for
from table import markdown, spread

LIMIT_SECONDS = 600
BEGIN_LIMIT_SECONDS = 900
BEGUN_BYTES = 20 * MB


def backup_sources(folder, files, count):
    """Returns folders with the same files, as hard links, so that reads come from memory and take no disk space."""
    (folder / 'sources').mkdir()
    first = even('source', files, MB, 10).make(folder / 'sources')
    sources = [first]
    for number in range(1, count):
        sources.append(folder / 'sources' / f'source-{number}')
        subprocess.run(['cp', '-al', first, sources[-1]], check=True, timeout=LIMIT_SECONDS)
    return sources


class Backup:
    """A nightly run to a site on this machine, with the site's folder observed."""

    def __init__(self, service, site, say):
        self.service = service
        self.site = site
        self.say = say
        self.rates = {False: [], True: []}
        self.run = None
        self.over = False

    def register(self, sources):
        self.service.post('/projects', {'code': 'backup'})
        for number, source in enumerate(sources):
            self.service.post('/experiments', {'project': 'backup', 'code': f'B{number}', 'source': str(source)})

    def start(self):
        """Starts the run and waits until the first files are at the site."""
        self.run = self.service.post('/runs', {'site': 'dr'})
        self.say('a run looks at all sources')
        wait_for(lambda: self.at_site() > BEGUN_BYTES or self.ended(), BEGIN_LIMIT_SECONDS, 'the first files at the site', 0.1)

    def ended(self):
        return self.service.get(f'/runs/{self.run["id"]}')['state'] not in ('RUNNING', 'PAUSED')

    def pause(self):
        self.service.post(f'/runs/{self.run["id"]}/pause', {})

    def resume(self):
        self.service.post(f'/runs/{self.run["id"]}/resume', {})

    def at_site(self):
        """Returns the bytes at the site, including files in transfer."""
        total = 0
        for base, _, names in os.walk(self.site):
            for name in names:
                try:
                    total += os.lstat(os.path.join(base, name)).st_size
                except FileNotFoundError:
                    pass  # renamed to its final name meanwhile; the next window counts it
        return total

    def window(self, beside, what):
        """Runs `what` and returns its result; records the backup's rate meanwhile. `beside`: with the other load."""
        before, began = self.at_site(), time.monotonic()
        told = what()
        rate = (self.at_site() - before) / (time.monotonic() - began) / MB
        self.rates[beside].append(rate)
        self.say(f'{"with" if beside else "without"} {rate:.1f} MB/s')
        return told

    def stop(self):
        self.over = self.ended()
        if not self.over:
            self.service.post(f'/runs/{self.run["id"]}/stop', {})
        self.service.ended(self.run, LIMIT_SECONDS)

    def loss(self):
        """Returns the loss of rate: the median over rounds, each of two neighbouring windows."""
        rounds = zip(self.rates[False], self.rates[True], strict=True)
        return 1 - statistics.median(slowed / max(0.001, alone) for alone, slowed in rounds)

    def table(self, beside):
        rows = [['alone', spread(self.rates[False], 1)], [beside, spread(self.rates[True], 1)], ['less', f'{self.loss():.1%}']]
        over = 'The backup ended before the last window, so its rates are not valid.\n' if self.over else ''
        return f'{markdown(["backup", "MB/s"], rows)}\n{over}'

    def shortfalls(self, loss_max):
        if self.over:
            return ['the backup ended before the last window']
        if self.loss() > loss_max:
            return [f'the backup is {self.loss():.1%} slower, limit {loss_max:.0%}']
        return []
