package dozo.remote;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/**
 * Finds out how digests can be had from a site that is not ours to write to. A command counts when it digests known bytes on
 * its standard input, and {@code /dev/null} by its name from a list: both answers are known without a file of ours. That
 * {@code check-file} is offered shows when it is asked for a name that is not there: a site without it says something else.
 *
 * <p>What is found is believed less than what {@link SiteProbe} finds. That does no harm: each digest is compared with that
 * of the bytes that were read, so that a wrong one is a finding and never a proof.
 */
final class ReadOnlyProbe {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final int KNOWN_BYTES = 1_000;

    private ReadOnlyProbe() {}

    /** The first way that works, likely fastest first; reading back where there is no other. */
    static RemoteDigest digest(Lane lane) throws RemoteException, InterruptedException {
        byte[] known = known();
        for (ExecDigest way : ExecDigest.CANDIDATES) {
            if (isRight(lane, way, known)) {
                return way;
            }
        }
        return offersCheckFile(lane) ? new CheckFileDigest() : RemoteDigest.readBack();
    }

    /** Every byte there is, and no line feed at the end. */
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
            CommandResult result = lane.run(script, known, TIMEOUT);
            List<String> lines = result.output().lines().toList();
            return lines.size() == 2
                    && lines.getFirst().startsWith(Digest.ofContent(known) + " ")
                    && lines.getLast().startsWith(Digest.OF_NOTHING + " ")
                    && lines.getLast().endsWith("/dev/null");
        } catch (RemoteException e) {
            // NB: after a command that does not end the lane is as good as before.
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
