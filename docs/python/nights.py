"""An operator looks at the last 30 nights, and fetches one file from the site to compare its digest.

    python -m dozo_client.examples.nights [EXPERIMENT PATH FILE]

EXPERIMENT is PROJECT/CODE, PATH the file's path in it, FILE the new file here. The token needs the role OPERATOR; read-only is
enough. Exit code 0: nothing needs a person, and the digest is right; else 1.
"""

import collections
import datetime
import hashlib
import sys
from pathlib import Path

from dozo_client.api.experiments import download, manifest_list, proof
from dozo_client.api.findings import finding_list
from dozo_client.api.runs import run_list
from dozo_client.connection import connect, items

if len(sys.argv) not in (1, 4):
    sys.exit(__doc__)
client = connect()
good = True

# %% The nights, the latest first. The rate is that of the whole night: of what got receipts, over the time from start to end.
since = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=30)
nights = []
for run in items(run_list, client=client):
    if run.started_at < since:
        break
    if run.kind == 'NIGHTLY_BACKUP' and run.ended_at:
        nights.append(run)
print('RUN  NIGHT       STATE     GIGABYTES  MB/S  FINDINGS')
for run in nights:
    done, seconds = run.progress.bytes_done, (run.ended_at - run.started_at).total_seconds()
    rate = done / 1e6 / max(seconds, 0.001)
    print(f'{run.id:<4} {run.started_at.astimezone():%Y-%m-%d}  {run.state:<9} {done / 1e9:9.3f} {rate:5.1f} {run.findings:9}')
states = collections.Counter(run.state for run in nights)
print(f'{len(nights)} {"night" if len(nights) == 1 else "nights"}: {", ".join(f"{count} {state}" for state, count in states.items()) or "none"}')

# %% What needs a person, by reason.
reasons = collections.Counter(finding.reason for finding in items(finding_list, client=client, open_=True))
for reason, count in reasons.most_common():
    print(f'open: {count} {reason}')
good = not reasons

# %% One file from the site. The service verifies it while it sends it; this compares it with the digest of record once more. The
# file gets its name only if they are equal.
if len(sys.argv) > 1:
    (project, code), path, file = sys.argv[1].split('/'), sys.argv[2], Path(sys.argv[3])
    latest = manifest_list.sync(project, code, client=client).items[0].number
    recorded = proof.sync(project, code, client=client, path=path).items[0].receipt
    content = download.sync(project, code, latest, client=client, path=path).payload.read()
    if recorded and hashlib.sha256(content).hexdigest() == recorded.sha256:
        file.write_bytes(content)
        print(f'{file}: {len(content)} bytes, as verified at the site at {recorded.verified_at:%Y-%m-%dT%H:%M:%SZ} by {recorded.method}')
    else:
        print(f'{path}: the digest is not that of record; nothing was written')
        good = False

sys.exit(0 if good else 1)
