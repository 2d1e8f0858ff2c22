"""Parallel runs of tools that have none of their own; part of a peer's timed command.

  parallel.py rsync SRC DST CONFIG      4 x rsync, each with its own list of files
  parallel.py sha256 SRC DST CONFIG     sha256sum of the source (2 x), then sha256sum -c at the site (2 sessions)
"""

import os
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from data import files_of  # noqa: E402

CIPHER = 'aes128-gcm@openssh.com'
COST_OF_A_FILE_BYTES = 100_000  # cost of a file in addition to its bytes, expressed in bytes
PIECES_A_LIST = 8


def balance(folder, lists):
    """Returns relative paths in `lists` lists of about equal cost; neighbours in a folder stay together."""
    files = [(os.path.relpath(path, folder), size + COST_OF_A_FILE_BYTES) for path, size in files_of(folder)]
    piece_cost_max = sum(cost for _, cost in files) / (lists * PIECES_A_LIST)
    pieces = []
    last_folder = None
    for path, cost in files:
        if os.path.dirname(path) != last_folder or pieces[-1][0] + cost > piece_cost_max:
            pieces.append([0, []])
            last_folder = os.path.dirname(path)
        pieces[-1][0] += cost
        pieces[-1][1].append(path)
    return deal(pieces, lists)


def deal(pieces, lists):
    """Assigns the most expensive piece first, always to the list with the lowest cost."""
    hands = [[0, []] for _ in range(lists)]
    for cost, paths in sorted(pieces, reverse=True):
        hand = min(hands, key=lambda hand: hand[0])
        hand[0] += cost
        hand[1].extend(paths)
    return [paths for _, paths in hands if paths]


def together(commands, **files):
    """Runs the commands in parallel, each with its own file (stdin=[…]); exits if one fails."""
    running = [
        subprocess.Popen(command, **{name: of_each[i] for name, of_each in files.items()})
        for i, command in enumerate(commands)
    ]
    codes = [process.wait() for process in running]
    if any(codes):
        sys.exit(f'{commands[0][0]}: exit codes {codes}')


def zero_terminated(paths):
    file = tempfile.TemporaryFile()
    file.write(b''.join(os.fsencode(path) + b'\0' for path in paths))
    file.seek(0)
    return file


def rsync(source, destination, configuration):
    lists = [zero_terminated(paths) for paths in balance(source, 4)]
    ssh = f'ssh -F {configuration} -c {CIPHER}'
    command = ['rsync', '-a', '-0', '--files-from=-', '-e', ssh, f'{source}/', f'site:{destination}/']
    together([command] * len(lists), stdin=lists)


def sha256(source, destination, configuration):
    os.chdir(source)
    lists = [zero_terminated(paths) for paths in balance('.', 2)]
    sums = [tempfile.TemporaryFile() for _ in lists]
    together([['xargs', '-0', 'sha256sum']] * len(lists), stdin=lists, stdout=sums)
    for file in sums:
        file.seek(0)
    check = f'cd {shlex.quote(destination)} && sha256sum -c --quiet -'
    together([['ssh', '-F', configuration, '-c', CIPHER, 'site', check]] * len(lists), stdin=sums)


if __name__ == '__main__':
    {'rsync': rsync, 'sha256': sha256}[sys.argv[1]](*sys.argv[2:])
