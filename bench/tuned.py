"""The decisions of one run about its lanes and channels, over a simulated link of 1 Gbit/s at 36 ms.

Nothing is claimed: it is the example of docs/operating.md.
"""

import re
from datetime import datetime
from pathlib import Path

from data import MB, even
from measure import workspace
from processes import CannotMeasure
from relay import Relay
from row import Row
from server import Server
from service import Service
from table import markdown

ROUND_TRIP_MS = 36
FILES, FILE_BYTES = 15, 500 * MB
FILES_SHORT, FILE_BYTES_SHORT = 4, 50 * MB
LIMIT_SECONDS = 300
MESSAGES = Path(__file__).resolve().parent.parent / 'ui/src/main/resources/messages.properties'


def decisions(work, short):
    """Prints the table; returns the rows."""
    files, size = (FILES_SHORT, FILE_BYTES_SHORT) if short else (FILES, FILE_BYTES)
    with workspace(work) as (data_folder, folder):
        source = even(f'tuned-{files}-{size}', files, size, 1).make(data_folder)
        (folder / 'site').mkdir()
        with (
            Server(folder / 'sshd') as server,
            Relay(ROUND_TRIP_MS, server.port) as relay,
            Service(folder / 'dozo') as service,
        ):
            service.add_site(server, folder / 'site', relay.port)
            service.post('/projects', {'code': 'p'})
            service.post('/experiments', {'project': 'p', 'code': 'E', 'source': str(source)})
            run = service.post('/runs', {})
            ended = service.ended(run, LIMIT_SECONDS)
            if ended['state'] != 'COMPLETE':
                raise CannotMeasure(f'the run ended as {ended["state"]}')
            made = service.get(f'/runs/{run["id"]}/tuning')
    began = datetime.fromisoformat(ended['startedAt'])
    heads = ('after', 'lanes × channels', 'measured', 'reason')
    print(markdown(heads, [line(decision, began, reasons()) for decision in made]), end='\n\n')
    return [Row('decisions', '', str(len(made)), '' if made else 'none is recorded')]


def reasons():
    """Returns the words of the pages."""
    return dict(re.findall(r'(?m)^tuning\.([A-Z_]+)=(.*)$', MESSAGES.read_text(encoding='utf-8')))


def line(decision, began, words):
    rate = decision.get('bytesPerSecond')
    return (
        f'{(datetime.fromisoformat(decision["decidedAt"]) - began).total_seconds():.0f} s',
        f'{decision["lanes"]} × {decision["channels"]}',
        f'{rate / MB:.0f} MB/s' if rate else '',
        words[decision['reason']],
    )
