"""The share of a link's rate that `dozo copy` reaches at several distances, without numbers set by hand.

A relay simulates the link. What has arrived is looked at all the time: the share is that of the middle 80 % of the bytes.
That of the whole command, with its start and its last sync, is printed beside it.
"""

from arriving import Arrivals
from copying import copy
from data import MB, even
from measure import workspace
from relay import LINK_BYTES_PER_SECOND, Relay
from row import at_least, teller
from server import Server

ROUND_TRIPS_MS, ROUND_TRIPS_MS_SHORT = (1.4, 8, 36, 200), (8,)
# Name, files, bytes of each, and the least share.
SETS = (('large files', 8, 300 * MB, 0.9), ('100 kB files', 10_000, 100_000, 0.85))
SETS_SHORT = (('large files', 2, 10 * MB, 0.9), ('100 kB files', 100, 100_000, 0.85))

say = teller('foresight')


def rates(work, short):
    rows = []
    with workspace(work) as (data_folder, folder), Server(folder / 'link-sshd') as server:
        for name, files, size, least in SETS_SHORT if short else SETS:
            source = even(f'link-{files}-{size}', files, size, 1).make(data_folder)
            for round_trip in ROUND_TRIPS_MS_SHORT if short else ROUND_TRIPS_MS:
                share, whole = sent(server, folder / f'{files}-{round_trip}', source, round_trip, files * size)
                say(f'{name}, {round_trip} ms: {share:.2f}')
                rows.append(at_least(f'{name}, {round_trip} ms', share, least, f'{share:.2f}; whole command {whole:.2f}', not short))
    return rows


def sent(server, target, source, round_trip, size):
    """Returns the share of the link's rate, and that of the whole command."""
    target.mkdir()
    with Relay(round_trip, server.port) as relay, Arrivals(target) as arrivals:
        server.client_configuration(relay.port)
        seconds, _ = copy(server, relay.port, source, target / 'copy', target)
        arrivals.settle()
    # What is stored is counted in whole blocks.
    share = arrivals.middle_rate() * size / arrivals.bytes() / LINK_BYTES_PER_SECOND
    return share, size / seconds / LINK_BYTES_PER_SECOND
