"""`dozo copy` as a measured command."""

import json
import os

from processes import CannotMeasure, timed
from program import LAUNCHER

LIMIT_SECONDS = 300


def copy(server, port, source, target, log, *options, caches=None):
    """Copies a folder to the server; returns the seconds of the command and its JSON.

    `log`: a path without suffix for its output. `caches`: the folder of the user's caches.
    """
    login = ['-P', port, '-i', server.key, '-o', f'UserKnownHostsFile={server.known_hosts}']
    return copied([*options, *login, source, f'{server.user}@{server.address}:{target}'], log, caches)


def copied(words, log, caches=None):
    """Copies folders with these options and places; returns the same."""
    words = [LAUNCHER, 'copy', '-r', '-q', '--json', *words]
    environment = {**os.environ, 'XDG_CACHE_HOME': str(caches)} if caches else dict(os.environ)
    with open(log.with_suffix('.out'), 'w+b') as out, open(log.with_suffix('.log'), 'w+b') as errors:
        ended = timed('exec ' + ' '.join(map(str, words)), LIMIT_SECONDS, out, errors, environment)
        out.seek(0)
        errors.seek(0)
        if ended.code != 0:
            raise CannotMeasure(f'dozo copy ended with {ended.code}: {errors.read()[-500:].decode(errors="replace")}')
        return ended.seconds, json.loads(out.read())
