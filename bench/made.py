"""A generated centre: its catalogue, its users, and a file of new visits."""

import subprocess

from processes import CannotMeasure
from program import LIBRARIES, build, java

PROJECTS = 200  # as in MadeCatalogue.java
PASSWORD = 'of a bench only, gone with it'
LIMIT_SECONDS = 3600
NO_SCRUB = {'DOZO_SCRUB_WINDOW': '-'}  # no copies exist at a site: a scrub would report all as missing

# Roles and project numbers of the users.
USERS = {
    **{f'lab{i}': (['LAB_MANAGER'], range(20 * i + 1, 20 * i + 21)) for i in range(5)},
    'night': (['OPERATOR'], range(1, PROJECTS + 1)),
    'audit': (['AUDITOR'], range(1, PROJECTS + 1)),
    'boss': (['ADMIN', 'AUDITOR'], range(1, PROJECTS + 1)),
}


def catalogue(data, experiments, entries, say):
    """Returns a service's work folder with the experiments, made once."""
    build()
    made = data / f'catalogue-{experiments}-{entries}'
    if not made.exists():
        say(f'makes up {experiments:,} experiments with {entries:,} entries')
        part = made.with_name(made.name + '.part')
        subprocess.run(['rm', '-rf', part], check=True)  # left by a killed run
        command = java(f'{LIBRARIES}/*', 'MadeCatalogue.java', part, experiments, entries, options=('-Xmx256m',))
        ended = subprocess.run(command, stdout=subprocess.DEVNULL, timeout=LIMIT_SECONDS)
        if ended.returncode != 0:
            raise CannotMeasure(f'MadeCatalogue ended with {ended.returncode}')
        part.rename(made)
    return made


def copy(made, work):
    # NB: cp keeps the owner: the database, and so its copy, may belong to another user.
    subprocess.run(['cp', '-a', made, work], check=True, timeout=LIMIT_SECONDS)


def visits(top, lines):
    """Returns a CSV file of visits that can be registered; makes their folders below `top`."""
    rows = ['project,code,title,source,modality,scanner,acquired']
    for number in range(lines):
        source = top / f'{number // 1000:03}' / f'{number:06}'
        source.mkdir(parents=True)
        rows.append(f'P{1 + number % PROJECTS:03},V{number},Visit {number} of the study,{source},MR,T7,2026-10-{1 + number % 28:02}')
    return '\n'.join(rows).encode()
