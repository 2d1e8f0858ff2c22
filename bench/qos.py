"""The rate of `dozo copy` beside UDP load on the same link, with and without priority for its marked packets.

The experiment of JAXA's SRFS on Ether (2009), with Dozo. A router in namespaces.py has the link's queue. The load is that of
whole frames. The rate of the copy is that of content, from the middle 80 % of the bytes as they are stored.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from arriving import Arrivals
from copying import copy
from data import MB, even
from measure import workspace
from namespaces import FRAME_BYTES_MAX, GUARANTEED, MARK, SITE, Link, Load, counters, missing
from row import Row, at_least
from server import Server
from table import markdown

FRAME_BYTES = 1280
# Low enough that two processors, which run both ends and the router, are not the limit.
MEGABITS, MEGABITS_SHORT = 200, 40
LOADS, LOADS_SHORT = tuple(range(0, 100, 10)), (90,)
SECONDS, SECONDS_SHORT = 15, 3  # how long a copy takes at the rate that the load leaves
FILES = 4
JUDGED_LOAD = 90
SHARE_OF_GUARANTEE = 0.9
SENT_MIN = 0.98  # of the planned load

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 960, 420, 70, 300, 64, 52
STYLE = """
svg { font: 13px system-ui, sans-serif; } .ground { fill: #fff; } text { fill: #1b2026; } .quiet { fill: #5a6672; }
.title { font-weight: 600; font-size: 15px; } .grid { stroke: #d9dfe5; } .rest { stroke: #8b96a2; stroke-width: 1; fill: none; }
.line { stroke-width: 2; fill: none; } .plain { stroke: #b0542a; }
.priority { stroke: #1d4f7a; } .setting1 { stroke-dasharray: 8 4; } .setting2 { stroke-dasharray: 2 3; }
@media (prefers-color-scheme: dark) { .ground { fill: #14181c; } text { fill: #e6ebf0; } .quiet { fill: #9aa7b4; }
.grid { stroke: #333c45; } .rest { stroke: #6b7784; } .plain { stroke: #e8976c; } .priority { stroke: #8cc3f2; } }
"""


@dataclass(frozen=True)
class Setting:
    """A link. `share_max`: about what a copy reaches at most, beside its load."""

    name: str
    round_trip_ms: int
    queue_seconds: float
    congestion: str
    share_max: float = 1


NEAR = Setting('0 ms', 0, 0.010, 'cubic')
FAR = Setting('8 ms', 8, 0.010, 'cubic')
# A queue much shorter than the round trip, as in the switches of that time, and TCP of that time.
OLD = Setting('8 ms, short queue, Reno', 8, 0.001, 'reno', 0.35)
SETTINGS, SETTINGS_SHORT = (NEAR, FAR, OLD), (FAR,)


@dataclass(frozen=True)
class Point:
    """What was measured at one load; rates are shares of the link's."""

    load: int
    setting: Setting
    has_priority: bool
    share: float
    resent: float  # of its TCP segments
    sent: float  # of the planned load; 1 without load
    lost: float  # of the load
    marked: float  # bytes with the mark, as a share of the copied bytes


def rates(work, short, megabits, picture):
    """Prints the table; returns the rows. `picture`: a file to write; None: none."""
    lacking = missing()
    if lacking:
        return [Row('not measured', '', lacking)]
    rate = (MEGABITS_SHORT if short else megabits) * MB // 8
    points = []
    with workspace(work) as (data_folder, folder):
        for setting in SETTINGS_SHORT if short else SETTINGS:
            for load in LOADS_SHORT if short else LOADS:
                for has_priority in (False, True):
                    point = measured(data_folder, folder, rate, load, setting, has_priority, SECONDS_SHORT if short else SECONDS)
                    print(f'foresight: {point}', file=sys.stderr, flush=True)
                    points.append(point)
    print(f'\nLink of {8 * rate // MB} Mbit/s; shares of it:\n')
    print(markdown(heads(points), [line(points, load) for load in dict.fromkeys(point.load for point in points)]), end='\n\n')
    if picture:
        Path(picture).write_text(svg(points, rate), encoding='utf-8')
    return rows(points, not short)


def measured(data_folder, folder, rate, load, setting, has_priority, seconds):
    left = min(setting.share_max, max(1 - load / 100, GUARANTEED if has_priority else 1 - JUDGED_LOAD / 100))
    file_bytes = max(1, round(left * rate * seconds / FILES / MB)) * MB
    source = even(f'qos-{FILES}-{file_bytes}', FILES, file_bytes, 1).make(data_folder)
    name = f'qos-{SETTINGS.index(setting)}-{load}-{has_priority}'
    target = folder / name
    target.mkdir()
    with Link(rate, has_priority, setting.round_trip_ms, setting.queue_seconds, setting.congestion) as link:
        with Server(folder / f'sshd-{name}', address=SITE, inside=link.site, outside=link.near) as server:
            with Load(link, FRAME_BYTES, load / 100 * rate) as sending, Arrivals(target) as arrivals:
                before = counters(link.near, 'Tcp')
                copy(server, server.port, source, target / 'copy', target, '-o', f'IPQoS={MARK}', before=link.near)
                after = counters(link.near, 'Tcp')
                arrivals.settle()
        marked = link.marked_bytes() if has_priority else 0
    total = FILES * file_bytes
    planned = load / 100 * rate * sending.seconds / FRAME_BYTES
    return Point(
        load,
        setting,
        has_priority,
        # What is stored is counted in whole blocks.
        arrivals.middle_rate() * total / arrivals.bytes() / rate,
        (after['RetransSegs'] - before['RetransSegs']) / (after['OutSegs'] - before['OutSegs']),
        sending.sent / planned if load else 1,
        max(0, 1 - sending.arrived / sending.sent) if sending.sent else 0,
        marked / total,
    )


def heads(points):
    return ('load', *(label(*column) for column in columns(points)))


def columns(points):
    return list(dict.fromkeys((point.setting, point.has_priority) for point in points))


def label(setting, has_priority):
    return f'{"priority" if has_priority else "FIFO"}, {setting.name}'


def line(points, load):
    found = {(point.setting, point.has_priority): point for point in points if point.load == load}
    cells = [found[column] for column in columns(points)]
    return (f'{load} %', *(f'{point.share:.2f}; UDP lost {100 * point.lost:.1f} %; {100 * point.resent:.1f} % resent' for point in cells))


def rows(points, judged):
    result = []
    least = SHARE_OF_GUARANTEE * GUARANTEED
    for point in (point for point in points if point.has_priority and point.load == JUDGED_LOAD):
        claim = point.setting is not OLD
        name = f'{label(point.setting, True)}, {JUDGED_LOAD} % load: share'
        found = f'{point.share:.2f}'
        result.append(at_least(name, point.share, least, found, judged) if claim else Row(name, '', found))
    sent = min(point.sent for point in points)
    marked = min(point.marked for point in points if point.has_priority)
    result.append(at_least('the load really sent, of the planned one; the smallest', sent, SENT_MIN, f'{sent:.3f}', judged))
    result.append(at_least('bytes in the class of the mark, of the copied ones; the smallest', marked, 1, f'{marked:.3f}', True))
    return result


def svg(points, rate):
    def x(load):
        return LEFT + load / 100 * (WIDTH - LEFT - RIGHT)

    def y(share):
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    about = f'dozo copy beside UDP load on a link of {8 * rate // MB} Mbit/s'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="title">',
        f'<title id="title">{about}</title><style>{STYLE}</style><rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text class="title" x="16" y="28">{about}</text>',
        f'<text class="quiet" x="16" y="48">Content as a share of the link; priority guarantees {100 * GUARANTEED:.0f} %</text>',
    ]
    for percent in range(0, 101, 20):
        at_y, at_x = y(percent / 100), x(percent)
        out.append(f'<path class="grid" d="M{LEFT} {at_y:.1f}H{WIDTH - RIGHT}"/>')
        out.append(f'<text class="quiet" x="{LEFT - 8}" y="{at_y + 4:.1f}" text-anchor="end">{percent} %</text>')
        out.append(f'<text class="quiet" x="{at_x:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{percent} %</text>')
    out.append(f'<text class="quiet" x="{x(50):.1f}" y="{HEIGHT - 10}" text-anchor="middle">UDP load</text>')
    # Headers of TCP, IP and Ethernet take the rest.
    whole = (FRAME_BYTES_MAX - 66) / FRAME_BYTES_MAX
    out.append(f'<path class="rest" d="M{x(0):.1f} {y(whole):.1f}L{x(100):.1f} {y(0):.1f}"/>')
    labels = [(y(0), 'what the load leaves', '')]
    for setting, has_priority in columns(points):
        curve = [point for point in points if (point.setting, point.has_priority) == (setting, has_priority)]
        kind = f'{"priority" if has_priority else "plain"} setting{SETTINGS.index(setting)}'
        path = 'L'.join(f'{x(point.load):.1f} {y(point.share):.1f}' for point in curve)
        out.append(f'<path class="line {kind}" d="M{path}"/>')
        labels.append((y(curve[-1].share), label(setting, has_priority), kind))
    below = float('inf')
    for at_y, text, kind in sorted(labels, reverse=True):
        below = min(at_y, below - 18)
        begin = WIDTH - RIGHT + 12
        out.append(f'<path class="{f"line {kind}" if kind else "rest"}" d="M{begin} {below:.1f}h24"/>')
        out.append(f'<text x="{begin + 32}" y="{below + 4:.1f}">{text}</text>')
    return '\n'.join([*out, '</svg>', ''])
