"""The program that is measured, built from these sources, and Java programs that use its classes."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from processes import CannotMeasure, timed

TOP = Path(__file__).resolve().parent.parent
LAUNCHER = TOP / 'dozo'
APP = TOP / 'service' / 'target' / 'app'
LIBRARIES = APP / 'lib'
BUILD_SECONDS = 3_600
COMPILE_SECONDS = 120
LIMIT_SECONDS = 600
JAVA_OLDEST = 25


def build():
    """Builds the program if sources have changed, and makes its AOT caches, which other starts leave to a later time."""
    ended = subprocess.run([LAUNCHER, '--prepare'], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=BUILD_SECONDS)
    if ended.returncode != 0 or not LIBRARIES.is_dir():
        raise CannotMeasure(f'Dozo could not be built: {ended.stderr.strip()[-500:]}')


def made_package(folder, launcher=LAUNCHER):
    """Makes the package below a folder, and returns its file."""
    ended = subprocess.run([launcher, 'package', folder], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=BUILD_SECONDS)
    if ended.returncode != 0:
        raise CannotMeasure(f'{launcher} package: {ended.stderr[-1500:]}')
    return Path(ended.stdout.strip().splitlines()[-1])


def find_java():
    """Returns the `java` of a recent enough JDK, searched where Dozo's launcher searches."""
    on_path = shutil.which('java')
    homes = [os.environ.get('DOZO_JAVA_HOME'), os.environ.get('JAVA_HOME')]
    homes += [on_path and Path(on_path).resolve().parent.parent]
    for folder in ('/usr/lib/jvm', '/opt', '~/.sdkman/candidates/java', '~/.jdks'):
        homes += sorted(Path(folder).expanduser().glob('*'))
    for home in filter(None, homes):
        release = Path(home, 'release')
        version = release.is_file() and re.search(r'JAVA_VERSION="(\d+)', release.read_text())
        if version and int(version[1]) >= JAVA_OLDEST and Path(home, 'bin/javac').exists():
            return str(Path(home, 'bin/java'))
    raise CannotMeasure(f'no JDK {JAVA_OLDEST} or newer; export DOZO_JAVA_HOME=/path/to/jdk')


def classes(*modules):
    """Returns the class path of modules of batch-jobs, each `NAME` or `NAME/test-classes`, built if necessary."""
    build()
    folders = [TOP / 'batch-jobs' / module.partition('/')[0] / 'target' / (module.partition('/')[2] or 'program/classes') for module in modules]
    if missing := [folder for folder in folders if not folder.is_dir()]:
        raise CannotMeasure(f'{missing[0].relative_to(TOP)} is missing: run ./dozo test once, which compiles the tests')
    return ':'.join(map(str, folders))


def java(path, program, *arguments, options=()):
    """Returns the words that run a Java source file of this folder with a class path."""
    return [find_java(), *options, '-cp', str(path), str(Path(__file__).with_name(program)), *map(str, arguments)]


def compiled(folder, path, program):
    """Compiles a Java source file of this folder into a folder; its start is then not that of the compiler."""
    command = [Path(find_java()).with_name('javac'), '-cp', path, '-d', folder, Path(__file__).with_name(program)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECONDS)
    if ended.returncode != 0:
        raise CannotMeasure(f'bench/{program} does not compile: {ended.stderr}')


def output_of(command, work):
    """Runs a shell command that must succeed without any words of error. Returns its seconds and its lines."""
    with tempfile.TemporaryFile(dir=work) as output, tempfile.TemporaryFile(dir=work) as errors:
        ended = timed(command, LIMIT_SECONDS, output, errors, dict(os.environ))
        errors.seek(0)
        problems = errors.read().decode(errors='replace')
        if ended.code != 0 or problems:
            raise CannotMeasure(f'{command} ends with {ended.code}: {problems[:300]}')
        output.seek(0)
        return ended.seconds, output.read().decode().splitlines()
