"""Certificates: seeded changes of certificate, list and copy, all of which the checker finds without Dozo.

A real night sends experiments with awkward names to a real sshd, and the service certifies them. Then each change is made to a
fresh copy of a certified bag and its papers, and docs/check_certificate.py checks it, as an auditor would.
"""

import io
import os
import random
import re
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from measure import workspace
from mutations import exactly, send
from processes import CannotMeasure
from row import print_rows
from server import Server
from service import TOP, Service

CHECKER = TOP / 'docs' / 'check_certificate.py'
NAMES = (
    [b'plain.dcm', b'a\nb', b'\\', b'x\\ny', b' space ', b'%0A', b'\r', b'\xff\xfe', b'-']
    + ['脳画像.nii'.encode(), '結果'.encode('shift_jis'), '一覧'.encode('euc_jp')]
)
CHECK_LIMIT_SECONDS = 60


@dataclass(frozen=True)
class Size:
    experiments: int
    changes: int


FULL = Size(100, 1_000)
SHORT = Size(5, 40)


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='fewer of everything; judged all the same')
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    size = SHORT if options.short else FULL
    with workspace(options.work) as (_, folder):
        papers, key = issue(folder, size)
        rows = judged(folder, papers, key, size)
    print_rows('certificate', rows)
    return [f'{row.name}: {row.short}' for row in rows if row.short], ''


@dataclass(frozen=True)
class Papers:
    """A certificate with its list, and the copy that both are about."""

    certificate: Path
    list: Path
    copy: Path

    def check(self, key):
        """Returns the checker's exit code and what it printed."""
        command = [sys.executable, '-B', CHECKER, key, self.certificate, self.list, self.copy]
        ended = subprocess.run(command, capture_output=True, timeout=CHECK_LIMIT_SECONDS)
        return ended.returncode, (ended.stdout + ended.stderr).decode(errors='replace')

    def copied(self, folder):
        """Returns a copy that may be changed."""
        fresh = Papers(folder / 'certificate', folder / 'list', folder / 'data')
        folder.mkdir()
        shutil.copyfile(self.certificate, fresh.certificate)
        shutil.copyfile(self.list, fresh.list)
        shutil.copytree(self.copy, fresh.copy, symlinks=True)
        return fresh


def issue(folder, size):
    """Backs experiments up, and returns the papers of each, and the key's fingerprint."""
    dice = random.Random('certificates')
    site = folder / 'site'
    site.mkdir()
    codes = [f'E{number:03}' for number in range(size.experiments)]
    with Server(folder / 'sshd') as server, Service(folder / 'dozo') as service:
        service.add_site(server, site)
        service.post('/projects', {'code': 'p'})
        for code in codes:
            source = make_tree(folder / 'source' / code, dice)
            service.post('/experiments', {'project': 'p', 'code': code, 'source': str(source)})
        send(service)
        key = service.get('/certificate-key')['fingerprint']
        return [certified(service, folder / 'papers' / code, code, site) for code in codes], key


def make_tree(top, dice):
    """Makes files with awkward names in three folders, an empty folder, and links."""
    for number, name in enumerate(NAMES):
        folder = top / f'series-{number % 3}'
        folder.mkdir(parents=True, exist_ok=True)
        (folder / os.fsdecode(name)).write_bytes(dice.randbytes(dice.randrange(200, 5_000)))
    (top / 'empty').mkdir()
    (top / 'latest').symlink_to('series-2')
    (top / 'nowhere').symlink_to('/nowhere/at/all')
    return top


def certified(service, folder, code, site):
    with zipfile.ZipFile(io.BytesIO(service.download(f'/experiments/p/{code}/certificate'))) as archive:
        archive.extractall(folder)
    name = folder / f'p.{code}.manifest-1.dr'
    return Papers(Path(f'{name}.certificate.txt'), Path(f'{name}.list.txt'), site / 'p' / code / 'data')


class Change:
    """A change to papers. Each method makes one that no check may overlook."""

    def __init__(self, papers, other, dice):
        self.papers = papers
        self.other = other
        self.dice = dice
        self.files = sorted(path for path in papers.copy.rglob('*') if path.is_file() and not path.is_symlink())

    def file(self):
        return self.dice.choice(self.files)

    def flip(self, path):
        content = bytearray(path.read_bytes())
        content[self.dice.randrange(len(content))] ^= 1 << self.dice.randrange(8)
        path.write_bytes(content)

    def flipped_bit_in_a_file(self):
        self.flip(self.file())

    def truncated_file(self):
        os.truncate(self.file(), 100)

    def grown_file(self):
        with open(self.file(), 'ab') as file:
            file.write(b'\0')

    def missing_file(self):
        self.file().unlink()

    def missing_folder(self):
        (self.papers.copy / 'empty').rmdir()

    def renamed_file(self):
        path = self.file()
        path.rename(os.fsdecode(os.fsencode(path) + b'\xfe'))

    def more_files(self):
        (self.file().parent / 'extra').write_bytes(b'')

    def more_folders(self):
        (self.papers.copy / 'empty' / 'extra').mkdir()

    def swapped_contents(self):
        one, other = self.dice.sample(self.files, 2)
        one.rename(self.papers.copy / 'x')
        other.rename(one)
        (self.papers.copy / 'x').rename(other)

    def retargeted_link(self):
        link = self.papers.copy / self.dice.choice(['latest', 'nowhere'])
        link.unlink()
        link.symlink_to('series-1')

    def file_that_became_a_link(self):
        path = self.file()
        path.rename(self.papers.copy.parent / 'moved')
        path.symlink_to(self.papers.copy.parent / 'moved')

    def folder_that_became_a_link(self):
        (self.papers.copy / 'series-0').rename(self.papers.copy.parent / 'moved')
        (self.papers.copy / 'series-0').symlink_to(self.papers.copy.parent / 'moved')

    def file_and_list(self):
        """Changes a file, and its line in the list to match."""
        path = self.file()
        before = self.papers.list.read_bytes()
        old = sha256_of(path)
        self.flip(path)
        self.papers.list.write_bytes(before.replace(old, sha256_of(path)))

    def flipped_bit_in_the_list(self):
        self.flip(self.papers.list)

    def line_less(self):
        """Removes a file with its line."""
        path = self.file()
        lines = self.papers.list.read_bytes().splitlines(keepends=True)
        digest = sha256_of(path)
        path.unlink()
        self.papers.list.write_bytes(b''.join(line for line in lines if digest not in line))

    def lines_in_another_order(self):
        lines = self.papers.list.read_bytes().splitlines(keepends=True)
        place = self.dice.randrange(len(lines) - 1)
        lines[place : place + 2] = reversed(lines[place : place + 2])
        self.papers.list.write_bytes(b''.join(lines))

    def list_of_another(self):
        shutil.copyfile(self.other.list, self.papers.list)

    def flipped_bit_in_the_certificate(self):
        self.flip(self.papers.certificate)

    def number_in_the_certificate(self):
        text = self.papers.certificate.read_text()
        field = self.dice.choice(['files', 'bytes', 'manifest', 'links'])
        self.papers.certificate.write_text(re.sub(f'(?m)^({field}): ([0-9]+)$', r'\1: 1\2', text))

    def other_key(self):
        """Signs the changed certificate with somebody else's key, which it names."""
        folder = self.papers.copy.parent
        openssl('genpkey', '-algorithm', 'ed25519', '-out', folder / 'key')
        public = openssl('pkey', '-in', folder / 'key', '-pubout', '-outform', 'DER')
        text = re.sub('(?m)^key: .*$', f'key: {public.hex()}', self.papers.certificate.read_text())
        signed = text[: text.index('signature: ')].replace('site: dr', 'site: nowhere')
        (folder / 'signed').write_text(signed)
        signature = openssl('pkeyutl', '-sign', '-inkey', folder / 'key', '-rawin', '-in', folder / 'signed')
        self.papers.certificate.write_text(f'{signed}signature: {signature.hex()}\n')


KINDS = [name for name in vars(Change) if not name.startswith('_') and name not in ('file', 'flip')]


def judged(folder, papers, key, size):
    """Returns a row for each kind of change, and one for unchanged papers."""

    def tried(number):
        kind = KINDS[number % len(KINDS)]
        fresh = papers[number % len(papers)].copied(folder / f'changed-{number}')
        other = papers[(number + 1) % len(papers)]
        getattr(Change(fresh, other, random.Random(f'change {number}')), kind)()
        found = finds(fresh, key, kind)
        shutil.rmtree(fresh.copy.parent)
        return kind, found

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # the work is done by processes
        done = list(pool.map(tried, range(size.changes)))
        alarms = [text for code, text in pool.map(lambda each: each.check(key), papers) if code != 0]
    for text in alarms[:3]:
        print(f'false alarm: {text}', file=sys.stderr)
    rows = []
    for kind in KINDS:
        hits = [found for changed, found in done if changed == kind]
        rows.append(exactly(kind.replace('_', ' '), sum(hits), len(hits), 'found'))
    found = sum(hit for _, hit in done)
    alarmed = exactly('false alarms', len(alarms), 0, f'over {len(papers)} unchanged copies')
    return [*rows, exactly('all changes', found, size.changes, 'found'), alarmed]


def finds(papers, key, kind):
    code, text = papers.check(key)
    if code not in (0, 1) or (code == 1 and 'NOT AS CERTIFIED' not in text):
        raise CannotMeasure(f'{kind}: the checker ended with {code}: {text[-300:]}')
    if code == 0:
        print(f'not found: {kind} in {papers}', file=sys.stderr)
    return code == 1


def sha256_of(path):
    return subprocess.run(['sha256sum', path], check=True, capture_output=True).stdout.lstrip(b'\\')[:64]


def openssl(*arguments):
    return subprocess.run(['openssl', *arguments], check=True, capture_output=True).stdout
