"""The first copy of a centre, night by night, as `dozo plan` forecasts it; and a picture of it."""

import json
import subprocess
import tempfile
from datetime import datetime
from pathlib import Path

from copying import LAUNCHER
from processes import CannotMeasure
from row import Row

LIMIT_SECONDS = 900

# The largest projects of a centre, the others in one line, in MB; it copied them with four programs in 50 days.
CENTRE = """dir,size_mbyte
0001,334605374
0002,249307831
0003,67109542
0004,60455564
0005,47376576
0006,35885983
rest,130639845
"""
OPTIONS = ['--rate', '600Mbit', '--link', '7.62Gbit', '--lanes', '13', '--hours', 'daily 06:00-20:00 closed']
TB = 1000**4
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 960, 360, 70, 24, 64, 44
NIGHTS_A_TICK = 5
STYLE = """
svg { font: 13px system-ui, sans-serif; } .ground { fill: #fff; } text { fill: #1b2026; } .quiet { fill: #5a6672; }
.title { font-weight: 600; font-size: 15px; } .grid { stroke: #d9dfe5; } .range { fill: #1d4f7a; opacity: 0.2; }
.line { stroke: #1d4f7a; stroke-width: 2; fill: none; }
@media (prefers-color-scheme: dark) { .ground { fill: #14181c; } text { fill: #e6ebf0; } .quiet { fill: #9aa7b4; }
.grid { stroke: #333c45; } .range { fill: #8cc3f2; } .line { stroke: #8cc3f2; } }
"""


def forecast(table, picture):
    """Returns the rows. `table`: a file of sizes; None: the centre's. `picture`: a file to write; None: none."""
    plan = planned(table)
    nights, total = plan['nights'], plan['forecast']['work']['bytes']
    if picture:
        Path(picture).write_text(svg(nights, total), encoding='utf-8')
    early, usual, late = (enough(nights, total, bound) for bound in ('high', 'middle', 'low'))
    found = f'{usual} ({early} to {late}), until {nights[usual - 1]["until"]}' if usual else f'more than {len(nights)}'
    return [Row(f'nights for {total / TB:.0f} TB, ten hours each', '', found, '')]


def planned(table):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(table) if table else Path(folder, 'sizes.csv')
        if not table:
            file.write_text(CENTRE)
        command = [LAUNCHER, 'plan', '--from-table', file, *OPTIONS, '--json']
        ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    if ended.returncode != 0:
        raise CannotMeasure(f'dozo plan ended with {ended.returncode}: {ended.stderr.strip()[-300:]}')
    return json.loads(ended.stdout)


def enough(nights, total, bound):
    """Returns after how many nights everything is verified; None: after more."""
    return next((number for number, night in enumerate(nights, 1) if night['bytes'][bound] >= total), None)


def svg(nights, total):
    scale_x = (WIDTH - LEFT - RIGHT) / len(nights)
    scale_y = (HEIGHT - TOP - BOTTOM) / total

    def points(bound):
        values = [0] + [min(total, night['bytes'][bound]) for night in nights]
        return [f'{LEFT + i * scale_x:.1f} {HEIGHT - BOTTOM - value * scale_y:.1f}' for i, value in enumerate(values)]

    begin, end = (datetime.fromisoformat(nights[i]['until']).date() for i in (0, -1))
    about = f'A first copy of {total / TB:.0f} TB, night by night'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="title">',
        f'<title id="title">{about}</title><style>{STYLE}</style><rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text class="title" x="16" y="28">{about}</text>',
        f'<text class="quiet" x="16" y="48">Verified by the end of each night, with a range of 80 %, {begin} to {end}</text>',
    ]
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = HEIGHT - BOTTOM - share * total * scale_y
        out.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        out.append(f'<text class="quiet" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{share * total / TB:.0f} TB</text>')
    for number in range(0, len(nights) + 1, NIGHTS_A_TICK):
        x = LEFT + number * scale_x
        out.append(f'<text class="quiet" x="{x:.1f}" y="{HEIGHT - BOTTOM + 22}" text-anchor="middle">{number}</text>')
    out.append(f'<path class="range" d="M{"L".join(points("high") + points("low")[::-1])}Z"/>')
    out.append(f'<path class="line" d="M{"L".join(points("middle"))}"/></svg>')
    return '\n'.join(out)
