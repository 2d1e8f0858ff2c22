package dozo.picture;

import dozo.picture.NoPicture.Why;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Draws a file in a process of its own: nobody knows what is in the file, so it is decoded without this program's memory, secrets
 * and time. Begin it, pass it the content, then ask for the picture. Writes no file. Not for several threads.
 */
public final class Drawing implements AutoCloseable {

    /** So much of a file is decoded, from its beginning. */
    public static final int CONTENT_BYTES_MAX = 64 << 20;

    /** Larger files are not drawn: somebody waits while all of it is read. */
    public static final long FILE_BYTES_MAX = 4L << 30;

    /** So many points may a side of an image have. */
    public static final int SIDE_MAX = 4_096;

    /** After the last byte. Ten times what a slow machine needs for the largest file. */
    private static final Duration TIME_MAX = Duration.ofSeconds(30);

    /** From the beginning: content that comes from a site takes its time. */
    private static final Duration WHOLE_TIME_MAX = Duration.ofMinutes(10);

    /** More than a picture of the largest size without any compression. */
    private static final int PNG_BYTES_MAX = 2 << 20;

    /** The first byte; no letter. */
    private static final byte PNG = (byte) 0x89;

    /** Twice the content, for a file that unpacks to an image of its size, and the picture. */
    private static final String HEAP = "-Xmx256m";

    private static final List<String> OPTIONS = List.of(
            HEAP,
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:+ExitOnOutOfMemoryError",
            "-Djava.awt.headless=true",
            // What the process has in memory must not be on a disk.
            "-XX:-UsePerfData",
            "-XX:-CreateCoredumpOnCrash",
            "-XX:ErrorFile=/dev/null");

    private final Process process;
    private final long sizeBytes;
    private final Duration timeMax;
    private final CompletableFuture<Void> limit;
    private long passedBytes;

    private Drawing(Process process, long sizeBytes, Duration wholeTimeMax, Duration timeMax) {
        this.process = process;
        this.sizeBytes = sizeBytes;
        this.timeMax = timeMax;
        limit = endAfter(wholeTimeMax);
    }

    private CompletableFuture<Void> endAfter(Duration time) {
        return CompletableFuture.runAsync(
                process::destroyForcibly, CompletableFuture.delayedExecutor(time.toNanos(), TimeUnit.NANOSECONDS));
    }

    /**
     * Begins to draw a file of this size.
     *
     * @param headerBytes of another file, which says what is in this one, and is passed before it; 0: there is none
     * @throws NoPicture if it is too large
     * @throws IOException if no process can be started
     */
    public static Drawing begin(long headerBytes, long sizeBytes) throws IOException, NoPicture {
        return begin(headerBytes, sizeBytes, DrawingProcess.class, WHOLE_TIME_MAX, TIME_MAX);
    }

    static Drawing begin(long headerBytes, long sizeBytes, Class<?> program, Duration wholeTimeMax, Duration timeMax)
            throws IOException, NoPicture {
        if (headerBytes > CONTENT_BYTES_MAX || sizeBytes > FILE_BYTES_MAX) {
            throw new NoPicture(Why.TOO_LARGE);
        }
        long allBytes = headerBytes + sizeBytes;
        long decodedBytes = Math.min(allBytes, CONTENT_BYTES_MAX);
        ProcessBuilder java = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString());
        java.command().addAll(OPTIONS);
        java.command().addAll(List.of("-cp", classes(program), program.getName()));
        java.command().addAll(List.of("" + decodedBytes, "" + headerBytes, "" + (decodedBytes < allBytes)));
        // The environment may contain secrets. NB: also JDK_JAVA_OPTIONS, which may ask for more memory.
        java.environment().clear();
        java.redirectError(ProcessBuilder.Redirect.DISCARD);
        return new Drawing(java.start(), allBytes, wholeTimeMax, timeMax);
    }

    /** Returns the jar or the folder of a class: no more of the program is needed. */
    private static String classes(Class<?> program) {
        try {
            return Path.of(program.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Returns what takes the content, of which the beginning is kept. It is decoded only after {@link #png} is called. A process that has
     * died is no error here, so that whoever reads the content can check all of it.
     */
    public OutputStream content() {
        OutputStream in = process.getOutputStream();
        return new OutputStream() {
            @Override
            public void write(int value) {
                write(new byte[] {(byte) value}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int from, int count) {
                int kept = Math.clamp(CONTENT_BYTES_MAX - passedBytes, 0, count);
                passedBytes += count;
                try {
                    in.write(bytes, from, kept);
                } catch (IOException died) {
                    // NB: png() finds no picture then.
                }
            }
        };
    }

    /**
     * Returns the picture as PNG, after all of the content was passed.
     *
     * @throws NoPicture if there is none
     */
    public byte[] png() throws NoPicture, InterruptedException {
        CompletableFuture<Void> last = endAfter(timeMax);
        try {
            process.getOutputStream().close();
            byte[] written = process.getInputStream().readNBytes(PNG_BYTES_MAX + 1);
            boolean whole = passedBytes == sizeBytes && written.length <= PNG_BYTES_MAX;
            if (whole && process.waitFor() == 0 && written.length > 0 && written[0] == PNG) {
                return written;
            }
            throw new NoPicture(Why.of(new String(written, StandardCharsets.US_ASCII)));
        } catch (IOException died) {
            throw new NoPicture(Why.UNFINISHED);
        } finally {
            last.cancel(false);
        }
    }

    Process process() {
        return process;
    }

    /** Ends the process. */
    @Override
    public void close() {
        // NB: before its input is closed, which it would take for the end of the content.
        process.destroyForcibly();
        limit.cancel(false);
    }
}
