"""A picture of one night: when each experiment was looked at, sent and settled, by the times in the database.

A line for each experiment; plain SVG, for light and dark backgrounds.
"""

from dataclasses import dataclass
from datetime import datetime
from html import escape

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 960, 110, 24, 92, 44
ROW_MIN, ROW_MAX, ALL_ROWS = 3, 16, 420
NAMED_FROM = 10  # less high rows have no names
TICKS_MAX = 10
STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600)

# For each experiment, the manifest is sealed at the end of its look, a receipt has the time when a unit was verified at
# the site, and the ledger has the time when its bag was settled. The start of the first unit is not recorded, so
# sending is shown from the seal to the last receipt.
SQL = """
    select p.code || '/' || e.code, m.sealed_at, min(r.verified_at), max(r.verified_at),
           (select max(at) from ledger l where l.action = 'experiment.settled' and l.seq > s.seq
            and l.subject = p.code || '/' || e.code || '#' || m.manifest_no)
    from run join ledger s on s.action = 'run.started' and s.subject = run.run_id::text
    join manifest m on m.sealed_at between run.started_at and run.ended_at
    join experiment e using (experiment_id)
    join project p using (project_id)
    left join receipt r on r.run_id = run.run_id and r.experiment_id = m.experiment_id
    where run.run_id = (select max(run_id) from run)
    group by p.code, e.code, m.manifest_no, m.sealed_at, s.seq
    order by m.sealed_at
"""
STEPS_SQL = """
    select s.step_name, s.start_time at time zone 'UTC', s.end_time at time zone 'UTC', r.started_at, r.ended_at
    from batch_step_execution s
    join batch_job_execution_params p on p.job_execution_id = s.job_execution_id and p.parameter_name = 'run'
    join run r on r.run_id = p.parameter_value::bigint
    where r.run_id = (select max(run_id) from run) and s.step_name in ('look', 'send', 'settle')
    order by s.start_time
"""

DONE = {'look': 'is sealed', 'send': 'is proven', 'settle': 'is settled'}
STYLE = """
    text { font: 12px system-ui, sans-serif; fill: #1f2328 }
    .title { font-size: 16px; font-weight: 600 }
    .quiet { fill: #59636e }
    .grid { stroke: #d1d9e0 }
    .look { fill: #0969da } .send { fill: #bf8700 } .settle { fill: #1a7f37 }
    .ground { fill: #ffffff }
    @media (prefers-color-scheme: dark) {
        text { fill: #f0f6fc } .quiet { fill: #9198a1 } .grid { stroke: #3d444d } .ground { fill: #0d1117 }
        .look { fill: #4493f8 } .send { fill: #d29922 } .settle { fill: #3fb950 }
    }
"""


@dataclass(frozen=True)
class Line:
    """Times of an experiment, in seconds from the start of the night."""

    name: str
    sealed: float
    first_proven: float | None
    proven: float | None
    settled: float | None


@dataclass(frozen=True)
class Night:
    seconds: float
    steps: dict[str, tuple[float, float]]
    lines: list[Line]


def read(centre):
    """Reads the last night of a centre."""
    steps = [line.split('\t') for line in centre.sql("set time zone 'UTC';" + STEPS_SQL).splitlines()]
    began, ended = (datetime.fromisoformat(text) for text in steps[0][3:])

    def since(text):
        return (datetime.fromisoformat(text) - began).total_seconds() if text else None

    lines = [line.split('\t') for line in centre.sql("set time zone 'UTC';" + SQL).splitlines()]
    return Night(
        (ended - began).total_seconds(),
        {name: (since(start), since(end)) for name, start, end, *_ in steps},
        [Line(name, *map(since, times)) for name, *times in lines],
    )


def check(night):
    """Returns impossible times in a night's own records; empty if there are none."""
    for line in night.lines:
        times = [line.sealed, line.first_proven, line.proven, line.settled]
        if None in times or times != sorted(times) or not 0 <= times[0] <= times[-1] <= night.seconds:
            return f'{line.name} was sealed, proven and settled after {times} s of {night.seconds:.2f}'
    return '' if night.lines else 'no experiment was sealed'


def overlaps(night):
    """Describes which phases begin before the previous one has ended."""
    all_flows = list(flows(night).items())
    found = [
        f'the first {DONE[later]} {earlier_end - later_start:.1f} s before the last {DONE[earlier]}'
        for (earlier, (_, earlier_end)), (later, (later_start, _)) in zip(all_flows, all_flows[1:])
        if later_start < earlier_end
    ]
    return f'The phases overlap: {"; ".join(found)}.' if found else 'The phases follow one another.'


def svg(night):
    height_each = max(ROW_MIN, min(ROW_MAX, ALL_ROWS / (len(night.lines) + 5)))
    flows_height = 22
    height = TOP + 3 * flows_height + 14 + height_each * len(night.lines) + BOTTOM
    scale = (WIDTH - LEFT - RIGHT) / night.seconds

    def bar(kind, start, end, y, high, title):
        wide = max(1.5, (end - start) * scale)
        return (
            f'<rect class="{kind}" x="{LEFT + start * scale:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}">'
            f'<title>{escape(title)}</title></rect>'
        )

    about = f'A night of {len(night.lines)} new experiments, {night.seconds:.1f} s'
    says = overlaps(night)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-labelledby="title">',
        f'<title id="title">{about}. {says}</title><style>{STYLE}</style>',
        f'<rect class="ground" width="{WIDTH}" height="{height:.0f}"/>',
        f'<text class="title" x="16" y="28">{about}</text>',
        f'<text class="quiet" x="16" y="48">{says}</text>',
    ]
    x = 16
    for kind, words in (('look', 'until its seal'), ('send', 'until its last file is proven'), ('settle', 'until its bag is settled')):
        out.append(f'<rect class="{kind}" x="{x}" y="62" width="12" height="12"/><text x="{x + 18}" y="72">{words}</text>')
        x += 40 + 7 * len(words)
    step = next((each for each in STEPS if night.seconds / each <= TICKS_MAX), STEPS[-1])
    for number in range(int(night.seconds / step) + 1):
        at = LEFT + number * step * scale
        out.append(f'<path class="grid" d="M{at:.1f} {TOP - 8}V{height - BOTTOM + 6:.1f}"/>')
        out.append(f'<text class="quiet" x="{at:.1f}" y="{height - BOTTOM + 22:.1f}" text-anchor="middle">{number * step:g} s</text>')
    y = TOP
    for kind, (start, end) in flows(night).items():
        out.append(f'<text x="{LEFT - 10}" y="{y + 12}" text-anchor="end">all: {kind}</text>')
        out.append(bar(kind, start, end, y, 16, f'{kind}: {start:.2f} to {end:.2f} s'))
        y += flows_height
    y += 14
    for line in night.lines:
        if height_each >= NAMED_FROM:
            out.append(f'<text class="quiet" x="{LEFT - 10}" y="{y + height_each - 4:.1f}" text-anchor="end">{escape(line.name)}</text>')
        high = height_each * 0.7
        looked = night.steps['look'][0]
        out.append(bar('look', looked, line.sealed, y + high / 3, high / 3, f'{line.name}: sealed at {line.sealed:.2f} s'))
        out.append(bar('send', line.sealed, line.proven, y, high, f'{line.name}: proven at {line.proven:.2f} s'))
        out.append(bar('settle', line.proven, line.settled, y, high, f'{line.name}: settled at {line.settled:.2f} s'))
        y += height_each
    return '\n'.join([*out, '</svg>', ''])


def flows(night):
    """Returns the first and last event of each flow.

    A flow begins before its first event, but that time is not recorded, so overlaps are never overstated.
    """
    return {
        'look': (min(line.sealed for line in night.lines), max(line.sealed for line in night.lines)),
        'send': (min(line.first_proven for line in night.lines), max(line.proven for line in night.lines)),
        'settle': (min(line.settled for line in night.lines), max(line.settled for line in night.lines)),
    }
