package dozo.send;

import dozo.remote.LinkLoad;
import java.util.concurrent.atomic.LongAdder;

/** Counts what an engine is doing and what it has moved, for monitoring. Counting costs the workers almost nothing. */
final class Gauges {

    final Gauge sending = new Gauge();
    final Gauge proving = new Gauge();
    final Gauge naming = new Gauge();
    final Gauge recording = new Gauge();
    final Gauge files = new Gauge();
    final Gauge reading = new Gauge();
    final Gauge digesting = new Gauge();

    /** Content bytes sent, including repeated ones. */
    final LongAdder bytesMoved = new LongAdder();

    /** The number of units or files in one activity. */
    static final class Gauge {

        private final LongAdder inside = new LongAdder();
        private final Stay one = inside::decrement;

        Stay enter() {
            inside.increment();
            return one;
        }

        Stay enter(int many) {
            inside.add(many);
            return () -> inside.add(-many);
        }

        private int now() {
            return inside.intValue();
        }
    }

    /**
     * @param limited threads that wait because of a limit
     * @param yielding threads that wait because others use the source or the site
     * @param link what the lanes do
     */
    Load load(int limited, int yielding, LinkLoad link) {
        return new Load(
                sending.now(),
                proving.now(),
                naming.now(),
                recording.now(),
                files.now(),
                reading.now(),
                digesting.now(),
                limited,
                yielding,
                link);
    }
}
