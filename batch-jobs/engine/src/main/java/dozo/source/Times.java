package dozo.source;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import java.util.concurrent.TimeUnit;

/** File system times in the form of {@link dozo.file.Facts}. */
public final class Times {

    private Times() {}

    /**
     * Sets the time of modification, in nanoseconds since 1970, as exactly as the file system stores it; a link is not
     * followed.
     */
    public static void setModified(Path path, long nanos) throws IOException {
        byte[] raw = FilePath.rawBytes(path);
        if (nanos < 0 && Kernel.isHere() && raw.length <= Kernel.PATH_BYTES_MAX) {
            // Java sets 1970 instead of a time before it that is not a whole second.
            Errno.checked(
                    OpenFile.call(kernel -> kernel.setModified(raw, nanos)), FilePath.between(OpenFile.TOP, path));
        } else {
            Files.getFileAttributeView(path, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .setTimes(FileTime.from(nanos, TimeUnit.NANOSECONDS), null, null);
        }
    }

    /**
     * Returns nanoseconds since 1970. File systems store seconds in 64 bits; a time out of range becomes the first or
     * last possible one, in 1677 or 2262.
     *
     * @param seconds negative before 1970; the nanoseconds count forward then, too
     */
    static long nanos(long seconds, long nanos) {
        long whole = TimeUnit.SECONDS.toNanos(seconds); // saturates on overflow
        long sum = whole + nanos;
        return whole > 0 && sum < 0 ? Long.MAX_VALUE : sum;
    }
}
