package dozo.remote;

import dozo.file.FilePath;
import dozo.remote.KeyPowers.Power;
import dozo.remote.RemoteException.Reason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * Tries what a thief could do with the site's key (ADR 0068): on a small file of known content, which is stored like
 * all others and tried again by the next check. A site that refuses everything keeps it; elsewhere it is deleted by the
 * last try. Only an explicit refusal counts as one: a request that fails for another reason leaves the power unknown.
 */
final class KeyProbe {

    /** Not a temporary name: a site that protects stored files must protect this one. */
    static final FilePath FILE = FilePath.of(".dozo/probe");

    private static final FilePath AWAY = FilePath.of(".dozo/probe-away");

    private static final byte[] CONTENT =
            "Dozo tries on this file what a stolen key could do to stored files.\n".getBytes(StandardCharsets.US_ASCII);

    /**
     * The same by commands, if the site runs any: what its SFTP server refuses, a shell may still do. Prints a line for
     * each power.
     */
    private static final String COMMANDS = "{ t() { if o=$(sh -c \"$2\" sh .dozo/probe .dozo/probe-away 2>&1); "
            + "then echo \"$1 yes\"; else case $o in "
            + "*ermission\\ denied*|*not\\ permitted*) echo \"$1 no\";; *) echo \"$1 unknown\";; esac; fi; }; "
            + "t CHANGE \": >> \\$1\"; "
            + "t RENAME \"mv \\$1 \\$2 && mv \\$2 \\$1\"; "
            + "t REPLACE \"cp -p \\$1 \\$2 && mv -f \\$2 \\$1\"; "
            + "t DELETE \"rm -f \\$1\"; }";

    private static final Set<Power> BY_COMMANDS = EnumSet.of(Power.CHANGE, Power.RENAME, Power.REPLACE, Power.DELETE);

    private static final Duration COMMANDS_TIMEOUT = Duration.ofSeconds(30);

    private final Lane lane;
    private final Sftp sftp;
    private final Set<Power> done = EnumSet.noneOf(Power.class);
    private final Set<Power> refused = EnumSet.noneOf(Power.class);

    /** Those of which a try failed for another reason. */
    private final Set<Power> unclear = EnumSet.noneOf(Power.class);

    KeyProbe(Lane lane) {
        this.lane = lane;
        this.sftp = lane.sftp();
    }

    /**
     * Tries everything.
     *
     * @param first a temporary file with the {@linkplain #content content}; it may be moved away
     * @param second another one
     */
    KeyPowers run(FilePath first, FilePath second) throws RemoteException, InterruptedException {
        putBack();
        attempt(Power.ADD, () -> sftp.rename(first, FILE));
        if (!isWhole()) {
            // Another check may be in progress.
            return KeyPowers.UNKNOWN;
        }
        done.add(Power.READ);
        attempt(Power.CHANGE, () -> sftp.open(FILE).finish(false));
        attempt(Power.CHANGE, () -> sftp.cutOff(FILE, CONTENT.length));
        attempt(Power.RENAME, () -> sftp.rename(FILE, AWAY));
        putBack();
        attempt(Power.REPLACE, () -> sftp.replace(second, FILE));
        attempt(Power.DELETE, () -> sftp.remove(FILE));
        if (!done.contains(Power.DELETE)) {
            tryCommands();
        }
        if (done.contains(Power.DELETE)) {
            // Then another file can be put in its place.
            done.add(Power.REPLACE);
        } else if (!isWhole()) {
            // Its refusals mean nothing.
            unclear.addAll(refused);
        }
        refused.removeAll(done);
        refused.removeAll(unclear);
        return new KeyPowers(done, refused);
    }

    static byte[] content() {
        return CONTENT.clone();
    }

    /** Undoes what was tried, now or by an interrupted check. */
    private void putBack() throws RemoteException, InterruptedException {
        if (sftp.lstat(AWAY).isPresent() && !succeeds(() -> sftp.rename(AWAY, FILE))) {
            var _ = succeeds(() -> sftp.remove(AWAY));
        }
    }

    private static boolean succeeds(Fanout.Try deed) throws RemoteException, InterruptedException {
        try {
            deed.run();
            return true;
        } catch (RemoteException e) {
            e.throwIfNoAnswer();
            return false;
        }
    }

    private void attempt(Power power, Fanout.Try harm) throws RemoteException, InterruptedException {
        try {
            harm.run();
            done.add(power);
        } catch (RemoteException e) {
            e.throwIfNoAnswer();
            boolean standing = e.reason() == Reason.EXISTS;
            if (standing && power == Power.ADD) {
                // An earlier check has added it; only the name is refused.
                done.add(power);
            } else if (e.reason() == Reason.PERMISSION_DENIED
                    || e.reason() == Reason.UNSUPPORTED
                    || (standing && power == Power.REPLACE)) {
                refused.add(power);
            } else {
                unclear.add(power);
            }
        }
    }

    private void tryCommands() throws RemoteException, InterruptedException {
        CommandResult result;
        try {
            result = AtRoot.run(lane, COMMANDS, new byte[0], 0, COMMANDS_TIMEOUT);
        } catch (RemoteException e) {
            if (e.reason() != Reason.UNSUPPORTED) {
                unclear.addAll(BY_COMMANDS);
            }
            return;
        }
        for (Power power : BY_COMMANDS) {
            if (result.output().contains(power + " yes\n")) {
                done.add(power);
            } else if (!result.output().contains(power + " no\n")) {
                unclear.add(power);
            }
        }
        putBack();
    }

    private boolean isWhole() throws RemoteException, InterruptedException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Optional<RemoteFacts> there = sftp.lstat(FILE);
        if (there.isEmpty() || there.get().sizeBytes() != CONTENT.length) {
            return false;
        }
        try {
            sftp.read(FILE, 0, CONTENT.length, bytes::write);
        } catch (RemoteException e) {
            e.throwIfNoAnswer();
            return false;
        } catch (IOException e) {
            throw new IllegalStateException("memory does not fail", e);
        }
        return Arrays.equals(bytes.toByteArray(), CONTENT);
    }
}
