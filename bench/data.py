"""The data sets: made once from a seed, so that they have the same bytes on every machine."""

import hashlib
import os
import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

KB, MB, GB = 1000, 1000**2, 1000**3
BLOCK_BYTES = MB


@dataclass(frozen=True)
class Data:
    """A folder of files.

    `bins` are (files, smallest, largest); sizes in a bin are spread evenly on a logarithmic scale.
    """

    name: str
    bins: tuple
    folders: tuple  # files per folder

    def make(self, home):
        """Returns the folder with the data; makes it if it does not exist. It gets its name when it is complete."""
        folder = Path(home) / self.name
        if not folder.exists():
            part = folder.with_name(self.name + '.part')
            shutil.rmtree(part, ignore_errors=True)  # left by a killed run
            self.write(part)
            part.rename(folder)
        return folder

    def write(self, top):
        dice = random.Random(self.name)
        sizes = [size for bin in self.bins for size in spread(*bin, dice)]
        dice.shuffle(sizes)
        for number, count in enumerate(self.folders):
            folder = top / f'project-{number // 64}' / f'subject-{number // 4:03}' / f'visit-{number:04}'
            folder.mkdir(parents=True)
            for index in range(count):
                write_random(folder / f'image-{index:05}.dcm', sizes.pop(), dice)


def spread(count, smallest, largest, dice):
    """Returns the sizes of a bin: one from each of `count` equal steps, so that their sum hardly depends on chance."""
    return [round(smallest * (largest / smallest) ** ((i + dice.random()) / count)) for i in range(count)]


def write_random(path, size_bytes, dice):
    with open(path, 'xb') as file:
        for start in range(0, size_bytes, BLOCK_BYTES):
            file.write(dice.randbytes(min(BLOCK_BYTES, size_bytes - start)))


def even(name, files, size_bytes, folders):
    return Data(name, ((files, size_bytes, size_bytes),), (files // folders,) * folders)


def mixed_folders(files):
    """Returns folder sizes as in an imaging centre's tree: one with a fifth of the files, most with few, some in
    between.
    """
    few = [1 + i % 9 for i in range(files // 40)]
    rest = files - files // 5 - sum(few)
    some = [rest // 20] * 19
    return (files // 5, *few, *some, rest - sum(some))


FULL = {
    'one': even('one', 1, KB, 1),
    'small': even('small', 10_000, 100 * KB, 100),
    'mixed': Data(
        'mixed',
        (
            (1000, 300, 10 * KB),
            (1568, 10 * KB, 100 * KB),
            (2300, 100 * KB, MB),
            (120, MB, 10 * MB),
            (11, 10 * MB, 100 * MB),
            (1, 250 * MB, 300 * MB),
        ),
        mixed_folders(5000),
    ),
    'large': even('large', 2, GB, 2),
    'far-small': even('far-small', 500, 100 * KB, 20),
    'far-large': even('far-large', 2, 128 * MB, 2),
    'long-small': even('long-small', 40_000, 100 * KB, 400),
    'long-large': even('long-large', 8, GB, 8),
}

SHORT = {
    'one': even('short-one', 1, KB, 1),
    'small': even('short-small', 300, 10 * KB, 10),
    'mixed': Data(
        'short-mixed',
        ((60, 300, 10 * KB), (90, 10 * KB, 100 * KB), (48, 100 * KB, MB), (2, MB, 4 * MB)),
        mixed_folders(200),
    ),
    'large': even('short-large', 2, 16 * MB, 2),
    'far-small': even('short-far-small', 20, 100 * KB, 2),
}


def files_of(folder):
    """Returns all files below as (path, size), ordered by name."""
    found = []
    for base, folders, names in os.walk(folder):
        folders.sort()
        found += [(path, os.lstat(path).st_size) for path in (os.path.join(base, name) for name in sorted(names))]
    return found


def digests(folder):
    """Returns the SHA-256 of every file by relative path. It also leaves the files in the page cache."""
    paths = [path for path, _ in files_of(folder)]
    with ThreadPoolExecutor(2) as pool:
        return {os.path.relpath(path, folder): digest for path, digest in zip(paths, pool.map(sha256, paths))}


def sha256(path):
    with open(path, 'rb') as file:
        return hashlib.file_digest(file, 'sha256').digest()


def read_through(folder):
    """Reads all files, so that the next reader finds them in the page cache."""
    buffer = bytearray(4 * MB)
    for path, _ in files_of(folder):
        with open(path, 'rb', buffering=0) as file:
            while file.readinto(buffer):
                pass
