"""An auditor asks what was safe on a day, and takes certificates of some experiments, checked without Dozo.

    python -m dozo_client.examples.audit DAY FOLDER [KEY EXPERIMENT …]

DAY is such as 2026-10-01 and means its end; FOLDER is created. KEY is the fingerprint of the public key, or its file, as you
noted it when the service was set up: never take it from where the certificates come from. Each EXPERIMENT is PROJECT/CODE. The
token needs the role AUDITOR; read-only is enough. Exit code 0: everything was safe then, and every certificate is genuine; else 1.
"""

import csv
import datetime
import io
import subprocess
import sys
import zipfile
from pathlib import Path

from dozo_client.api.audit import audit_report
from dozo_client.api.experiments import certificate_issue, manifest_list
from dozo_client.api.gaps import gap_list
from dozo_client.connection import connect, detail, items
from dozo_client.errors import UnexpectedStatus

if len(sys.argv) < 3:
    sys.exit(__doc__)
day, folder = datetime.date.fromisoformat(sys.argv[1]), Path(sys.argv[2])
key, experiments = (sys.argv[3], sys.argv[4:]) if len(sys.argv) > 3 else ('', [])
folder.mkdir()
client = connect()
good = True


def write(name, head, rows):
    with open(folder / name, 'w', newline='', encoding='utf-8') as file:
        csv.writer(file).writerows([head, *rows])
    print(f'{name}: {len(rows)} {"line" if len(rows) == 1 else "lines"}')


# %% What was safe, in each project at each site. Without totals it is unknown: the records of the site begin later.
report = audit_report.sync(client=client, at=str(day))
rows = []
for site in report.sites:
    for project in site.projects:
        totals, evidence = project.totals, project.evidence
        figures = 6 * ['unknown']
        if totals:
            figures = [totals.experiments, totals.experiments_safe, totals.files, totals.files_safe, totals.bytes_, totals.bytes_safe]
        rows.append([site.site, project.project, *figures, evidence.receipts, evidence.findings])
        good = good and bool(totals) and totals.safe
head = 'site project experiments experiments_safe files files_safe bytes bytes_safe receipts open_findings'
write('safe.csv', head.split(), rows)
good = good and bool(rows)
if head := report.ledger.head:
    print(f'evidence: row {head.seq} of the ledger, {head.hash_}')

# %% Gaps: what was booked in the 31 days until then and did not arrive as planned, and what arrived without a booking.
since = day - datetime.timedelta(days=31)
gaps = items(gap_list, client=client, planned_from=since, planned_until=day, as_of=str(day), limit=500)
rows = [(gap.date or '', gap.project or '', gap.accession or '', ' '.join(gap.gaps), gap.verified) for gap in gaps]
write('gaps.csv', ['date', 'project', 'accession', 'gaps', 'verified'], rows)

# %% Certificates of the manifests that were current then. The check needs nothing of Dozo but this one file of Python, and OpenSSL.
for experiment in experiments:
    project, code = experiment.split('/')
    manifests = manifest_list.sync(project, code, client=client, as_of=str(day)).items
    if not manifests:
        print(f'{experiment}: had no manifest')
        good = False
        continue
    try:
        issued = certificate_issue.sync(project, code, client=client, manifest=manifests[0].number)
    except UnexpectedStatus as refused:
        print(f'{experiment}: no certificate: {detail(refused)}')
        good = False
        continue
    with zipfile.ZipFile(io.BytesIO(issued.payload.read())) as archive:
        papers = [archive.extract(name, folder) for name in sorted(archive.namelist())]
    checked = subprocess.run(
        [sys.executable, '-m', 'dozo_client.check_certificate', key, *papers], capture_output=True, text=True, encoding='utf-8'
    )
    # 3: certificate and list are as certified; no copy was read.
    good = good and checked.returncode == 3
    print(f'{experiment}, manifest {manifests[0].number}: {(checked.stdout + checked.stderr).splitlines()[-1]}')

print('everything was safe' if good else 'not everything was safe and certified')
sys.exit(0 if good else 1)
