"""Folders and files created a second at a site, by connections and round trips; pipelined requests beside blocking ones; and files
that are copied a second from one site to another.

A relay simulates the distance. A rate is that of `dozo copy` from its first connection to its end, with digests and the last sync.
"""

import os
import shlex

from copying import copied, copy
from data import KB, MB, even
from measure import workspace
from processes import CannotMeasure, timed
from relay import Relay
from row import Row, at_least, shown, teller
from server import Server

ROUND_TRIPS_MS, ROUND_TRIPS_MS_SHORT = (0, 8, 36), (8,)
LANES, LANES_SHORT = (1, 4, 32), (4,)
FOLDERS, FOLDERS_SHORT = 4_000, 40
FILES, FILES_SHORT = 2_000, 20
FAR_MS = 20
FAR_LANES = (1, 64)
BLOCKING_BYTES, BLOCKING_BYTES_SHORT = 16 * MB, MB
PIPELINED_BYTES, PIPELINED_BYTES_SHORT = 512 * MB, MB
PIPELINED_MIN = 17  # times as fast as one request after the other
BETWEEN = {'1 kB': (KB, FILES), '1 MB': (MB, 500)}  # size, files
BETWEEN_SHORT = {'1 kB': (KB, FILES_SHORT), '1 MB': (MB, FILES_SHORT)}
LIMIT_SECONDS = 300
say = teller('operations')


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='few of everything: figures are not judged')
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    short = options.short
    with workspace(options.work) as (data_folder, folder), Server(folder / 'sshd') as server:
        trees = {
            'folders': empty_folders(folder / 'folders', FOLDERS_SHORT if short else FOLDERS),
            'files': even('operations', FILES_SHORT if short else FILES, KB, 1).make(data_folder),
            'one file': even('operations-one', 1, KB, 1).make(data_folder),
        }
        rows = []
        for round_trip in ROUND_TRIPS_MS_SHORT if short else ROUND_TRIPS_MS:
            for lanes in LANES_SHORT if short else LANES:
                rows += created(server, folder / f'at-{round_trip}-{lanes}', trees, round_trip, lanes)
        if not short:
            for lanes in FAR_LANES:
                rows += created(server, folder / f'at-{FAR_MS}-{lanes}', {'files': trees['files']}, FAR_MS, lanes)
        sizes = (BLOCKING_BYTES_SHORT, PIPELINED_BYTES_SHORT) if short else (BLOCKING_BYTES, PIPELINED_BYTES)
        sources = [even(f'operations-{size}', 1, size, 1).make(data_folder) for size in sizes]
        rows.append(pipelined(server, folder / 'pipelined', sources, sizes, not short))
        sources = {
            name: even(f'operations-{name.replace(" ", "-")}', count, size, 1).make(data_folder)
            for name, (size, count) in (BETWEEN_SHORT if short else BETWEEN).items()
        }
        rows += between(server, folder / 'between', sources)
    return shown('operations', rows), 'short: figures not judged' if short else ''


def empty_folders(folder, count):
    for number in range(count):
        (folder / f'{number:05}').mkdir(parents=True)
    return folder


def created(server, target, trees, round_trip, lanes):
    """Returns a row for each tree: what was created a second by SFTP requests, or how long one took."""
    target.mkdir()
    rows = []
    with Relay(round_trip, server.port) as relay:
        server.client_configuration(relay.port)
        for name, tree in trees.items():
            told = copy(server, relay.port, tree, target / name.replace(' ', '-'), target, '--sftp', '--lanes', lanes)[1]
            seconds = told['seconds'] - told['startSeconds']
            measured = f'{1e3 * seconds:.0f} ms' if name == 'one file' else f'{told["entries"] / seconds:,.0f} a second'
            say(f'{name}, {round_trip} ms, connections {lanes}: {measured}')
            rows.append(Row(f'{name}, {round_trip} ms, connections: {lanes}', '', measured))
    return rows


def pipelined(server, folder, sources, sizes, judged):
    """Compares the rates of two files: requests of 32 kB of which each waits for its answer, and one connection of Dozo."""
    folder.mkdir()
    file = next(path for path in sources[0].rglob('*') if path.is_file())
    with Relay(FAR_MS, server.port) as relay:
        configuration = server.client_configuration(relay.port)
        blocking = sizes[0] / sftp(configuration, file, folder / 'blocking', folder)
        told = copy(server, relay.port, sources[1], folder / 'dozo', folder, '--sftp', '--lanes', 1)[1]
    rate = sizes[1] / (told['seconds'] - told['startSeconds'])
    measured = f'{rate / blocking:.1f}: {rate / MB:.1f} and {blocking / MB:.1f} MB/s'
    return at_least(f'pipelined / blocking, {FAR_MS} ms', rate / blocking, PIPELINED_MIN, measured, judged)


def between(server, folder, sources):
    """Returns a row for each source: its files copied a second from another sshd to this one, through this machine."""
    folder.mkdir()
    rows = []
    with Server(folder / 'sshd') as origin:
        configuration = folder / 'both'
        configuration.write_text(
            f'Include {origin.client_configuration(origin.port, "origin")}\n'
            f'Include {server.client_configuration(server.port, "target")}\n'
        )
        for name, source in sources.items():
            words = ['-F', configuration, f'origin:{source}', f'target:{folder / source.name}']
            told = copied(words, folder / source.name)[1]
            seconds = told['seconds'] - told['startSeconds']
            measured = f'{told["entries"] / seconds:,.0f} a second, {told["bytes"] / seconds / MB:.1f} MB/s'
            say(f'site to site, files of {name}: {measured}')
            rows.append(Row(f'site to site, files of {name}', '', measured))
    return rows


def sftp(configuration, file, target, folder):
    """Returns the seconds of OpenSSH's sftp with one request at a time."""
    batch = folder / 'batch'
    batch.write_text(f'put {shlex.quote(str(file))} {shlex.quote(str(target))}\n')
    with open(folder / 'sftp.log', 'wb') as log:
        ended = timed(f'exec sftp -F {configuration} -R 1 -B 32768 -b {batch} site', LIMIT_SECONDS, log, log, os.environ)
    if ended.code != 0:
        raise CannotMeasure(f'sftp ended with {ended.code}')
    return ended.seconds
