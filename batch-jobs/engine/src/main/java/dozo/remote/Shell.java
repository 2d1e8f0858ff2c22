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
import org.apache.sshd.client.channel.ChannelExec;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.channel.exception.SshChannelOpenException;
import org.apache.sshd.common.future.CloseFuture;
import org.apache.sshd.common.future.SshFutureListener;
import org.apache.sshd.common.session.ConnectionService;

/**
 * A shell at the site that runs one command after the other. A login shell's start-up files can take longer than what we want
 * of it, and over a long way a new channel costs several round trips: so it is started once.
 *
 * <p>Commands are lines for a POSIX {@code sh}, whatever the login shell is. Each has its standard input to itself, and ends
 * with a line that no file's name can imitate. Not thread-safe: one command at a time.
 */
final class Shell implements AutoCloseable {

    /** Digest lines of a large bundle are a few megabytes; more than this is not an answer. */
    private static final int OUTPUT_BYTES_MAX = 64 << 20;

    private static final int ERRORS_BYTES_MAX = 4096;
    private static final int MARK_BYTES = 16;

    /** The line that ends what a command says is shorter than this. */
    private static final int TAIL_BYTES = 64;

    private static final Duration OPEN_TIMEOUT = Duration.ofSeconds(30);

    /**
     * Reads the mark; then for each command how many bytes of input it has, the command itself in a line, and the input. The shell
     * itself discards what a command leaves of its input: this is rarely anything, and saves a process. POSIX: read takes its line
     * byte by byte from a pipe; head takes no more than it is told to. Whatever the login shell is, this line has to mean the same to
     * it: in the quotes is nothing that csh or fish take for something else.
     */
    static final String LOOP = "exec sh -c '"
            + "IFS= read -r mark || exit; printf \"\\n%s 0\\n\" \"$mark\"; printf \"\\n%s 0\\n\" \"$mark\" >&2; "
            + "while IFS= read -r bytes && IFS= read -r command; do "
            + "head -c \"$bytes\" | { sh -c \"$command\"; status=$?; while read -r rest; do :; done; exit $status; }; status=$?; "
            + "printf \"\\n%s %d\\n\" \"$mark\" $status; printf \"\\n%s %d\\n\" \"$mark\" $status >&2; done'";

    private final SiteAddress site;
    private final ClientSession session;
    private final Loop channel = new Loop();
    private final byte[] mark = newMark();
    private final Said output = new Said(OUTPUT_BYTES_MAX, true, mark);
    private final Said errors = new Said(ERRORS_BYTES_MAX, false, mark);
    private boolean ready;

    private Shell(SiteAddress site, ClientSession session) {
        this.site = site;
        this.session = session;
    }

    /**
     * Starts one.
     *
     * @throws TurnedAway if there is no channel for it
     * @throws RemoteException UNSUPPORTED if the account may not run commands
     */
    static Shell start(SiteAddress site, ClientSession session)
            throws TurnedAway, RemoteException, InterruptedException {
        Shell shell = new Shell(site, session);
        try {
            shell.open();
            var _ = shell.exchange(shell.mark.clone(), new byte[] {'\n'}, OPEN_TIMEOUT);
            shell.ready = true;
            return shell;
        } finally {
            if (!shell.ready) {
                shell.close();
            }
        }
    }

    /** The site has no channel to spare, such as with MaxSessions: that may be different when others have ended. */
    static final class TurnedAway extends Exception {

        private static final long serialVersionUID = 1L;

        TurnedAway(IOException cause) {
            super(cause);
        }
    }

    /** A command says more than an answer can be: it may never end. */
    private static final class TooMuch extends Exception {

        private static final long serialVersionUID = 1L;
    }

    /** Runs a command; after a failure the shell is of no more use. */
    CommandResult run(String command, byte[] stdin, Duration timeout) throws RemoteException, InterruptedException {
        byte[] head = (stdin.length + "\n" + command + "\n").getBytes(StandardCharsets.UTF_8);
        return exchange(head, stdin, timeout);
    }

    @Override
    public void close() {
        // Not at once: the site is to be told, so that it ends what runs there.
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

    private CommandResult exchange(byte[] head, byte[] stdin, Duration timeout)
            throws RemoteException, InterruptedException {
        CompletableFuture<Integer> outputEnd = output.expectEnd();
        CompletableFuture<Integer> errorsEnd = errors.expectEnd();
        SshFutureListener<CloseFuture> whenClosed = closed -> {
            IOException gone = new IOException("the channel was closed");
            outputEnd.completeExceptionally(gone);
            errorsEnd.completeExceptionally(gone);
        };
        channel.addCloseFutureListener(whenClosed);
        // NB: by a thread that nobody interrupts: an interrupted writer would take the whole connection with it.
        Thread.ofVirtual().name("command at " + site.host()).start(() -> feed(head, stdin));
        try {
            long end = System.nanoTime() + timeout.toNanos();
            int status = outputEnd.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            var _ = errorsEnd.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            return new CommandResult(status, output.text(), errors.text());
        } catch (TimeoutException e) {
            throw new RemoteException(
                    Reason.STUCK, "a command at " + site + " did not end within " + timeout.toSeconds() + " s", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof TooMuch) {
                throw new RemoteException(Reason.PROTOCOL, "a command at " + site + " said more than we take", e);
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
            // The channel is closed then, and whoever waits for the answer is told.
            channel.close(true);
        }
    }

    /** A shell that ends before it was ready is none that we may use; one that ends later was lost. */
    private RemoteException failure(Exception cause) {
        return session.isOpen() && !ready
                ? new RemoteException(Reason.UNSUPPORTED, site + " does not run commands for us", cause)
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

    /** The loop's channel, which ends when the site refuses to run it: MINA's own waits on. */
    private static final class Loop extends ChannelExec {

        Loop() {
            super(LOOP, null, null);
        }

        @Override
        public void handleFailure() {
            close(true);
        }
    }

    /** What a command says on one of its two outputs, until the line that says it has ended: its beginning, if it is much. */
    private static final class Said extends ByteArrayOutputStream {

        private final int bytesMax;
        private final boolean neverMore;
        private final byte[] endLine;
        private CompletableFuture<Integer> ended = new CompletableFuture<>();

        /**
         * The line begins with the mark and ends with the exit status.
         *
         * @param neverMore whether it is a failure when there is more than {@code bytesMax}
         */
        Said(int bytesMax, boolean neverMore, byte[] mark) {
            this.bytesMax = bytesMax;
            this.neverMore = neverMore;
            this.endLine =
                    ("\n" + new String(mark, StandardCharsets.US_ASCII) + " ").getBytes(StandardCharsets.US_ASCII);
        }

        /** Forgets what was said before; completes with the exit status of what comes now. */
        synchronized CompletableFuture<Integer> expectEnd() {
            reset();
            ended = new CompletableFuture<>();
            return ended;
        }

        /** What was said before the end, a character for each byte. */
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

        /** Where the line that says it has ended begins, line feed before it included; negative if it has not come. */
        private int endAt() {
            if (count == 0 || buf[count - 1] != '\n') {
                return -1;
            }
            for (int at = count - 1 - endLine.length - 1; at >= Math.max(0, count - TAIL_BYTES); at--) {
                if (Arrays.equals(buf, at, at + endLine.length, endLine, 0, endLine.length)) {
                    return at;
                }
            }
            return -1;
        }
    }
}
