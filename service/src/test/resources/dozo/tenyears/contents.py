#!/usr/bin/env python3
"""The witness of TenYearsIT: knows what every file was, without Dozo.

    contents.py record TABLE STORAGE NIGHT    appends what has changed in the experiments below STORAGE since the table's last rows
    contents.py check TABLE SITE              every content that the table has is at the site, the latest under its own name
    contents.py compare TABLE STORAGE         STORAGE has exactly the table's latest contents

A row of the table: NIGHT, P/E, path in hexadecimal, SHA-256, or `-` for a file that has gone. Links have no rows.
"""

import os
import sys
from hashlib import file_digest
from pathlib import Path


def below(top):
    """Returns the digests of the files below a folder by their paths in hexadecimal."""
    found = {}
    for folder, _, names in os.walk(os.fsencode(top)):
        for path in (os.path.join(folder, name) for name in names):
            if not os.path.islink(path):
                with open(path, 'rb') as file:
                    found[os.path.relpath(path, os.fsencode(top)).hex()] = file_digest(file, 'sha256').hexdigest()
    return found


def present(storage):
    """Returns the digests of the files of all experiments: of folders P/E below the storage."""
    return {
        (f'{project.name}/{experiment.name}', path): digest
        for project in Path(storage).iterdir()
        for experiment in project.iterdir()
        for path, digest in below(experiment).items()
    }


def rows(table):
    """Returns experiment, path and digest, the earliest first."""
    lines = Path(table).read_text().splitlines() if Path(table).exists() else []
    return [tuple(line.split('\t')[1:]) for line in lines]


def latest(table):
    last = {(experiment, path): digest for experiment, path, digest in rows(table)}
    return {name: digest for name, digest in last.items() if digest != '-'}


def record(table, storage, night):
    known, now = latest(table), present(storage)
    experiments = {experiment for experiment, _ in now}
    with open(table, 'a') as out:
        for name in sorted(known.keys() | now.keys()):
            if name[0] in experiments and known.get(name) != now.get(name):
                print(night, *name, now.get(name, '-'), sep='\t', file=out)
    return []


def check(table, site):
    """Returns what is missing at the site, or is something else."""
    current, kept = {}, {}
    for experiment in {experiment for experiment, _, _ in rows(table)}:
        current[experiment] = below(Path(site, experiment, 'data'))
        versions = Path(site, '.dozo/versions', experiment)
        kept[experiment] = [below(number / 'data') for number in versions.iterdir()] if versions.exists() else []
    faults = [
        f'nowhere: {experiment} {path} {digest}'
        for experiment, path, digest in rows(table)
        if digest != '-' and digest not in {each.get(path) for each in (current[experiment], *kept[experiment])}
    ]
    return faults + [
        f'not the latest: {experiment} {path}'
        for (experiment, path), digest in latest(table).items()
        if current[experiment].get(path) != digest
    ]


def compare(table, storage):
    known, now = latest(table), present(storage)
    return [f'differs: {name}' for name in known.keys() | now.keys() if known.get(name) != now.get(name)]


if __name__ == '__main__':
    found = {'record': record, 'check': check, 'compare': compare}[sys.argv[1]](*sys.argv[2:])
    print(*found[:20], f'{len(found)} differences', sep='\n')
    sys.exit(1 if found else 0)
