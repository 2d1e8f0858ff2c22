"""Ten years of nights: a history generated in the tables after a real night, followed by real nights.

The rows that a real night adds are counted, table by table. The generated nights must have added the same, and so must
each real night after them.
"""

import statistics
import sys
from pathlib import Path

from centre import Centre, make
from processes import CannotMeasure
from row import Row, at_most
from table import markdown, spread

STATEMENT_MS_MAX = 10
EXPERIMENTS, FILES = 20, 20
CHANGED = 3  # experiments per night, one file each
BEFORE = 4  # real nights before the history; the last one is the pattern
MEASURED = 10  # real nights whose statements are examined
SHOWN = 6
TABLES = """
    select relname from pg_class
    where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace order by 1
"""
SIZES = """
    select c.relname, pg_total_relation_size(c.oid) + s.bytes from pg_class c
    cross join lateral (select coalesce(sum(pg_total_relation_size(i.inhrelid)), 0) as bytes
                        from pg_inherits i where i.inhparent = c.oid) s
    where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace order by 2 desc
"""


def years(folder, server, program, nights, real, judged):
    """Measures nights before and after a long history.

    `nights`: number of nights in the history. `real`: nights after it, through a service and an sshd.
    """
    # Files of about the same size: each change is a twentieth of its experiment, and all nights together look like one
    # day's sweep.
    sources = make(folder / 'sources', EXPERIMENTS, FILES, 50, 60, 2)
    with Centre(folder / 'dozo', program, server.port, server) as centre:
        watch_statements(centre)
        centre.register(sources)
        centre.night()
        changes = Changes(sources)
        # NB: the first of these also does the one-time work of all nights.
        before = [changed_night(centre, changes) for _ in range(BEFORE - 1)]
        counts = rows(centre)
        before.append(changed_night(centre, changes))
        pattern = difference(counts, rows(centre))
        say(f'a night of {CHANGED} changed experiments: {before[-1]:.2f} s, {sum(pattern.values())} rows')
        fill(centre, nights, pattern)
        # The retention at the end of this night prunes ten years at once.
        counts = rows(centre)
        forgetting = changed_night(centre, changes)
        forgotten = -sum(count for count in difference(counts, rows(centre)).values() if count < 0)
        say(f'the first night behind them: {forgetting:.2f} s, {forgotten:,} rows pruned')
        after, told = [], []
        for number in range(real):
            counts = rows(centre) if number == 0 else counts
            forget_statements(centre)
            after.append(changed_night(centre, changes))
            if number >= real - MEASURED:
                told.append(statements(centre))
            if number == 0:
                same(pattern, difference(counts, rows(centre)), 'a night behind the history')
            if number % 50 == 0:
                say(f'night {number + 1}/{real}: {after[-1]:.2f} s')
        sizes = table_sizes(centre)
    return [
        *shown(nights, before, after, told, sizes, judged),
        Row(f'behind {nights:,} nights: the first one, s', '', f'{forgetting:.2f}, {forgotten:,} rows pruned'),
    ]


def say(what):
    print(f'night: {what}', file=sys.stderr, flush=True)


class Changes:
    """Changes one file after the other, in one experiment after the other."""

    def __init__(self, sources):
        self.sources = sources
        self.count = 0

    def make(self):
        for _ in range(CHANGED):
            source, file = self.sources[self.count % EXPERIMENTS], self.count // EXPERIMENTS % FILES
            (source / f'series-{file % 2}' / f'image-{file:05}.dcm').write_bytes(b'other bytes %d' % self.count)
            self.count += 1


def changed_night(centre, changes):
    changes.make()
    return centre.night()


def watch_statements(centre):
    """Enables pg_stat_statements; the database server loads it at its next start."""
    centre.sql("alter system set shared_preload_libraries = 'pg_stat_statements'; alter system set pg_stat_statements.track_planning = on")
    centre.restart()
    centre.sql('create schema bench; create extension pg_stat_statements schema bench')


def forget_statements(centre):
    centre.sql('do $$ begin perform bench.pg_stat_statements_reset(); end $$')


def statements(centre):
    """Returns (longest execution in ms, mean, longest planning, calls, text) of statements, the longest first."""
    told = centre.sql("""
        select max_exec_time, mean_exec_time, max_plan_time, calls, regexp_replace(query, '\\s+', ' ', 'g')
        from bench.pg_stat_statements where query !~ 'pg_stat_statements' order by 1 desc
    """)
    lines = [line.split('\t', 4) for line in told.splitlines()]
    return [(float(longest), float(mean), float(planned), int(calls), text) for longest, mean, planned, calls, text in lines]


def rows(centre):
    names = centre.sql(TABLES).split()
    counted = ' union all '.join(f"select '{name}', count(*) from {name}" for name in names)
    return {name: int(count) for name, count in (line.split('\t') for line in centre.sql(counted).splitlines())}


def difference(before, after):
    # The number of a run's intervals and decisions depends on how long it takes.
    return {
        name: after[name] - before[name]
        for name in after
        if after[name] != before[name] and name not in ('run_pace', 'run_limit', 'run_tuning')
    }


def same(pattern, found, what):
    if found != pattern:
        raise CannotMeasure(f'{what} adds {found}, and not {pattern}')


def table_sizes(centre):
    """Returns (table, rows, bytes including indexes), the largest first."""
    counts = rows(centre)
    return [(name, counts[name], int(size)) for name, size in (line.split('\t') for line in centre.sql(SIZES).splitlines())]


def fill(centre, nights, pattern):
    counts = rows(centre)
    centre.sql(f'\\set nights {nights}\n\\set changed {CHANGED}\n' + Path(__file__).with_name('years.sql').read_text())
    found = difference(counts, rows(centre))
    same({name: count * nights for name, count in pattern.items()}, found, f'a history of {nights} nights')
    say(f'made up {nights:,} nights: {sum(found.values()):,} rows')


def shown(nights, before, after, told, sizes, judged):
    print(markdown(['table', 'rows', 'MB'], [[f'`{name}`', f'{count:,}', f'{size / 1e6:.1f}'] for name, count, size in sizes if count]))
    heads = ['statements of the last nights', 'longest, ms', 'mean, ms', 'longest planning, ms', 'calls a night']
    worst = {}
    for statement in (each for night in told for each in night):
        worst[statement[-1]] = max(worst.get(statement[-1], statement), statement)
    lines = [
        [f'`{text[:110]}`', f'{longest:.1f}', f'{mean:.1f}', f'{planned:.1f}', calls]
        for longest, mean, planned, calls, text in sorted(worst.values(), reverse=True)[:SHOWN]
    ]
    print(f'\n{markdown(heads, lines)}\n')
    longest = [night[0][0] for night in told]
    middle = statistics.median(longest)
    about = f'behind {nights:,} nights'
    return [
        at_most(f'{about}: the longest statement of a night, ms', middle, STATEMENT_MS_MAX, spread(longest), judged),
        Row(f'{about}: a night of {CHANGED} changed experiments, s', '', spread(after[-MEASURED:])),
        Row(f'behind {BEFORE - 1} nights: the same, s', '', spread(before[1:])),
        Row(f'{about}: the database, MB', '', f'{sum(size for _, _, size in sizes) / 1e6:.0f}'),
    ]
