"""The decisions of one run about its lanes and channels, over a simulated link of 1 Gbit/s at 36 ms.

Nothing is claimed: the table is an example.
"""

import re
from datetime import datetime

from centre import Centre
from data import MB, even
from measure import workspace
from program import TOP
from relay import Relay
from row import Row
from server import Server
from table import markdown

ROUND_TRIP_MS = 36
FILES, FILE_BYTES = 15, 500 * MB
FILES_SHORT, FILE_BYTES_SHORT = 4, 50 * MB
MESSAGES = TOP / 'ui/src/main/resources/messages.properties'


def decisions(work, short):
    """Prints the table; returns the rows."""
    files, size = (FILES_SHORT, FILE_BYTES_SHORT) if short else (FILES, FILE_BYTES)
    with workspace(work) as (data_folder, folder):
        source = even(f'tuned-{files}-{size}', files, size, 1).make(data_folder)
        with (
            Server(folder / 'sshd') as server,
            Relay(ROUND_TRIP_MS, server.port) as relay,
            Centre(folder / 'centre', server, relay.port) as centre,
        ):
            centre.register([source])
            ended = centre.service.complete(centre.start())
            made = centre.service.get(f'/runs/{ended["id"]}/tuning')
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
