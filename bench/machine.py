"""Facts about the machine and the tools."""

import os
import platform
import re
import shutil
import subprocess

from processes import CannotMeasure
from program import find_java

VERSION_COMMANDS = {
    'OpenSSH': ['ssh', '-V'],
    'tar': ['tar', '--version'],
    'sha256sum': ['sha256sum', '--version'],
    'rsync': ['rsync', '--version'],
}


def facts(work):
    """Returns names and values for the table at the top."""
    return {
        'cores': len(os.sched_getaffinity(0)),
        'CPU': first(r'model name\s*: (.*)', read('/proc/cpuinfo')) or platform.machine(),
        'memory': f'{os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9:.1f} GB',
        'kernel': platform.release(),
        'system': first(r'PRETTY_NAME="(.*)"', read('/etc/os-release')),
        'file system': file_system(work),
        'TCP': read('/proc/sys/net/ipv4/tcp_congestion_control').strip(),
        'Python': platform.python_version(),
        'Java': java(),
        **{name: version(command) for name, command in VERSION_COMMANDS.items() if shutil.which(command[0])},
    }


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ''


def first(pattern, text):
    found = re.search(pattern, text)
    return found[1] if found else ''


def file_system(folder):
    command = ['df', '--output=fstype', folder]
    return subprocess.run(command, capture_output=True, text=True, timeout=30).stdout.split()[-1]


def java():
    try:
        return version([find_java(), '-version'])
    except CannotMeasure:
        return 'none recent enough'


def version(command):
    """Returns the first line of output with a digit."""
    ended = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    return first(r'(?m)^(.*\d.*)$', ended.stdout + ended.stderr)
