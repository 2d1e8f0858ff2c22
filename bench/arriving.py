"""What arrives at a site on this machine, and when."""

import os
import threading
import time

from data import MB
from processes import CannotMeasure, wait_for
from service import LIMIT_SECONDS

LOOKS_A_SECOND = 20
NEAR = 0.1  # a change has taken effect when half a second is this near to the new limit
CHANGE_SECONDS_MAX = 2
QUIET_SECONDS = 5  # nothing has arrived for so long: the site is closed


class Arrivals:
    """What is stored below a folder, looked at all the time, for a `with` block."""

    def __init__(self, folder):
        self.folder = folder
        self.looks = [(time.monotonic(), 0)]
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.look)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def look(self):
        while not self.ended.wait(1 / LOOKS_A_SECOND):
            # Nothing is removed: less would be a file that was renamed during the look.
            self.looks.append((time.monotonic(), max(self.bytes(), stored(self.folder))))

    def settle(self):
        """Waits for one more look."""
        count = len(self.looks)
        wait_for(lambda: len(self.looks) > count + 1, LIMIT_SECONDS, 'a look')

    def bytes(self):
        return self.looks[-1][1]

    def middle_rate(self):
        """Returns the bytes a second of the middle 80 %: without the start and the end."""
        total = self.bytes()
        begin = next(look for look in self.looks if look[1] >= 0.1 * total)
        end = next(look for look in self.looks if look[1] >= 0.9 * total)
        return (end[1] - begin[1]) / max(end[0] - begin[0], 1 / LOOKS_A_SECOND)

    def rate(self, seconds):
        """Returns the bytes a second over the next seconds."""
        begin = self.looks[-1]
        wait_for(lambda: self.looks[-1][0] - begin[0] >= seconds, LIMIT_SECONDS, 'a window')
        end = self.looks[-1]
        return (end[1] - begin[1]) / (end[0] - begin[0])

    def near(self, limit, since):
        """Returns the seconds from a moment to the end of the first half second that kept a limit."""
        while time.monotonic() - since < 10 * CHANGE_SECONDS_MAX:
            looks = self.looks[-(LOOKS_A_SECOND // 2) - 1 :]
            begin, end = looks[0], looks[-1]
            if begin[0] >= since and abs((end[1] - begin[1]) / (end[0] - begin[0]) - limit) <= NEAR * limit:
                return end[0] - since
            time.sleep(1 / LOOKS_A_SECOND)
        raise CannotMeasure(f'a limit of {limit // MB} MB/s was not kept after {10 * CHANGE_SECONDS_MAX} s')

    def last(self, since):
        """Waits until nothing has arrived for some seconds; returns the seconds from a moment to the last arrival."""

        def last_change():
            return next((at for (at, there), (_, before) in zip(self.looks[:0:-1], self.looks[-2::-1]) if there != before), since)

        wait_for(lambda: time.monotonic() - max(since, last_change()) > QUIET_SECONDS, LIMIT_SECONDS, 'the closing')
        return max(0, last_change() - since)


def stored(folder):
    """Returns the allocated bytes of all files: parts of a large file may arrive in any order."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name), follow_symlinks=False).st_blocks * 512
            except FileNotFoundError:
                pass  # renamed since
    return total
