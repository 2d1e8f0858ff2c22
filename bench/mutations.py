"""Seeded damage at the site: the scrub must find all of it, and nothing where there is none."""

import base64
import os
import random
import re
import shutil
import sys
from dataclasses import dataclass

from processes import CannotMeasure
from row import Row
from server import Server
from service import Service

LIMIT_SECONDS = 1800
MUTATIONS_EACH = 4
FILES_EACH = 12
TAG_FILES = ('manifest-sha256.txt', 'tagmanifest-sha256.txt', 'bag-info.txt', 'bagit.txt')


@dataclass(frozen=True)
class Size:
    mutations: int
    untouched: int


FULL = Size(1_000, 1_000)
SHORT = Size(24, 6)


@dataclass(frozen=True)
class Mutation:
    """A change to an experiment's folder at the site, and the paths below it that a finding must name."""

    kind: str
    experiment: str
    paths: frozenset


class Bag:
    """An experiment's folder at the site; nothing in it is damaged twice."""

    def __init__(self, folder, name, dice):
        self.folder = folder / 'p' / name
        self.name = f'p/{name}'
        self.dice = dice
        self.files = sorted(path for path in (self.folder / 'data').rglob('*') if path.is_file())
        dice.shuffle(self.files)
        self.tags = list(TAG_FILES)
        dice.shuffle(self.tags)

    def mutate(self, kind):
        """Damages something, and keeps size, time and mode if the kind allows it."""
        return Mutation(kind, self.name, frozenset(getattr(self, kind)()))

    def below(self, *paths):
        """Returns paths as findings name them: files in the tree by their path in it, tag files by their names."""
        return [os.fsencode(path.relative_to(self.folder)).removeprefix(b'data/') for path in paths]

    def rewrite(self, path, content):
        facts = path.stat()
        path.write_bytes(content)
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        return self.below(path)

    def flipped_bit(self):
        path = self.files.pop()
        content = bytearray(path.read_bytes())
        content[self.dice.randrange(len(content))] ^= 1 << self.dice.randrange(8)
        return self.rewrite(path, content)

    def truncated(self):
        path = self.files.pop()
        content = path.read_bytes()
        return self.rewrite(path, content[: self.dice.randrange(len(content))])

    def grown(self):
        path = self.files.pop()
        return self.rewrite(path, path.read_bytes() + b'\0')

    def swapped(self):
        one, other = self.files.pop(), self.files.pop()
        contents = one.read_bytes(), other.read_bytes()
        return self.rewrite(one, contents[1]) + self.rewrite(other, contents[0])

    def removed(self):
        path = self.files.pop()
        path.unlink()
        return self.below(path)

    def renamed(self):
        path = self.files.pop()
        other = path.with_name(path.name + '.bak')
        path.rename(other)
        return self.below(path, other)

    def extra(self):
        path = self.files[0].with_name(f'extra-{self.dice.randrange(10**6)}')
        path.write_bytes(b'nobody sent this')
        return self.below(path)

    def altered_tag(self):
        path = self.folder / self.tags.pop()
        return self.rewrite(path, path.read_bytes().replace(b'a', b'b', 1) + b'\n')

    def removed_tag(self):
        path = self.folder / self.tags.pop()
        path.unlink()
        return self.below(path)

    def became_link(self):
        path = self.files.pop()
        twin = path.with_name(path.name + '.twin')
        shutil.copy2(path, twin)
        path.unlink()
        path.symlink_to(twin.name)
        return self.below(path, twin)


KINDS = (
    'flipped_bit',
    'truncated',
    'grown',
    'swapped',
    'removed',
    'renamed',
    'extra',
    'altered_tag',
    'removed_tag',
    'became_link',
)


def rows(folder, short):
    size = SHORT if short else FULL
    dice = random.Random('mutations')
    site = folder / 'site'
    site.mkdir()
    touched = [f'T{n:04}' for n in range(size.mutations // MUTATIONS_EACH)]
    untouched = [f'U{n:04}' for n in range(size.untouched)]
    with Server(folder / 'sshd') as server, Service(folder / 'dozo') as service:
        service.add_site(server, site)
        service.post('/projects', {'code': 'p'})
        for name in touched + untouched:
            source = make_tree(folder / 'source' / name, dice)
            service.post('/experiments', {'project': 'p', 'code': name, 'source': str(source)})
        send(service)
        clean = scrub(service)
        done = [mutation for name in touched for mutation in mutate(Bag(site, name, dice))]
        if len(done) != size.mutations:
            raise CannotMeasure(f'{len(done)} mutations were made')
        damaged = scrub(service)
    return judged(done, clean, damaged, len(touched) + len(untouched))


def make_tree(top, dice):
    for number in range(FILES_EACH):
        folder = top / f'series-{number % 3}'
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f'image-{number:03}.dcm').write_bytes(dice.randbytes(dice.randrange(200, 20_000)))
    return top


def mutate(bag):
    """Applies mutations to a bag; over all bags, each kind occurs equally often."""
    first = int(bag.name[-4:]) * MUTATIONS_EACH
    return [bag.mutate(KINDS[(first + number) % len(KINDS)]) for number in range(MUTATIONS_EACH)]


def send(service):
    """Runs a night and returns it; it must be complete."""
    run = service.ended(service.post('/runs', {}), LIMIT_SECONDS)
    if run['state'] != 'COMPLETE':
        raise CannotMeasure(f'the night ended {run["state"]}: {service.findings(run)[:3]}')
    return run


def scrub(service):
    """Scrubs everything and returns the findings."""
    run = service.ended(service.post('/scrubs', {'all': True}), LIMIT_SECONDS)
    if run['state'] not in ('COMPLETE', 'FINDINGS'):
        raise CannotMeasure(f'the scrub ended {run["state"]}: {run["message"]}')
    return service.findings(run)


def judged(done, clean, damaged, experiments):
    """Returns a row for each kind, and one for false alarms."""
    named = {}
    for finding in damaged:
        named.setdefault(finding.get('experiment'), set()).add(path_of(finding))
    found = []
    for kind in KINDS:
        of_kind = [mutation for mutation in done if mutation.kind == kind]
        hits = sum(mutation.paths <= named.get(mutation.experiment, set()) for mutation in of_kind)
        found.append(exactly(kind.replace('_', ' '), hits, len(of_kind), 'found'))
    expected = {}
    for mutation in done:
        expected.setdefault(mutation.experiment, set()).update(mutation.paths)
    false = [f for f in damaged if path_of(f) not in expected.get(f.get('experiment'), set())] + clean
    for finding in false[:5]:
        print(f'false alarm: {finding}', file=sys.stderr)
    found.append(exactly('false alarms', len(false), 0, f'over {experiments} experiments, read twice'))
    return found


def path_of(finding):
    """Returns a finding's path. Tag files are not in the tree, so they have no path; the message names them."""
    tag = finding['reason'] == 'TAGS_ALTERED' and re.search(r'/([^/ ]+) differs from what was written', finding['message'])
    return tag[1].encode() if tag else base64.b64decode(finding.get('pathBytes') or '')


def exactly(name, value, claimed, what):
    return Row(name, str(claimed), f'{value} {what}', '' if value == claimed else str(value))
