package dozo.copy;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.remote.Lanes;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.io.OutputStream;
import java.security.MessageDigest;

/** Reads files from a site, and proves each while it passes on to somebody who waits for it. */
public final class ProvenRead implements AutoCloseable {

    private final Lanes lanes;

    /** The file's content is not the expected one, and was not passed on to its end. */
    public static final class Differs extends IOException {

        private static final long serialVersionUID = 1L;

        Differs(FilePath place, Digest read, Digest expected) {
            super("%s: has the digest %s instead of %s".formatted(place, read, expected));
        }
    }

    /** Creates it without opening a connection. */
    public ProvenRead(SiteAddress site) {
        this(Lanes.to(site, 1));
    }

    /** Creates it with lanes to the site, which it closes. Safe for use by several threads. */
    public ProvenRead(Lanes lanes) {
        this.lanes = lanes;
    }

    /**
     * Passes a file's content on, the last part of it only after the digest of all of it is right.
     *
     * @param place the file, below the site's root
     * @param expected the digest of its content
     * @throws Differs if it is not right
     */
    public void into(OutputStream out, FilePath place, Digest expected) throws IOException, InterruptedException {
        MessageDigest digest = Digest.algorithm();
        Last last = new Last(out);
        lanes.next().sftp().read(place, 0, Long.MAX_VALUE, (bytes, from, length) -> {
            digest.update(bytes, from, length);
            last.hold(bytes, from, length);
        });
        Digest read = Digest.of(digest.digest());
        if (!read.equals(expected)) {
            throw new Differs(place, read, expected);
        }
        last.letGo();
    }

    @Override
    public void close() {
        lanes.close();
    }

    /** The part that came last. */
    private static final class Last {

        private final OutputStream out;
        private byte[] part = new byte[0];
        private int length;

        Last(OutputStream out) {
            this.out = out;
        }

        void hold(byte[] bytes, int from, int count) throws IOException {
            if (length > 0) {
                letGo();
            }
            if (part.length < count) {
                part = new byte[count];
            }
            System.arraycopy(bytes, from, part, 0, count);
            length = count;
        }

        void letGo() throws IOException {
            out.write(part, 0, length);
            length = 0;
        }
    }
}
