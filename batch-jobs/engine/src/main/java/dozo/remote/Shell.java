package dozo.remote;

import dozo.remote.RemoteException.Reason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.channel.exception.SshChannelOpenException;
import org.apache.sshd.common.future.CloseFuture;
import org.apache.sshd.common.future.SshFutureListener;
import org.apache.sshd.common.session.ConnectionService;

/**
 * A shell at the site that runs one command after another. It is started once, because a login shell's start-up files
 * can take longer than the commands, and over a long distance a new channel costs several round trips.
 *
 * <p>Commands are lines for a POSIX {@code sh}, whatever the login shell is. Each has a standard input of its own, and
 * its output ends with a line that no file name can imitate. Not thread-safe: one command at a time.
 */
final class Shell implements AutoCloseable {

    /** What a login shell's start-up files may print. */
    private static final int GREETING_BYTES_MAX = 64 << 10;

    private static final int ERRORS_BYTES_MAX = 4096;
    private static final int MARK_BYTES = 16;

    /** The end line of a command's output is shorter than this. */
    private static final int TAIL_BYTES = 64;

    private static final Duration OPEN_TIMEOUT = Duration.ofSeconds(30);

    /**
     * Reads the mark; then for each command the length of its input, the command itself in a line, and the input. The
     * shell itself discards input that a command leaves: this is rarely anything, and saves a process. POSIX: read
     * takes its line byte by byte from a pipe; head takes no more than the given number. This line must have the same
     * meaning to any login shell: its quotes contain nothing that csh or fish interpret differently.
     */
    static final String LOOP = "exec sh -c '"
            + "IFS= read -r mark || exit; printf \"\\n%s 0\\n\" \"$mark\"; printf \"\\n%s 0\\n\" \"$mark\" >&2; "
            + "while IFS= read -r bytes && IFS= read -r command; do "
            + "head -c \"$bytes\" | { sh -c \"$command\"; status=$?; while read -r rest; do :; done; exit $status; }; status=$?; "
            + "printf \"\\n%s %d\\n\" \"$mark\" $status; printf \"\\n%s %d\\n\" \"$mark\" $status >&2; done'";

    private final SiteAddress site;
    private final ClientSession session;
    private final ProgramChannel channel = new ProgramChannel(LOOP);
    private final byte[] mark = newMark();
    private final Said output = new Said(true, mark);
    private final Said errors = new Said(false, mark);
    private boolean ready;

    private Shell(SiteAddress site, ClientSession session) {
        this.site = site;
        this.session = session;
    }

    /**
     * Starts a shell.
     *
     * @throws TurnedAway if the site has no channel for it
     * @throws RemoteException UNSUPPORTED if the account may not run commands; STUCK if the login shell does not answer
     */
    static Shell start(SiteAddress site, ClientSession session)
            throws TurnedAway, RemoteException, InterruptedException {
        Shell shell = new Shell(site, session);
        try {
            shell.open();
            var _ = shell.exchange(shell.mark.clone(), new byte[] {'\n'}, GREETING_BYTES_MAX, OPEN_TIMEOUT);
            shell.ready = true;
            return shell;
        } finally {
            if (!shell.ready) {
                shell.close();
            }
        }
    }

    /** The site has no free channel, for example because of MaxSessions. One may become free when others end. */
    static final class TurnedAway extends Exception {

        private static final long serialVersionUID = 1L;

        TurnedAway(IOException cause) {
            super(cause);
        }
    }

    /** A command prints more than any valid answer; it may never end. */
    private static final class TooMuch extends Exception {

        private static final long serialVersionUID = 1L;
    }

    /** Runs a command; after a failure the shell is unusable. */
    CommandResult run(String command, byte[] stdin, int outputBytesMax, Duration timeout)
            throws RemoteException, InterruptedException {
        byte[] head = (stdin.length + "\n" + command + "\n").getBytes(StandardCharsets.UTF_8);
        return exchange(head, stdin, outputBytesMax, timeout);
    }

    @Override
    public void close() {
        // Not immediately: the site must be told, so that it ends the running command.
        channel.close(false);
    }

    private void open() throws TurnedAway, RemoteException, InterruptedException {
        try {
            session.getService(ConnectionService.class).registerChannel(channel);
            channel.setOut(output);
            channel.setErr(errors);
            channel.open().verify(OPEN_TIMEOUT);
        } catch (IOException e) {
            Lane.rethrowInterruption(e);
            if (isTurnedAway(e)) {
                throw new TurnedAway(e);
            }
            throw failure(e);
        }
    }

    private CommandResult exchange(byte[] head, byte[] stdin, int outputBytesMax, Duration timeout)
            throws RemoteException, InterruptedException {
        CompletableFuture<Integer> outputEnd = output.expectEnd(outputBytesMax);
        CompletableFuture<Integer> errorsEnd = errors.expectEnd(ERRORS_BYTES_MAX);
        SshFutureListener<CloseFuture> whenClosed = closed -> {
            IOException gone = new IOException("the channel was closed");
            outputEnd.completeExceptionally(gone);
            errorsEnd.completeExceptionally(gone);
        };
        channel.addCloseFutureListener(whenClosed);
        // NB: by a thread that is never interrupted: an interrupted writer would close the whole connection.
        Thread.ofVirtual().name("command at " + site.host()).start(() -> feed(head, stdin));
        try {
            long end = System.nanoTime() + timeout.toNanos();
            int status = outputEnd.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            var _ = errorsEnd.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            return new CommandResult(status, output.text(), errors.text());
        } catch (TimeoutException e) {
            throw new RemoteException(
                    Reason.STUCK,
                    ready
                            ? "a command at " + site + " did not end within " + timeout.toSeconds() + " s"
                            : "the login shell at " + site + " did not run a command within " + timeout.toSeconds()
                                    + " s",
                    e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof TooMuch) {
                throw new RemoteException(
                        Reason.PROTOCOL,
                        "a command at %s printed more than %d bytes, the most that was expected"
                                .formatted(site, outputBytesMax),
                        e);
            }
            throw failure(e);
        } finally {
            channel.removeCloseFutureListener(whenClosed);
        }
    }

    private void feed(byte[] head, byte[] stdin) {
        try {
            OutputStream in = channel.getInvertedIn();
            in.write(head);
            in.write(stdin);
            in.flush();
        } catch (IOException ended) {
            // Closing the channel fails the exchange that waits for the answer. NB: a channel that the site has closed
            // is closing already, and must still send its own CLOSE. Otherwise the site counts it until the lane ends.
            if (!channel.isClosing()) {
                channel.close(true);
            }
        }
    }

    /** Returns UNSUPPORTED if the shell ended before it was ready, otherwise LOST. */
    private RemoteException failure(Exception cause) {
        return session.isOpen() && !ready
                ? new RemoteException(Reason.UNSUPPORTED, site + " does not run commands for this user", cause)
                : new RemoteException(Reason.LOST, "the connection to " + site + " was lost", cause);
    }

    private static boolean isTurnedAway(IOException e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof SshChannelOpenException) {
                return true;
            }
        }
        return false;
    }

    private static byte[] newMark() {
        byte[] random = new byte[MARK_BYTES];
        new SecureRandom().nextBytes(random);
        return HexFormat.of().formatHex(random).getBytes(StandardCharsets.US_ASCII);
    }

    /** What a command prints on one of its two outputs, up to the end line; only its beginning if it is long. */
    private static final class Said extends ByteArrayOutputStream {

        private final boolean neverMore;
        private final byte[] endLine;
        private int bytesMax;
        private CompletableFuture<Integer> ended = new CompletableFuture<>();

        /**
         * Creates a buffer. The end line begins with the mark and ends with the exit status.
         *
         * @param neverMore whether more than expected is a failure
         */
        Said(boolean neverMore, byte[] mark) {
            this.neverMore = neverMore;
            this.endLine =
                    ("\n" + new String(mark, StandardCharsets.US_ASCII) + " ").getBytes(StandardCharsets.US_ASCII);
        }

        /** Discards earlier output. The future completes with the exit status of the next command. */
        synchronized CompletableFuture<Integer> expectEnd(int most) {
            reset();
            bytesMax = most;
            ended = new CompletableFuture<>();
            return ended;
        }

        /** Returns the output before the end line, one character per byte. */
        synchronized String text() {
            return new String(buf, 0, Math.min(endAt(), bytesMax), StandardCharsets.ISO_8859_1);
        }

        @Override
        public synchronized void write(byte[] some, int from, int length) {
            super.write(some, from, length);
            int at = endAt();
            if (at >= 0) {
                int digits = at + endLine.length;
                ended.complete(Integer.valueOf(new String(buf, digits, count - 1 - digits, StandardCharsets.US_ASCII)));
            } else if (count > bytesMax + TAIL_BYTES) {
                if (neverMore) {
                    ended.completeExceptionally(new TooMuch());
                }
                System.arraycopy(buf, count - TAIL_BYTES, buf, bytesMax, TAIL_BYTES);
                count = bytesMax + TAIL_BYTES;
            }
        }

        /** Returns whether the rest of the line is an exit status. */
        private boolean isStatus(int from) {
            return new String(buf, from, count - 1 - from, StandardCharsets.US_ASCII).matches("[0-9]{1,3}");
        }

        /** Returns where the end line begins, including the line feed before it; negative if it has not come. */
        private int endAt() {
            if (count == 0 || buf[count - 1] != '\n') {
                return -1;
            }
            for (int at = count - 1 - endLine.length - 1; at >= Math.max(0, count - TAIL_BYTES); at--) {
                if (Arrays.equals(buf, at, at + endLine.length, endLine, 0, endLine.length)) {
                    return isStatus(at + endLine.length) ? at : -1;
                }
            }
            return -1;
        }
    }
}
