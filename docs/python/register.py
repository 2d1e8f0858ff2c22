"""A lab manager registers what is new in a list, and waits until all of the list is safe.

    python -m dozo_client.examples.register LIST.csv [HOURS]

LIST.csv has the columns project, code and source, and others if you like (docs/reference/registration.md). It may grow from week
to week: what is registered already stays as it is. The token needs the role LAB_MANAGER. Exit code 0: everything in the list is
safe. 1: a line was refused, or something is not safe after HOURS (36 by default).
"""

import sys
import time

from dozo_client.api.coverage import coverage_experiments
from dozo_client.api.experiments import experiment_register_all
from dozo_client.api.findings import finding_list
from dozo_client.api.runs import run_start_chosen
from dozo_client.connection import connect, detail, items
from dozo_client.errors import UnexpectedStatus
from dozo_client.models import ChosenExperiments, ExperimentRegisterAllMode
from dozo_client.types import File

if len(sys.argv) not in (2, 3):
    sys.exit(__doc__)
path = sys.argv[1]
seconds = 3600 * float(sys.argv[2] if len(sys.argv) > 2 else 36)
client = connect()

# %% Register. Each line gets a verdict; EACH registers the valid lines even if others are refused.
with open(path, 'rb') as file:
    result = experiment_register_all.sync(client=client, body=File(file), mode=ExperimentRegisterAllMode.EACH)
for line in result.lines:
    if line.outcome == 'REFUSED':
        print(f'line {line.line} is refused: {line.field}: {line.message}')
print(f'{result.registered} registered, {result.unchanged} known, {result.refused} refused')
listed = {f'{line.project}/{line.code}' for line in result.lines if line.outcome != 'REFUSED'}


# %% Which of them are not safe yet? An experiment is safe if a digest computed at the site proves every file of it.
def unsafe():
    safe = {f'{each.project}/{each.code}' for each in items(coverage_experiments, client=client, limit=500) if each.safe}
    return sorted(listed - safe)


waiting = unsafe()

# %% Back them up now, at most 1,000 at once. If that is refused, for example because a run is in progress, a night does it.
if waiting:
    try:
        run = run_start_chosen.sync(client=client, body=ChosenExperiments(experiments=waiting[:1000]))
        print(f'run {run.id} backs up {len(waiting)} now')
    except UnexpectedStatus as refused:
        if refused.status_code != 409:
            raise
        print(f'not now: {detail(refused)}')

# %% Wait: ask again after 1 s, 2 s, 4 s …, later every minute.
deadline, pause = time.monotonic() + seconds, 1
while waiting and time.monotonic() < deadline:
    time.sleep(pause)
    pause = min(60, 2 * pause)
    waiting = unsafe()

# %% The result, and what is known about those that are not safe.
print(f'{len(listed) - len(waiting)} of {len(listed)} are safe')
for name in waiting:
    reasons = sorted({finding.reason for finding in items(finding_list, client=client, open_=True, experiment=name)})
    print(f'{name} is not safe: {", ".join(reasons) or "no backup of it has ended"}')
sys.exit(1 if waiting or result.refused else 0)
