"""Child processes: each has a time limit, is ended by its own id, and its CPU time is known.

The kernel reports CPU time to a parent that waits for its child. Process accounting (acct) would report the same, but
needs root, applies to the whole machine, and rounds to 10 ms per process.
"""

import ctypes
import os
import select
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf('SC_CLK_TCK')


class CannotMeasure(Exception):
    """Something required for the measurement is missing or broken."""


@dataclass(frozen=True)
class Ended:
    """A command that has ended; `code` is None if it reached its time limit."""

    code: int | None
    session: int
    seconds: float
    cpu_seconds: float
    memory_peak_bytes: int


def adopt_orphans():
    """Makes descendants whose parent dies our children, so that they are also waited for, counted and ended."""
    pr_set_child_subreaper = 36
    if ctypes.CDLL(None, use_errno=True).prctl(pr_set_child_subreaper, 1, 0, 0, 0) != 0:
        raise CannotMeasure(f'cannot adopt orphans: {os.strerror(ctypes.get_errno())}')


def timed(command, limit_seconds, output, errors, environment):
    """Runs a shell command in its own session; `output` and `errors` are files open for writing."""
    started = time.monotonic()
    child = subprocess.Popen(
        ['bash', '-o', 'pipefail', '-c', command],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        env=environment,
        start_new_session=True,
    )
    in_time = False
    try:
        in_time = wait_for_end(child.pid, limit_seconds)
        seconds = time.monotonic() - started
    finally:
        if not in_time:
            os.killpg(child.pid, signal.SIGKILL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return Ended(
        child.returncode if in_time else None,
        child.pid,
        seconds,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss * 1024,
    )


def wait_for_end(pid, limit_seconds):
    """Returns whether the process has ended within the limit (and waits to be reaped)."""
    handle = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(max(0, limit_seconds) * 1000))
    finally:
        os.close(handle)


def begin(command, log, **options):
    """Starts a program that runs beside the measurement, in its own session, with its output in a file."""
    words = [str(word) for word in command]
    with open(log, 'wb') as output:
        return subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, **options
        )


def stop(child, limit_seconds=10):
    """Ends one of our processes."""
    if child.poll() is None:
        child.terminate()
        if not wait_for_end(child.pid, limit_seconds):
            child.kill()
    child.wait(limit_seconds)


def reap_orphans(ours, client_session, limit_seconds=10):
    """Waits for adopted processes, kills those that do not end, and returns CPU seconds of (client side, server side).

    `ours` are the ids of children that others wait for. The name is also checked, because a program may have left the
    session of the timed command (lftp gives its ssh a terminal).
    """
    deadline = time.monotonic() + limit_seconds
    client = server = 0.0
    while orphans := [pid for pid in children(os.getpid()) if pid not in ours]:
        for pid in orphans:
            if not wait_for_end(pid, deadline - time.monotonic()):
                os.kill(pid, signal.SIGKILL)
            name, session = name_and_session(pid)
            _, _, usage = os.wait4(pid, 0)
            if session == client_session or name == 'ssh':
                client += usage.ru_utime + usage.ru_stime
            else:
                server += usage.ru_utime + usage.ru_stime
    return client, server


def stat(pid):
    """Returns the fields of /proc/PID/stat after the name, and the name, which may contain spaces and brackets."""
    text = Path(f'/proc/{pid}/stat').read_text(errors='replace')
    return text[text.rindex(')') + 2 :].split(), text[text.index('(') + 1 : text.rindex(')')]


def name_and_session(pid):
    fields, name = stat(pid)
    return name, int(fields[3])


def children(parent):
    found = []
    for entry in Path('/proc').iterdir():
        if entry.name.isdigit():
            try:
                if int(stat(entry.name)[0][1]) == parent:
                    found.append(int(entry.name))
            except (FileNotFoundError, ProcessLookupError):
                pass  # ended meanwhile
    return found


def cpu_seconds(pid):
    """Returns user and system time of a running process and of all its descendants that were waited for."""
    return sum(int(field) for field in stat(pid)[0][11:15]) / TICKS


def wait_for(condition, limit_seconds, what, every_seconds=0.01):
    """Polls a condition for which the kernel has no event; returns its value."""
    deadline = time.monotonic() + limit_seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise CannotMeasure(f'{what}: not within {limit_seconds} s')
        time.sleep(every_seconds)
    return found
