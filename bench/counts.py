"""Counts statements, commands and requests of nights after the first: for small new experiments and unchanged ones.

PostgreSQL counts statements. The site's sshd starts a script for every request, which records commands and keeps a copy
of the input of sftp-server; the packets in it are requests (draft-ietf-secsh-filexfer-02, section 3).
"""

import shutil
from collections import Counter

from centre import Centre, make
from data import KB
from processes import CannotMeasure
from row import Row
from server import Server
from years import forget_statements, watch_statements

SFTP_SERVERS = ('/usr/lib/openssh/sftp-server', '/usr/libexec/openssh/sftp-server', '/usr/libexec/sftp-server', '/usr/lib/ssh/sftp-server')
FORCED = """\
#!/bin/sh
if [ "$SSH_ORIGINAL_COMMAND" = internal-sftp ]; then
    tee "{folder}/sftp.$$" | "{sftp_server}"
else
    echo "$SSH_ORIGINAL_COMMAND" > "{folder}/command.$$"
    exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"
fi
"""
INIT = 1  # handshake, not a request
NAMES = {3: 'open', 4: 'close', 5: 'read', 6: 'write', 7: 'lstat', 8: 'fstat', 9: 'setstat', 10: 'fsetstat', 11: 'opendir', 12: 'readdir'}
NAMES |= {13: 'remove', 14: 'mkdir', 15: 'rmdir', 16: 'realpath', 17: 'stat', 18: 'rename', 19: 'readlink', 20: 'symlink', 200: 'extended'}


def counts(folder, program, experiments, files):
    folder.mkdir()
    tapped = folder / 'tapped'
    tapped.mkdir()
    forced = folder / 'forced'
    forced.write_text(FORCED.format(folder=tapped, sftp_server=sftp_server()))
    forced.chmod(0o755)
    with Server(folder / 'sshd', forced=forced) as server, Centre(folder / 'dozo', program, server.port, server) as centre:
        watch_statements(centre)
        centre.register(make(folder / 'first', experiments, files, KB, 20 * KB))
        centre.night()
        # The fixed cost of a night.
        empty = night(centre, tapped)
        before = experiments
        centre.register(make(folder / 'new', experiments, files, KB, 20 * KB))
        new = night(centre, tapped)
        unchanged = night(centre, tapped)
    return [
        Row(f'a night of {before} unchanged experiments', '', told(empty, 1)),
        Row(f'a new experiment of {files} files ({experiments} in a night)', '', told(difference(new, empty), experiments)),
        Row(f'an unchanged experiment ({experiments} more in a night)', '', told(difference(unchanged, empty), experiments)),
    ]


def sftp_server():
    found = shutil.which('sftp-server') or next((path for path in SFTP_SERVERS if shutil.which(path)), None)
    if not found:
        raise CannotMeasure('sftp-server is missing (package openssh-sftp-server)')
    return found


def night(centre, tapped):
    """Runs a night and returns its numbers of statements, commands, and requests of each kind."""
    shutil.rmtree(tapped)
    tapped.mkdir()
    forget_statements(centre)
    centre.night()
    statements = int(centre.sql("select sum(calls) from bench.pg_stat_statements where query !~ 'pg_stat_statements'"))
    counted = Counter({'statements': statements, 'commands': len(list(tapped.glob('command.*')))})
    for sent in tapped.glob('sftp.*'):
        counted += requests(sent.read_bytes())
    return counted


def requests(sent):
    """Returns how many requests of each kind an sftp-server received."""
    kinds, at = Counter(), 0
    while at + 5 <= len(sent):
        if sent[at + 4] != INIT:
            kinds[NAMES.get(sent[at + 4], str(sent[at + 4]))] += 1
        at += 4 + int.from_bytes(sent[at : at + 4], 'big')
    return kinds


def difference(more, less):
    return {what: more[what] - less[what] for what in more}


def told(counted, each):
    asked = {what: count for what, count in counted.items() if what not in ('statements', 'commands') and count}
    kinds = ', '.join(f'{count / each:.1f} {what}' for what, count in sorted(asked.items(), key=lambda item: -item[1]))
    return (
        f'{counted["statements"] / each:.1f} statements, {counted["commands"] / each:.2f} commands,'
        f' {sum(asked.values()) / each:.1f} requests' + (f' ({kinds})' if kinds else '')
    )
