package dozo.plan;

/**
 * The cost of sending: seconds = bytes / rate + entries × cost per entry. For sharing out work only the ratio of the
 * constants matters; for a forecast both do.
 *
 * @param bytesPerSecond the rate of one lane for a large file, 1 kB/s to 1 TB/s
 * @param secondsPerEntry the cost of an entry of any size, 0 to an hour
 */
public record CostModel(double bytesPerSecond, double secondsPerEntry) {

    /** Measured over loopback: about 300 MB/s and 2,500 files/s per lane. */
    public static final CostModel DEFAULT = new CostModel(300e6, 1 / 2_500.0);

    /**
     * The cost of an experiment of any size (look, seal, plan, records, settlement, renames), whatever the number of lanes.
     * Measured: the first night of 2,000 experiments of 50 tiny files took 34.3 s on two processors
     * ({@code docs/reference/bench.md}, Night, {@code tiny}).
     */
    public static final double SECONDS_PER_EXPERIMENT = 0.017;

    static final double BYTES_PER_SECOND_MIN = 1e3;
    static final double BYTES_PER_SECOND_MAX = 1e12;
    static final double SECONDS_PER_ENTRY_MAX = 3_600;

    public CostModel {
        // Written so that NaN is refused, too.
        if (!(bytesPerSecond >= BYTES_PER_SECOND_MIN && bytesPerSecond <= BYTES_PER_SECOND_MAX)
                || !(secondsPerEntry >= 0 && secondsPerEntry <= SECONDS_PER_ENTRY_MAX)) {
            throw new IllegalArgumentException(
                    "invalid cost model: %s bytes per second (expected 1e3 to 1e12), %s seconds per entry (expected 0 to 3600)"
                            .formatted(bytesPerSecond, secondsPerEntry));
        }
    }

    /** Returns the seconds that one lane needs. */
    public double seconds(long bytes, long entries) {
        return bytes / bytesPerSecond + entries * secondsPerEntry;
    }

    /** Returns the seconds that one lane needs. */
    public double seconds(Work work) {
        return seconds(work.bytes(), work.entries());
    }
}
