"""Ten years with Dozo: an old database and site, an upgrade, a move of the storage, new keys, dead hosts, a fire.

The steps are those of the test TenYearsIT, which also asserts what must be true after each of them.
"""

import subprocess
import tempfile
from pathlib import Path

from processes import CannotMeasure
from program import LAUNCHER
from table import markdown

LIMIT_SECONDS = 3_600
HEADS = ('step', 'seconds', 'bytes sent', 'status')


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='the same: nothing is left out')


def measure(_):
    """Returns the shortfalls, and a remark for the last line."""
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder, 'figures')
        command = [LAUNCHER, 'test', 'TenYearsIT', f'-Dwrite.figures={figures}']
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_SECONDS)
        if not figures.exists():
            raise CannotMeasure(f'the test did not end: {(ended.stdout + ended.stderr)[-2_000:]}')
        rows = [line.split('\t') for line in figures.read_text().splitlines()]
    print(markdown(HEADS, rows) + '\n', flush=True)
    return ['a step failed: the table ends before it'] if ended.returncode else [], ''
