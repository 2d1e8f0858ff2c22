package dozo.send;

import java.util.concurrent.atomic.LongAdder;

/** What an engine is at, and what it has moved. Counting costs its workers next to nothing; what it says is for who looks. */
final class Gauges {

    final Gauge sending = new Gauge();
    final Gauge proving = new Gauge();
    final Gauge naming = new Gauge();
    final Gauge recording = new Gauge();
    final Gauge files = new Gauge();
    final Gauge reading = new Gauge();
    final Gauge digesting = new Gauge();

    /** Content bytes sent, those that had to be sent again too. */
    final LongAdder bytesMoved = new LongAdder();

    /** How many are at one thing. */
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

    Load load() {
        return new Load(
                sending.now(),
                proving.now(),
                naming.now(),
                recording.now(),
                files.now(),
                reading.now(),
                digesting.now());
    }
}
