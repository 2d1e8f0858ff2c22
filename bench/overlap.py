"""The cost of verification: Dozo's copy of `mixed` with digests computed at the site, and without.

Dozo cannot send without requesting digests from the site. For the transfer alone, the site's commands return the file's
known digest by its temporary name instead of computing it. Any other name, such as that of the file used to test the
site, is passed to the real command.
"""

import hashlib
import os
import shlex
import shutil
import statistics
from pathlib import Path

import data
from engine import DOZO
from measure import Ballast, Source, Stopwatch, Subject
from processes import CannotMeasure
from row import at_most
from server import SYSTEM_FOLDERS, Server
from table import spread

RATIO_MAX = 1.35
ROUNDS = 5
LIMIT_SECONDS = 600
TOOLS = ('openssl', 'sha256sum', 'shasum')

TOOL = """\
#!/bin/sh
if [ -e {here}/on ]; then
    for argument in "$@"; do
        case $argument in ./*) exec awk -f {here}/look-up -- {real} "$@" ;; esac
    done
fi
exec {real} "$@"
"""
LOOK_UP = """\
BEGIN {
    while ((getline line < "HERE/digests") > 0) known[substr(line, 66)] = substr(line, 1, 64)
    for (i = 2; i < ARGC; i++) {
        name = ARGV[i]
        if (substr(name, 1, 2) == "./" && sub(/.*\\//, "", name) && name in known) {
            print known[name] " *" ARGV[i]
            found++
        } else command = command " '" ARGV[i] "'"
    }
    if (!found) exit system(ARGV[1] command)
    print found >> "HERE/found"
}
"""


class KnowingTools:
    """Commands that, once switched on, know the digests of a source's files under their temporary names."""

    def __init__(self, folder, source):
        self.folder = folder
        folder.mkdir()
        lines = [f'{digest.hex()} {temporary_name(source.folder, path)}\n' for path, digest in source.digests.items()]
        (folder / 'digests').write_text(''.join(lines))
        (folder / 'look-up').write_text(LOOK_UP.replace('HERE', str(folder)))
        for name in TOOLS:
            real = shutil.which(name)
            if real:
                tool = folder / name
                tool.write_text(TOOL.format(here=shlex.quote(str(folder)), real=shlex.quote(real)))
                tool.chmod(0o755)

    def switch(self, on):
        (self.folder / 'found').unlink(missing_ok=True)
        (self.folder / 'on').unlink(missing_ok=True)
        if on:
            (self.folder / 'on').touch()

    def found(self):
        counts = self.folder / 'found'
        return sum(map(int, counts.read_text().split())) if counts.exists() else 0


def temporary_name(folder, path):
    """Returns the temporary name of docs/adr/0016-copy.md.

    If a copy names files differently, no digest is found here, and the measurement fails.
    """
    facts = os.lstat(os.path.join(folder, path))
    hashed = hashlib.sha256(b'\0' + os.fsencode(path))
    for number in (facts.st_size, facts.st_mtime_ns):
        hashed.update(number.to_bytes(8, 'big', signed=True))
    return hashed.hexdigest()[:32]


def rows(folder, short):
    if not shutil.which('awk'):
        raise CannotMeasure('awk is missing')
    (folder / 'data').mkdir()
    source = Source((data.SHORT if short else data.FULL)['mixed'].make(folder / 'data'))
    tools = KnowingTools(folder / 'tools', source)
    path = f'{tools.folder}:{os.environ["PATH"]}:{SYSTEM_FOLDERS}'
    seconds = {True: [], False: []}
    with Server(folder / 'sshd', f'PATH={path}') as server:
        watch = Stopwatch(folder, server, Ballast(folder, not short), LIMIT_SECONDS)
        for number in range(1 if short else ROUNDS):
            for alone in (False, True):
                seconds[alone].append(copied(watch, source, tools, alone, compare=number == 0))
    ratio = statistics.median(seconds[False]) / statistics.median(seconds[True])
    measured = f'{ratio:.2f}: {spread(seconds[False])} s beside {spread(seconds[True])} s'
    return [at_most('`mixed`, verified / transfer alone', ratio, RATIO_MAX, measured, not short)]


def copied(watch, source, tools, alone, compare):
    tools.switch(alone)
    run = watch.run(Subject('dozo', DOZO, is_dozo=True), source, compare)
    if run.fault:
        raise CannotMeasure(f'a copy failed: {run.fault}')
    if tools.found() != (source.files if alone else 0):
        raise CannotMeasure(f'{tools.found()} of {source.files} digests were looked up (transfer alone: {alone})')
    return run.seconds
