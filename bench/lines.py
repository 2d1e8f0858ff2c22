"""The share of a link's rate that the whole command `dozo copy` reaches over distances, with loss, and beside other TCP connections.

A simulated link of packets (tunnel.py) joins two network namespaces, with the kernel's TCP and its usual buffers. After each copy,
`tar` through `ssh` copies the same files. Times include a `sync`. A copy that reaches its time limit counts with what has arrived by
then.
Needs root, iproute2 and /dev/net/tun.
"""

import math
import os
import shlex
import shutil
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

from arriving import stored
from data import KB, MB, even
from engine import COPY
from measure import fill_in, last_words, workspace
from namespaces import SITE, in_own_network
from processes import CannotMeasure, timed
from program import LAUNCHER
from row import Row, at_most, shown, teller
from server import Server
from table import markdown, spread
from tunnel import ACKNOWLEDGED, MTU_MAX, NEEDLESS, RETRANSMITTED, ROUND_TRIP_MICROS_MIN, SENT, SITE_6, Streams, Tunnel

MEGABITS = 1000
MTU_MIN = 1280  # of IPv6
LIMITS = {'Dozo': 100, 'tar': 20}  # seconds
STREAMS, IMBALANCE_SECONDS = 8, 15
LEAD_SECONDS = 3  # until the streams beside have their rate
HEADER_BYTES = 40 + 12  # of IPv4 and TCP with times
ERROR_MAX, ROUND_TRIP_ERROR_MS_MAX, DEVIATIONS_MAX = 0.03, 1, 4
say = teller('lines')


@dataclass(frozen=True)
class Line:
    """A link. `part`: the share of the data that is copied. `streams`: plain TCP connections in the same direction, beside the copy."""

    round_trip_ms: int = 36
    loss: float = 0
    streams: int = 0
    address: str = SITE
    part: float = 1

    def __str__(self):
        loss = f', loss {100 * self.loss:g} %' if self.loss else ''
        streams = f', beside {self.streams} stream{"s" * (self.streams > 1)}' if self.streams else ''
        return f'{self.round_trip_ms} ms{loss}{streams}{", IPv6" if self.address == SITE_6 else ""}'


NEAR, FAR, FAR_6 = Line(0), Line(), Line(address=SITE_6)
LOSSY = (Line(loss=0.0001), Line(loss=0.001, part=0.25), Line(loss=0.01, part=0.25))
BESIDE = (Line(streams=1), Line(streams=4))
LINES = (NEAR, FAR, Line(100), Line(200), Line(400), *LOSSY, *BESIDE, FAR_6)
LINES_SHORT = (FAR, Line(loss=0.0001, streams=1, address=SITE_6))
# Name, files, bytes of each.
SETS = (('large files', 8, 150 * MB), ('100 kB files', 8_000, 100 * KB))
SETS_SHORT = (('large files', 2, 10 * MB), ('100 kB files', 100, 100 * KB))

# Name of the panel, and its lines by their labels.
PANELS = (
    ('Round trip, ms', {f'{line.round_trip_ms}': line for line in (NEAR, FAR, Line(100), Line(200), Line(400))}),
    ('Packet loss at 36 ms, %', {f'{100 * line.loss:g}': line for line in (FAR, *LOSSY)}),
    ('TCP streams beside it at 36 ms', {f'{line.streams}': line for line in (FAR, *BESIDE)}),
)
# By the style.
CURVES = {
    'Dozo': ('large files', 'Dozo'),
    'Dozo small': ('100 kB files', 'Dozo'),
    'tar': ('large files', 'tar'),
    'tar small': ('100 kB files', 'tar'),
    'rest': ('large files', 'streams beside Dozo'),
}
WIDTH, HEIGHT, LEFT, TOP, BOTTOM, PANEL, GAP = 960, 420, 60, 84, 56, 205, 20
STYLE = """
svg { font: 13px system-ui, sans-serif; } .ground { fill: #fff; } text { fill: #1b2026; } .quiet { fill: #5a6672; }
.title { font-weight: 600; font-size: 15px; } .grid { stroke: #d9dfe5; } .line { stroke-width: 2; fill: none; }
.small { stroke-dasharray: 7 4; } circle.line { stroke-dasharray: none; } .Dozo { stroke: #1d4f7a; } .tar { stroke: #b0542a; }
.rest { stroke: #6b7784; stroke-dasharray: 2 3; }
@media (prefers-color-scheme: dark) { .ground { fill: #14181c; } text { fill: #e6ebf0; } .quiet { fill: #9aa7b4; }
.grid { stroke: #333c45; } .Dozo { stroke: #8cc3f2; } .tar { stroke: #e8976c; } .rest { stroke: #9aa7b4; } }
"""


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='little data, few links: does it all work? not judged')
    parser.add_argument('--megabits', type=int, default=MEGABITS, help='rate of the link; default: %(default)s')
    parser.add_argument('--mtu', type=int, default=MTU_MAX, help='bytes of a packet, at most and by default %(default)s')
    parser.add_argument('--control', default='cubic', help="TCP's congestion control; default: %(default)s")
    parser.add_argument('--rounds', type=int, default=1, metavar='N', help='copies of each kind; default: %(default)s')
    parser.add_argument('--picture', metavar='FILE', help='draws the shares as SVG')
    parser.add_argument('--work', metavar='DIR', help='works below there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    if not MTU_MIN <= options.mtu <= MTU_MAX:
        raise CannotMeasure(f'--mtu: expected {MTU_MIN} to {MTU_MAX}')
    in_own_network([LAUNCHER, '--prepare'])
    short = options.short
    shortfalls = shown('link', checked(options, not short))
    shares = {}
    with workspace(options.work) as (data_folder, folder):
        for number, line in enumerate(LINES_SHORT if short else LINES):
            for name, files, size in SETS_SHORT if short else SETS:
                count = round(files * line.part)
                source = even(f'lines-{count}-{size}', count, size, 1).make(data_folder)
                shares |= copied(options, line, name, source, folder / f'{number}-{size}')
    print(table(shares))
    print(imbalance(options, short))
    if options.picture:
        Path(options.picture).write_text(svg(shares, options), encoding='utf-8')
    return shortfalls, 'short: not judged' if short else ''


def checked(options, judged):
    """Returns rows of what the link is, beside what it should be."""
    seconds, round_trips = (8, (0, 36, 400)) if judged else (1, (36,))
    buffers = [Path(f'/proc/sys/net/ipv4/tcp_{side}mem').read_text().split()[-1] for side in 'wr']
    rows = [Row("TCP's buffers for sending and receiving, at most", '', ' and '.join(buffers))]
    for address in (SITE, SITE_6):
        for wanted in round_trips:
            with link(options, Line(wanted)) as tunnel, Streams(tunnel, 1, address) as stream:
                time.sleep(1)
                found = stream.total(ROUND_TRIP_MICROS_MIN) / 1000
            name = f'round trip of {wanted} ms{", IPv6" * (address == SITE_6)}: error, ms'
            rows.append(at_most(name, abs(found - wanted), ROUND_TRIP_ERROR_MS_MAX, f'{found:.2f}', judged))
    with link(options, FAR) as tunnel, Streams(tunnel, 4) as streams:
        time.sleep(LEAD_SECONDS)
        rate = streams.during(seconds, ACKNOWLEDGED)[0] * options.mtu / (options.mtu - HEADER_BYTES)
    megabits = rate / 125_000
    rows.append(at_most(f'{options.megabits} Mbit/s: error', abs(megabits / options.megabits - 1), ERROR_MAX, f'{megabits:.1f}', judged))
    with link(options, Line(4, loss=0.01)) as tunnel, Streams(tunnel, 4) as streams:
        time.sleep(1)  # at their begin the streams also fill the queue
        again, needless, sent = (seconds * rate for rate in streams.during(seconds, RETRANSMITTED, NEEDLESS, SENT))
    deviations = abs(again - needless - 0.01 * sent) / math.sqrt(0.01 * 0.99 * sent)
    measured = f'{again - needless:.0f} of {sent:.0f} packets'
    rows.append(at_most('1 % loss: error in standard deviations', deviations, DEVIATIONS_MAX, measured, judged))
    return rows


def imbalance(options, short):
    """Compares connections whose blocks come from one queue, as Dozo's, with connections that have an equal part each and wait for the
    slowest."""
    rows = []
    for line in LINES_SHORT if short else (FAR, *LOSSY):
        with link(options, line) as tunnel, Streams(tunnel, STREAMS, line.address) as streams:
            time.sleep(LEAD_SECONDS)
            before, began = streams.each(ACKNOWLEDGED), time.monotonic()
            time.sleep(1 if short else IMBALANCE_SECONDS)
            full = options.megabits * 125_000 * (time.monotonic() - began)
            moved = [after - value for after, value in zip(streams.each(ACKNOWLEDGED), before)]
        rows.append((line, f'{sum(moved) / full:.2f}', f'{STREAMS * min(moved) / full:.2f}', f'{max(moved) / max(1, min(moved)):.1f}'))
    return markdown((f'{STREAMS} plain connections', 'one queue', 'equal parts', 'fastest / slowest'), rows) + '\n'


def link(options, line):
    return Tunnel(line.round_trip_ms, line.loss, options.megabits, options.mtu, options.control)


def copied(options, line, name, source, folder):
    """Copies by each tool in turn over one link; returns shares of the link's rate by (line, name of the set, tool)."""
    folder.mkdir()
    found = {}
    with link(options, line) as tunnel, Server(folder / 'sshd', address=line.address, inside=tunnel.site) as server:
        for number in range(options.rounds):
            for tool in LIMITS:
                tunnel.forget()
                target = folder / f'{tool}-{number}'
                target.mkdir()
                with Streams(tunnel, line.streams, line.address) as streams:
                    time.sleep(LEAD_SECONDS if line.streams else 0)
                    before, opened, began = streams.total(ACKNOWLEDGED), connections_opened(), time.monotonic()
                    took, rate = one(tool, server, source, target)
                    beside = (streams.total(ACKNOWLEDGED) - before) / (time.monotonic() - began)
                server.wait_for_sessions()
                rates = {tool: rate, f'streams beside {tool}': beside} if line.streams else {tool: rate}
                rates = {kind: each / options.megabits / 125_000 for kind, each in rates.items()}
                for kind, each in rates.items():
                    found.setdefault((line, name, kind), []).append(each)
                told = ', '.join(f'{kind} {each:.3f}' for kind, each in rates.items())
                say(f'{line}, {name}: {told}; {took:.1f} s, connections: {connections_opened() - opened}')
    say(f'packets: {tunnel.counts}')
    shutil.rmtree(folder)
    return found


def one(tool, server, source, target):
    """Copies by this tool; returns the seconds and the bytes a second."""
    host = f'[{server.address}]' if ':' in server.address else server.address
    values = {'src': source, 'dst': target, 'config': server.client_configuration(server.port)}
    login = f'-P {server.port} -i {server.key} -o UserKnownHostsFile={server.known_hosts}'
    dozo = f'exec {shlex.quote(str(LAUNCHER))} copy -r -q {login} {{src}} {server.user}@{host}:{{dst}}/copy'
    # Without what earlier copies have learned about the way.
    environment = {**os.environ, 'XDG_CACHE_HOME': str(target.with_suffix('.caches'))}
    size = sum(file.stat().st_size for file in source.rglob('*') if file.is_file())
    log = target.with_suffix('.log')
    with open(log, 'wb') as output:
        began = time.monotonic()
        ended = timed(fill_in(dozo if tool == 'Dozo' else COPY['tar'], values), LIMITS[tool], output, output, environment)
    if ended.code is None:
        # What is stored is counted in whole blocks.
        return ended.seconds, stored(target) * size / stored(source) / ended.seconds
    if ended.code != 0:
        raise CannotMeasure(f'{tool} ended with {ended.code}: {last_words(log)}')
    os.sync()
    took = time.monotonic() - began
    return took, size / took


def connections_opened():
    """Returns the number of TCP connections that this network namespace has opened."""
    names, values = (line.split() for line in Path('/proc/net/snmp').read_text().splitlines() if line.startswith('Tcp:'))
    return int(values[names.index('ActiveOpens')])


def table(shares):
    kinds = list(dict.fromkeys((name, kind) for _, name, kind in shares))
    rows = []
    for line in dict.fromkeys(line for line, _, _ in shares):
        found = (shares.get((line, *kind)) for kind in kinds)
        rows.append((line, *(spread(each) if each else '' for each in found)))
    return markdown(('share of the rate', *(f'{kind}, {name}' for name, kind in kinds)), rows) + '\n'


def svg(shares, options):
    def y(share):
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    about = f'Share of a link of {options.megabits} Mbit/s: dozo copy, and tar through ssh'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="title">',
        f'<title id="title">{about}</title><style>{STYLE}</style><rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text class="title" x="16" y="28">{about}</text>',
        f'<text class="quiet" x="16" y="48">Content of the whole command; {options.control}, MTU {options.mtu}; circles: IPv6</text>',
    ]
    labels = []
    for number, (title, lines) in enumerate(PANELS):
        left = LEFT + number * (PANEL + GAP)
        places = {label: left + PANEL * (index + 0.5) / len(lines) for index, label in enumerate(lines)}
        for percent in range(0, 101, 20):
            out.append(f'<path class="grid" d="M{left} {y(percent / 100):.1f}h{PANEL}"/>')
            if number == 0:
                out.append(f'<text class="quiet" x="{left - 8}" y="{y(percent / 100) + 4:.1f}" text-anchor="end">{percent} %</text>')
        out.append(f'<text class="quiet" x="{left + PANEL / 2}" y="{HEIGHT - 14}" text-anchor="middle">{title}</text>')
        for label, at in places.items():
            out.append(f'<text class="quiet" x="{at:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{label}</text>')
        for style, kind in CURVES.items():
            found = {label: y(statistics.median(shares[line, *kind])) for label, line in lines.items() if (line, *kind) in shares}
            if found:
                path = 'L'.join(f'{places[label]:.1f} {at:.1f}' for label, at in found.items())
                out.append(f'<path class="line {style}" d="M{path}"/>')
            if found and number == len(PANELS) - 1:
                labels.append((list(found.values())[-1], kind[1] if style == 'rest' else f'{kind[1]}, {kind[0]}', style))
            if number == 0 and (FAR_6, *kind) in shares:
                at = y(statistics.median(shares[FAR_6, *kind]))
                out.append(f'<circle class="line {style}" cx="{places["36"]:.1f}" cy="{at:.1f}" r="4"/>')
    above, begin = float('inf'), left + PANEL + 8
    for at, label, style in sorted(labels, reverse=True):
        above = min(at, above - 18)
        out.append(f'<path class="line {style}" d="M{begin} {above:.1f}h24"/>')
        out.append(f'<text x="{begin + 30}" y="{above + 4:.1f}">{label}</text>')
    return '\n'.join([*out, '</svg>', ''])
