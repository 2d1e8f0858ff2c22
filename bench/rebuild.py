"""A catalogue rebuilt from the site alone: the lists, beside only reading them; the digests; and the next night.

Loading the lists may take at most twice as long as reading them. The next night, with the same source, must send nothing.
"""

import os
import re
import subprocess
from pathlib import Path

from data import even
from centre import Centre
from measure import workspace
from processes import CannotMeasure
from program import APP, LAUNCHER, compiled, find_java
from row import Row, at_most, exactly, shown, teller
from server import Server
from service import Service

FULL_FILES, SHORT_FILES = 1_000_000, 4_000
FOLDER_FILES = 200
FILE_BYTES = 100
RATIO_MAX = 2
LANES = 4
LIMIT_SECONDS = 7_200
say = teller('rebuild')
LISTS = re.compile(r'lists: ([0-9,]+) files, folders and links of [0-9,]+ experiments in ([0-9.]+) s')
COPIES = re.compile(r'digests: ([0-9,]+) files, folders and links, .* in ([0-9.]+) s')


def add_options(parser):
    parser.add_argument('--short', action='store_true', help=f'{SHORT_FILES:,} files; the ratio is not judged')
    parser.add_argument('--files', type=int, metavar='N', help=f'default: {FULL_FILES:,}')
    parser.add_argument('--work', metavar='DIR', help='keeps the data set there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    files = options.files or (SHORT_FILES if options.short else FULL_FILES)
    with workspace(options.work) as (data_folder, folder):
        source = even(f'rebuild-{files}', files, FILE_BYTES, files // FOLDER_FILES).make(data_folder)
        to_whole_seconds(source)
        rows = measured(folder, source, not options.short)
    return shown(f'{files:,} files of {FILE_BYTES} bytes', rows), 'short: not judged' if options.short else ''


def to_whole_seconds(top):
    """A site keeps no others; a restored source has these."""
    for folder, _, names in os.walk(top):
        for path in [folder, *(os.path.join(folder, name) for name in names)]:
            os.utime(path, (1_700_000_000, 1_700_000_000))


def measured(folder, source, judged):
    with Server(folder / 'sshd') as server:
        with Centre(folder / 'centre', server) as centre:
            centre.register([source])
            centre.night()
        site = centre.site
        say('the experiment is at the site')
        read_entries, read_seconds = only_read(folder, server, site)
        say(f'{read_entries:,} entries read in {read_seconds:.1f} s')
        entries, list_seconds, copies, copy_seconds = rebuilt(folder, server, site)
        if entries != read_entries or copies != entries:
            raise CannotMeasure(f'{read_entries} entries were read, {entries} loaded and {copies} verified')
        with Service(folder / 'rebuilt') as service:
            service.post('/experiments', {'project': 'P', 'code': 'E0', 'source': str(source)})
            night = service.complete(service.post('/runs', {}))
            sent = night['progress']['units']
            safe = service.get('/coverage?site=dr')['totals']['safe']
    ratio = list_seconds / read_seconds
    return [
        at_most(
            'loading the lists / only reading them',
            ratio,
            RATIO_MAX,
            f'{ratio:.2f}: {list_seconds:.1f} s beside {read_seconds:.1f} s, {entries / list_seconds:,.0f} entries/s',
            judged,
        ),
        Row('verification', '', f'{copy_seconds:.1f} s, {copies / copy_seconds:,.0f} entries/s'),
        exactly('units of the next night', sent, 0),
        exactly('safe afterwards', 'yes' if safe else 'no', 'yes'),
    ]


def only_read(folder, server, site):
    """Returns the number of entries and the seconds of reading list and listing, by the same client."""
    path = ':'.join(str(APP / name) for name in (APP / 'copy.path').read_text().strip().split(':'))
    options = ['-Xmx512m', '--enable-native-access=ALL-UNNAMED', '--sun-misc-unsafe-memory-access=allow']
    compiled(folder, path, 'ListReads.java')
    key = folder / 'host_key'
    key.write_text(host_key(server))
    where = [str(server.port), server.user, str(site), str(server.key), str(key), str(LANES), 'P/E0']
    said = run([find_java(), *options, '-cp', f'{path}:{folder}', 'ListReads', *where])
    entries, _, seconds = said.split()
    return int(entries), float(seconds)


def rebuilt(folder, server, site):
    """Rebuilds the catalogue, and returns (entries, seconds of the lists, copies, seconds of the digests)."""
    (folder / 'rebuilt').mkdir(mode=0o700)
    command = [LAUNCHER, 'rebuild-catalogue', '--port', str(server.port), '--identity', server.key]
    command += ['--host-key', host_key(server), 'dr', f'{server.user}@127.0.0.1:{site}']
    said = run(command, {**os.environ, 'DOZO_WORK': str(folder / 'rebuilt/work'), 'DOZO_TRANSFER_LANES': str(LANES)})
    lists, copies = LISTS.search(said), COPIES.search(said)
    if not lists or not copies:
        raise CannotMeasure(f'unexpected output of the rebuild: {said[-500:]}')
    return number(lists[1]), float(lists[2]), number(copies[1]), float(copies[2])


def host_key(server):
    return ' '.join((server.folder / 'host_key.pub').read_text().split()[:2])


def number(text):
    return int(text.replace(',', ''))


def run(command, environment=None):
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, env=environment)
    if ended.returncode != 0:
        raise CannotMeasure(f'{Path(command[0]).name} ended with {ended.returncode}: {ended.stdout[-500:]} {ended.stderr[-1000:]}')
    return ended.stdout


