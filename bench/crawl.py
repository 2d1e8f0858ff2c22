"""A walk over a warm tree of small folders, compared with `find -printf` of the same facts.

The walk is timed as a whole process, including the start of Java, and again in a process that has walked the tree
before.
"""

import os
import shlex
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from processes import CannotMeasure
from program import classes, compiled, find_java, output_of
from row import at_most, shown
from table import markdown, spread

FILES, FILES_SHORT = 1_000_000, 20_000
FILES_PER_FOLDER = 38
FIND_FORM = r'%y %s %T@ %C@ %m %n %i %P//%l\0'
RATIO_MAX = 1.0


@dataclass(frozen=True)
class Tree:
    """A folder with so many entries below it, not counting itself."""

    folder: Path
    files: int
    entries: int


def add_options(parser):
    parser.add_argument('--short', action='store_true', help='a tiny tree, one round: does everything work?')
    parser.add_argument('--rounds', type=int, default=3, metavar='N', help='default: 3')
    parser.add_argument('--work', metavar='DIR', help='keeps the tree there; else in a temporary folder')


def measure(options):
    """Returns the shortfalls, and a remark for the last line."""
    with tempfile.TemporaryDirectory(prefix='dozo-crawl-') as temporary:
        tree = make_tree(Path(options.work or temporary), FILES_SHORT if options.short else FILES)
        shortfalls = compare(tree, Path(temporary), 1 if options.short else options.rounds, judged=not options.short)
    return shortfalls, 'short: figures not judged' if options.short else ''


def compare(tree, work, rounds, judged=True):
    """Prints the table and returns the shortfalls. `work` is an empty folder for a class file."""
    command = crawl_command(work)
    path = shlex.quote(str(tree.folder))
    find = f"find {path} -mindepth 1 -printf '{FIND_FORM}' > /dev/null"
    output_of(find, work)  # loads the tree into memory, for all walks
    seconds = {'find -printf': [], 'crawl, whole process': [], 'crawl, warm': []}
    for _ in range(rounds):
        seconds['find -printf'].append(output_of(find, work)[0])
        whole, lines = output_of(f'{command} {path} 1', work)
        seconds['crawl, whole process'].append(whole)
        check(tree, lines)
        # The first walks of a process are slower, while Java compiles hot code.
        lines = output_of(f'{command} {path} 5', work)[1]
        check(tree, lines)
        seconds['crawl, warm'].append(statistics.median(float(line.split()[1]) for line in lines[2:]))
    print(f'\n## crawl: {tree.entries:,} entries, {tree.files:,} of them files\n')
    print(table(tree, seconds) + '\n')
    return shown('crawl', rows_of(seconds, judged))


def make_tree(home, files):
    """Returns the folder with the tree; makes it if it does not exist. It gets its name when it is complete."""
    folder = home / f'crawl-{files}'
    folders = -(-files // FILES_PER_FOLDER)
    parents = {Path(folder_name(number)).parent for number in range(folders)}
    parents |= {parent.parent for parent in parents}
    tree = Tree(folder, files, files + folders + len(parents))
    if folder.exists():
        return tree
    home.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix='part-', dir=home))
    for number in range(folders):
        path = part / folder_name(number)
        path.mkdir(parents=True)
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        for index in range(min(FILES_PER_FOLDER, files - number * FILES_PER_FOLDER)):
            os.close(os.open(f'image-{index:05}.dcm', os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=handle))
        os.close(handle)
    part.rename(folder)
    return tree


def folder_name(number):
    return f'project-{number // 4096}/subject-{number // 64:05}/visit-{number:06}'


def crawl_command(work):
    """Returns a shell command that takes a folder and a number of walks."""
    path = f'{classes("engine")}:{work}'
    compiled(work, path, 'Crawl.java')
    return f'{shlex.quote(find_java())} -Xmx512m -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED -cp {shlex.quote(path)} Crawl'


def check(tree, lines):
    """Checks that every walk has reported every entry."""
    if not lines or any(int(line.split()[0]) != tree.entries for line in lines):
        raise CannotMeasure(f'the crawl told not {tree.entries} entries but: {lines}')


def table(tree, seconds):
    find = statistics.median(seconds['find -printf'])
    rows = []
    for name, times in seconds.items():
        rate = spread((tree.entries / time for time in times), 0)
        rows.append([name, spread(times), rate, f'{statistics.median(times) / find:.2f}'])
    return markdown(['walk', 'seconds', 'entries/s', "time / find's"], rows)


def rows_of(seconds, judged):
    find = statistics.median(seconds['find -printf'])
    ratios = {name: statistics.median(times) / find for name, times in seconds.items() if name.startswith('crawl')}
    return [at_most(f"{name}: time / find's", ratio, RATIO_MAX, f'{ratio:.2f}', judged) for name, ratio in ratios.items()]
