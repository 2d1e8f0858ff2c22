package dozo.remote;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/**
 * Finds a digest method at a site where nothing may be written. A command works if it digests known bytes on its
 * standard input, and {@code /dev/null} by its name from a list: both digests are known without a file at the site.
 * {@code check-file} is offered if a request for a missing name is answered with "no such file": a site without it
 * answers differently.
 *
 * <p>This is weaker evidence than {@link SiteProbe}'s. It is safe, because each digest is compared with that of the
 * bytes read: a wrong one is a finding and never a proof.
 */
final class ReadOnlyProbe {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final int KNOWN_BYTES = 1_000;

    private ReadOnlyProbe() {}

    /** Returns the first method that works, likely fastest first; reading back if there is no other. */
    static RemoteDigest digest(Lane lane) throws RemoteException, InterruptedException {
        byte[] known = known();
        for (ExecDigest way : ExecDigest.CANDIDATES) {
            if (isRight(lane, way, known)) {
                return way;
            }
        }
        return offersCheckFile(lane) ? new CheckFileDigest() : RemoteDigest.readBack();
    }

    /** Returns every byte value, without a line feed at the end. */
    private static byte[] known() {
        byte[] known = new byte[KNOWN_BYTES];
        for (int i = 0; i < known.length; i++) {
            known[i] = (byte) i;
        }
        return known;
    }

    private static boolean isRight(Lane lane, ExecDigest way, byte[] known)
            throws RemoteException, InterruptedException {
        String script = "export LC_ALL=C; %1$s && printf \"/dev/null\\0\" | xargs -0 %1$s".formatted(way.tool());
        try {
            CommandResult result = lane.run(script, known, AtRoot.FEW_LINES_BYTES, TIMEOUT);
            List<String> lines = result.output().lines().toList();
            return lines.size() == 2
                    && lines.getFirst().startsWith(Digest.ofContent(known) + " ")
                    && lines.getLast().startsWith(Digest.OF_NOTHING + " ")
                    && lines.getLast().endsWith("/dev/null");
        } catch (RemoteException e) {
            // NB: after a command that does not end the lane is still usable.
            if ((e.retryable() && !lane.isOpen()) || e.reason() == Reason.PROTOCOL) {
                throw e;
            }
            return false;
        }
    }

    private static boolean offersCheckFile(Lane lane) throws RemoteException, InterruptedException {
        Sftp sftp = lane.sftp();
        FilePath missing =
                FilePath.ROOT.resolve(("no-such-file-" + UUID.randomUUID()).getBytes(StandardCharsets.UTF_8));
        Reply reply = sftp.pipeline().ask(CheckFileDigest.request(sftp, missing, 0, 0));
        return reply.type() == Packet.STATUS && StatusCodes.reason(reply.status()) == Reason.NO_SUCH_FILE;
    }
}
