#!/usr/bin/env python3
"""Makes year-one.tar.gz: a service of an early version that has lived for 30 nights, for TenYearsIT.

    git clone . /tmp/early && git -C /tmp/early checkout 11a190cd && mvn -f /tmp/early -DskipTests package
    ./make.py /tmp/early ./dozo year-one.tar.gz

The second argument is the present version: its `dozo backup` reads the early version's database. Requires sshd and GNU tar. The
keys in the archive are made here, and open nothing.

    backup/     the database and the keys of the work folder, as `dozo backup` writes them
    site/       what the site has
    storage/    the sources after the last night: storage/P/E is /tmp/dozo-year-one/storage/P/E in the database
    paper/      a certificate, the key it is checked with, and digests.tsv, the table of contents.py
"""

import io
import os
import random
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

EARLY, PRESENT, ARCHIVE = (Path(each).absolute() for each in sys.argv[1:4])
sys.path.insert(0, str(EARLY / 'bench'))
sys.dont_write_bytecode = True

from contents import record  # noqa: E402
import service as running  # noqa: E402  (of the early version, as the next)
from server import Server  # noqa: E402
from service import Service  # noqa: E402

TOP = Path('/tmp/dozo-year-one')  # absolute paths are in the catalogue: it must not depend on who makes it
STORAGE = TOP / 'storage'
PROJECTS = {'VIS': 'Visual cortex', 'MOT': 'Motor cortex'}
EXPERIMENTS = [f'{project}/S{number:02}' for project in PROJECTS for number in range(20)]
NIGHTS = 30
PASSWORD = 'a password for tests'
BORN_NS = 1_600_000_000_123_456_789


def text(dice, size):
    """Returns bytes that nothing else has, and that an archive compresses well."""
    line = dice.randbytes(12).hex().encode() + b'\n'
    return (line * (size // len(line) + 1))[:size]


def write(path, content, dice):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as file:
        file.write(content)
    time = BORN_NS + dice.randrange(10**15)
    os.utime(path, ns=(time, time))


def make(experiment):
    dice = random.Random(experiment)
    folder = os.fsencode(STORAGE / experiment)
    for name in (b'anat/T1w.nii', b'func/run-1.nii', b'func/run-1.json', b'func/run-2.nii', b'notes.txt'):
        write(os.path.join(folder, name), text(dice, dice.randrange(1, 20_000)), dice)
    number = int(experiment[-2:])
    if number == 3:
        for name in (b'caf\xe9', b'\xff\xfe/\x80.dat', b'two\nlines', '視覚課題.txt'.encode()):
            write(os.path.join(folder, name), text(dice, 300), dice)
    if number == 4:
        os.symlink(b'anat/T1w.nii', os.path.join(folder, b'latest'))
        os.symlink(b'/nowhere/\xff', os.path.join(folder, b'dangling'))
        os.link(os.path.join(folder, b'notes.txt'), os.path.join(folder, b'same as notes'))
    if number == 5:
        os.mkdir(os.path.join(folder, b'empty'))
        write(os.path.join(folder, b'nothing'), b'', dice)
    if number == 6:
        path = os.path.join(folder, b'sparse.raw')
        write(path, b'begin', dice)
        with open(path, 'r+b') as file:
            file.seek(4 << 20)
            file.write(b'middle')
            file.truncate(8 << 20)


def change(night):
    """One file changes, one goes, one gets another name, one comes: each in another experiment."""
    dice = random.Random(night)
    changed, gone, renamed, come = (os.fsencode(STORAGE / each) for each in dice.sample(EXPERIMENTS, 4))
    write(os.path.join(changed, b'func/run-1.nii'), text(dice, dice.randrange(1, 20_000)), dice)
    if os.path.exists(os.path.join(gone, b'func/run-2.nii')):
        os.remove(os.path.join(gone, b'func/run-2.nii'))
    if os.path.exists(os.path.join(renamed, b'func/run-1.json')):
        os.rename(os.path.join(renamed, b'func/run-1.json'), os.path.join(renamed, b'func/task-%d.json' % night))
    write(os.path.join(come, b'derived/night-%d.txt' % night), text(dice, 500), dice)


def night(service):
    run = service.ended(service.post('/runs', {'site': 'dr'}), 300)
    if run['state'] != 'COMPLETE':
        raise SystemExit(f'a night ended {run}: {service.findings(run)}')


def live(service, paper):
    for code, title in PROJECTS.items():
        service.post('/projects', {'code': code, 'title': title})
        service.put(f'/projects/{code}/roots', {'roots': [str(STORAGE / code)]})
        # One of five files is much, and the nights of a month are of one day here.
        service.put(f'/projects/{code}/tripwire', {'percent': 100, 'entries': 100})
    service.post('/users', {'name': 'sato', 'password': PASSWORD, 'roles': ['ADMIN']})
    service.post('/users', {'name': 'mori', 'password': PASSWORD, 'roles': ['LAB_MANAGER']})
    service.put('/projects/VIS/members/mori', {})
    service.ask_as('sato', PASSWORD, 'POST', '/me/tokens', {'name': 'monitoring', 'readOnly': True, 'days': 366})
    service.put('/alerts/recipients/sato', {'mail': 'sato@example.org', 'remindHours': 24})
    for experiment in EXPERIMENTS:
        project, code = experiment.split('/')
        service.post('/experiments', {'project': project, 'code': code, 'title': f'visit {code}', 'source': str(STORAGE / experiment)})
    for number in range(1, NIGHTS + 1):
        if number > 1:
            change(number)
        record(paper / 'digests.tsv', STORAGE, number)
        night(service)
        print(f'night {number}', flush=True)
        if number == 1:
            with zipfile.ZipFile(io.BytesIO(service.download('/experiments/VIS/S03/certificate'))) as papers:
                papers.extractall(paper)
            (paper / 'key.pem').write_text(service.get('/certificate-key')['publicKey'])
    service.ended(service.post('/scrubs', {'site': 'dr', 'all': True}), 300)


def main():
    running.START_LIMIT_SECONDS = 900  # other work may go on here
    TOP.mkdir()
    for name in ('backups', 'paper', 'site'):
        (TOP / name).mkdir()
    try:
        for experiment in EXPERIMENTS:
            make(experiment)
        settings = {'DOZO_SCRUB_WINDOW': '-', 'DOZO_DRILL_CRON': '-'}
        program = EARLY / 'service/target/dozo.jar'
        early = Service(TOP / 'dozo', program=program, before=('java', '-jar'), **settings)
        with Server(TOP / 'sshd') as server, early as service:
            service.add_site(server, TOP / 'site')
            live(service, TOP / 'paper')
        subprocess.run([PRESENT, 'backup', TOP / 'backups'], env={**os.environ, 'DOZO_WORK': str(TOP / 'dozo/work')}, check=True)
        next((TOP / 'backups').iterdir()).rename(TOP / 'backup')
        parts = ['backup', 'paper', 'site', 'storage']
        subprocess.run(
            ['tar', '--format=posix', '--sparse', '--owner=0', '--group=0', '--sort=name', '-cf', '-', '-C', TOP, *parts],
            stdout=open(TOP / 'all.tar', 'wb'),
            check=True,
        )
        with open(ARCHIVE, 'wb') as archive:
            subprocess.run(['gzip', '-9n', '-c', TOP / 'all.tar'], stdout=archive, check=True)
        print(f'{ARCHIVE}: {ARCHIVE.stat().st_size:,} bytes')
    finally:
        if '--keep' not in sys.argv:
            shutil.rmtree(TOP)


main()
