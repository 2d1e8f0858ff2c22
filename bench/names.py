"""Fuzzed names: sent by a whole night to a real sshd, and checked there without Dozo."""

import os
import random
import subprocess
import unicodedata
from pathlib import Path

from processes import CannotMeasure
from row import Row
from server import find_tool

TOP = Path(__file__).resolve().parent.parent
FILES, FILES_SHORT = 10_000, 500
FOLDERS = 50
NAME_MAX_BYTES = 255
SEED = 20261121
LIMIT_SECONDS = 900

PIECES = (
    ['a', 'A', 'scan', '\n', '\r', '\r\n', '\\', '\\n', '%', '%0A', '%0a', '%0D', '%25', '%2', ' ', '\t', '*', '~', '-']
    + ['#', "'", '"', '$(x)', '`', ';', '|', '&', '<', '?', '[', '\v', '\f', '\x1b[31m', '\x1c', '\x7f', 'é', '脳画像']
    + ['ニューロ', '\u3000', '\xa0', '\x85', '\u2028', '\u202e', '\ufeff', '😀', 'data', '..', '.dozo']
)
WHOLE = (
    ['-rf', '--', '~root', '*star', ' leading', 'trailing ', ' ', '\n', '\r', '\\', '%', '%0A', '...', '..data', 'x~2']
    + ['x', '1', 'bagit.txt', 'manifest-sha256.txt', 'sha256sums.txt', 'tagmanifest-sha256.txt', 'data', '.dozo']
    + ['tag-0123456789abcdef', 'Case', 'case', 'CASE', 'x' * NAME_MAX_BYTES, '脳' * (NAME_MAX_BYTES // 3)]
)


def rows(home, short):
    """Returns all figures. Short: fewer names, judged all the same."""
    if not find_tool('sshd'):
        raise CannotMeasure('names need an sshd')
    source = home / 'sources' / 'names'
    source.mkdir(parents=True)
    made = make_tree(os.fsencode(source), FILES_SHORT if short else FILES)
    night = execute([TOP / 'dozo', 'demo', '--once', '--data', source.parent, '--work', home / 'work'])
    bags = sorted((home / 'work' / 'dr-site').glob('*/*/bagit.txt'))
    if len(bags) != 1:
        raise CannotMeasure(f'{len(bags)} bags after a night that ended with {night.returncode}: {last(night)}')
    return judge(source, bags[0].parent, made, night)


def judge(source, bag, files, night):
    check = execute(['sha256sum', '-c', '--strict', '--quiet', 'sha256sums.txt'], bag)
    tags = execute(['sha256sum', '-c', '--strict', '--quiet', 'tagmanifest-sha256.txt'], bag)
    same = execute(['diff', '-r', '--no-dereference', source, bag / 'data'])
    found = [
        row_of('the night', 'all safe', night),
        row_of('sha256sum -c of the payload', 'no word', check),
        row_of('sha256sum -c of the tag files', 'no word', tags),
        row_of('diff -r --no-dereference', 'no word', same),
    ]
    for name in ('manifest-sha256.txt', 'sha256sums.txt'):
        lines = (bag / name).read_bytes().split(b'\n')[:-1]
        different = len({line.split(b'  ', 1)[1] for line in lines})
        collisions = len(lines) - different
        wrong = collisions or len(lines) != files
        measured = f'{len(lines):,} lines, {collisions} collisions'
        found.append(Row(name, f'{files:,} lines, 0 collisions', measured, measured if wrong else ''))
    found.append(control(bag))
    return found


def control(bag):
    """Changes a byte of a file with a newline in its name, to show that the check detects damage."""
    path = next(path for path in os.scandir(os.fsencode(bag / 'data')) if path.is_file() and b'\n' in path.name)
    with open(path, 'r+b') as file:
        first = file.read(1)
        file.seek(0)
        file.write(bytes([first[0] ^ 1]))
    check = execute(['sha256sum', '-c', '--strict', '--quiet', 'sha256sums.txt'], bag)
    seen = check.returncode != 0 and check.stdout.count(b': FAILED') == 1
    return Row('a flipped bit', 'found', 'found' if seen else 'not found', '' if seen else last(check))


def row_of(name, claimed, ended):
    good = ended.returncode == 0
    return Row(name, claimed, claimed if good else f'ends with {ended.returncode}', '' if good else last(ended))


def execute(command, folder=None):
    # Not decoded: the output may contain names that are not text.
    return subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=LIMIT_SECONDS,
    )


def last(ended):
    return ascii(ended.stdout[-300:].decode(errors='replace'))


def make_tree(top, files):
    """Writes so many files, each with its own path as content; returns how many."""
    dice = random.Random(SEED)
    folders = sorted({name(dice) for _ in range(FOLDERS)})
    for folder in folders:
        os.mkdir(top + b'/' + folder)
    taken = set(folders)
    left = files

    def add(path):
        nonlocal left
        if left and path not in taken:
            taken.add(path)
            with open(top + b'/' + path, 'xb') as file:
                file.write(path)
            left -= 1

    for whole in WHOLE:
        add(whole.encode())
    while left:
        above = dice.choice([b'', dice.choice(folders) + b'/'])
        chosen = name(dice)
        add(above + chosen)
        add(above + twin(chosen))
    return files


def name(dice):
    while True:
        text = ''.join(dice.choice(PIECES) for _ in range(dice.randint(1, 6)))
        chosen = dice.choice(
            [
                lambda: bytes(dice.choices(range(1, 256), k=dice.randint(1, 12))),
                lambda: bytes(dice.choices(range(1, 256), k=NAME_MAX_BYTES)),
                lambda: text.encode('cp932', errors='ignore'),
                lambda: text.encode('euc-jp', errors='ignore'),
                text.encode,
                text.encode,
            ]
        )().replace(b'/', b'_')
        if is_name(chosen):
            return chosen


def twin(chosen):
    """Returns a name that looks alike but has other bytes: decomposed if that differs, else in capitals."""
    text = chosen.decode(errors='replace')
    decomposed = unicodedata.normalize('NFD', text)
    other = (decomposed if decomposed != text else text.upper()).encode()
    return other if is_name(other) else chosen


def is_name(chosen):
    return 0 < len(chosen) <= NAME_MAX_BYTES and chosen not in (b'.', b'..')
