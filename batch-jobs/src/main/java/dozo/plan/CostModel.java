package dozo.plan;

/**
 * What it costs to send: seconds = bytes / rate + entries × cost per entry. Of its constants only the ratio matters for
 * sharing out.
 *
 * @param bytesPerSecond what one lane moves of a large file
 * @param secondsPerEntry what one entry costs however small it is
 */
public record CostModel(double bytesPerSecond, double secondsPerEntry) {

    /** Measured over loopback: about 300 MB/s and 2,500 files/s a lane. */
    public static final CostModel DEFAULT = new CostModel(300e6, 1 / 2_500.0);

    public CostModel {
        if (!(bytesPerSecond > 0) || !(secondsPerEntry >= 0)) {
            throw new IllegalArgumentException("no cost model: " + bytesPerSecond + ", " + secondsPerEntry);
        }
    }

    /** Seconds one lane needs. */
    public double seconds(long bytes, int entries) {
        return bytes / bytesPerSecond + entries * secondsPerEntry;
    }
}
