package dozo.remote;

import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Measures how fast made-up data goes to a site over different numbers of lanes, and of channels on each (ADR 0077).
 * Only temporary files are written, at most 16 MiB for each channel, and all of them are removed afterwards.
 */
public final class TuningGrid {

    /** The numbers of lanes that are measured. */
    public static final List<Integer> LANES = List.of(1, 2, 4, 8, 16);

    /** The numbers of channels on each lane that are measured. */
    public static final List<Integer> CHANNELS = List.of(1, 2, 4);

    /** More than this are not measured if they are not faster by this factor. */
    private static final double WORTH_IT = 1.1;

    /** A choice this close to the highest rate is as good. */
    private static final double AS_GOOD = 0.95;

    private static final FilePath FOLDER = FilePath.of(".dozo/incoming");

    /** Each file is written over again and again: the site needs no room for what is sent. */
    private static final int FILE_BYTES = 16 << 20;

    private static final int PIECE_BYTES = 128 << 10;
    private static final Duration POLL = Duration.ofMillis(20);

    /** How long the lanes of a cell may take to open. */
    private static final Duration OPEN_MAX = Duration.ofSeconds(20);

    /** How long a measurement waits for anything to arrive. */
    private static final Duration NOTHING_MAX = Duration.ofSeconds(10);

    private final Lanes lanes;
    private final FilePath folder;
    private final Times times;
    private final Pass pass;
    private final BooleanSupplier goOn;
    private final long begin = System.nanoTime();

    /**
     * A measurement.
     *
     * @param lanes SSH connections
     * @param channels on each of them
     */
    public record Cell(int lanes, int channels, double bytesPerSecond) {}

    /** Waits until this many bytes may be sent. */
    @FunctionalInterface
    public interface Pass {
        void bytes(int bytes) throws InterruptedException;
    }

    /**
     * How long to measure.
     *
     * @param warmUp what is sent first does not count
     * @param each of one cell, after that
     * @param all after this time no further cell begins
     */
    record Times(Duration warmUp, Duration each, Duration all) {

        static final Times USUAL = new Times(Duration.ofMillis(500), Duration.ofMillis(1500), Duration.ofSeconds(75));
    }

    /**
     * A way to measure a cell.
     *
     * @param <X> what it may throw
     */
    interface Meter<X extends Exception> {
        /** Returns the rate; empty if there can be no such cell. */
        OptionalDouble rate(int lanes, int channels) throws X, InterruptedException;
    }

    private TuningGrid(Lanes lanes, Times times, Pass pass, BooleanSupplier goOn) {
        this.lanes = lanes;
        this.folder = FOLDER.resolve(SiteCheck.scratchName("tune-"));
        this.times = times;
        this.pass = pass;
        this.goOn = goOn;
    }

    /**
     * Measures a site, for about a minute and a half at most.
     *
     * @param check is asked before each packet
     * @param pass the limit that holds for the site
     * @param goOn is asked before each cell
     * @return what was measured; empty if it had to end before
     */
    public static List<Cell> measure(SiteAddress site, WriteCheck check, Pass pass, BooleanSupplier goOn)
            throws RemoteException, InterruptedException {
        return measure(site, check, Times.USUAL, pass, goOn);
    }

    static List<Cell> measure(SiteAddress site, WriteCheck check, Times times, Pass pass, BooleanSupplier goOn)
            throws RemoteException, InterruptedException {
        try (Lanes lanes = Lanes.to(site, LANES.getLast(), CHANNELS.getLast()).checked(check)) {
            lanes.want(1, 1);
            TuningGrid grid = new TuningGrid(lanes, times, pass, goOn);
            lanes.next().sftp().mkdirs(grid.folder);
            try {
                return cells(grid::rate);
            } finally {
                lanes.doOver(lane -> SiteCheck.removeScratch(lane, grid.folder));
            }
        }
    }

    /** Measures cell after cell, and leaves out those that have more than others that were no slower. */
    static <X extends Exception> List<Cell> cells(Meter<X> meter) throws X, InterruptedException {
        List<Cell> cells = new ArrayList<>();
        double highest = 0;
        for (int lanes : LANES) {
            double ofRow = 0;
            for (int channels : CHANNELS) {
                OptionalDouble rate = meter.rate(lanes, channels);
                if (rate.isEmpty()) {
                    break;
                }
                cells.add(new Cell(lanes, channels, rate.getAsDouble()));
                boolean faster = rate.getAsDouble() >= WORTH_IT * ofRow;
                ofRow = Math.max(ofRow, rate.getAsDouble());
                if (!faster) {
                    break;
                }
            }
            if (ofRow == 0 || ofRow < WORTH_IT * highest) {
                break;
            }
            highest = Math.max(highest, ofRow);
        }
        return cells;
    }

    /**
     * Returns the choice: of those within 5 % of the highest rate, the one with the fewest channels in all, and of these the
     * one with the fewest lanes.
     */
    public static Cell best(List<Cell> cells) {
        double highest = cells.stream().mapToDouble(Cell::bytesPerSecond).max().orElseThrow();
        return cells.stream()
                .filter(cell -> cell.bytesPerSecond >= AS_GOOD * highest)
                .min(Comparator.comparingInt((Cell cell) -> cell.lanes * cell.channels)
                        .thenComparingInt(Cell::lanes))
                .orElseThrow();
    }

    private OptionalDouble rate(int lanesWanted, int channelsWanted) throws RemoteException, InterruptedException {
        if (!goOn.getAsBoolean()
                || System.nanoTime() - begin > times.all.toNanos()
                || !opened(lanesWanted, channelsWanted)) {
            return OptionalDouble.empty();
        }
        List<Sftp> channels =
                lanes.all().stream().flatMap(lane -> lane.all().stream()).toList();
        AtomicBoolean sends = new AtomicBoolean(true);
        try (ExecutorService senders = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Boolean>> sent = new ArrayList<>();
            for (Sftp channel : channels) {
                FilePath file = folder.resolve(FilePath.of("" + sent.size()).bytes());
                sent.add(senders.submit(() -> send(channel, file, sends)));
            }
            try {
                TimeUnit.NANOSECONDS.sleep(times.warmUp.toNanos());
                long bytes = moved();
                long nanos = System.nanoTime();
                do {
                    TimeUnit.NANOSECONDS.sleep(times.each.toNanos());
                } while (moved() == bytes
                        && sent.stream().noneMatch(Future::isDone)
                        && System.nanoTime() - nanos < NOTHING_MAX.toNanos());
                double rate = (moved() - bytes) * 1e9 / (System.nanoTime() - nanos);
                sends.set(false);
                await(sent);
                return rate > 0 ? OptionalDouble.of(rate) : OptionalDouble.empty();
            } finally {
                sends.set(false);
            }
        }
    }

    private long moved() {
        return lanes.all().stream().mapToLong(Lane::bytesMoved).sum();
    }

    /** Opens so many; returns false if the site does not allow them. */
    private boolean opened(int lanesWanted, int channelsWanted) throws RemoteException, InterruptedException {
        lanes.want(lanesWanted, channelsWanted);
        long opening = System.nanoTime();
        while (System.nanoTime() - opening < OPEN_MAX.toNanos()) {
            var _ = lanes.next();
            List<Lane> all = lanes.all();
            if (all.size() == lanesWanted && all.stream().noneMatch(Lane::isWidening)) {
                return all.stream().allMatch(lane -> lane.channels() == channelsWanted);
            }
            TimeUnit.NANOSECONDS.sleep(POLL.toNanos());
        }
        return false;
    }

    private boolean send(Sftp channel, FilePath name, AtomicBoolean sends)
            throws RemoteException, InterruptedException {
        byte[] piece = new byte[PIECE_BYTES];
        // Not zeros: something on the way may compress.
        new Random().nextBytes(piece);
        try (RemoteFile file = channel.create(name)) {
            for (long at = 0; sends.get(); at = (at + PIECE_BYTES) % FILE_BYTES) {
                pass.bytes(PIECE_BYTES);
                file.write(at, piece, 0, PIECE_BYTES);
            }
            file.finish(false);
        }
        channel.remove(name);
        return true;
    }

    private static void await(List<Future<Boolean>> sent) throws RemoteException, InterruptedException {
        for (Future<Boolean> each : sent) {
            try {
                var _ = each.get();
            } catch (ExecutionException e) {
                if (e.getCause() instanceof RemoteException failed) {
                    throw failed.again();
                }
                throw new RemoteException(Reason.LOST, "made-up data could not be sent", e);
            }
        }
    }
}
