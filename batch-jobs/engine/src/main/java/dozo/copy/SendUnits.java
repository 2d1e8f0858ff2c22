package dozo.copy;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.RemoteException;
import dozo.send.Outcome;
import dozo.send.Outcome.Failed;
import dozo.send.Outcome.Verified;
import dozo.send.Route;
import dozo.send.Sender;
import dozo.send.SourceFolder;
import dozo.send.Unit;
import dozo.source.DirectoryTree;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Sends {@link Units} to a site. Files that changed meanwhile are sent once more, and facts of folders are set last.
 */
final class SendUnits implements AutoCloseable {

    /** Units in progress: one is sent, some are verified, some wait for the site's disk. */
    private static final int UNDER_WAY_MAX = 32;

    private final Sender sender;
    private final Route route;
    private final Origin origin;
    private final Consumer<Outcome> outcomes;
    private final Units<Entry> units = new Units<>(UNDER_WAY_MAX, this::send);
    private final List<Entry> folders = Collections.synchronizedList(new ArrayList<>());

    /** Where the entries come from. */
    interface Origin {

        /** Returns what the files of a unit are read from. */
        SourceFolder of(List<Entry> unit);

        /** Returns the facts of an entry at this moment; empty: it no longer exists. */
        Optional<Facts> now(FilePath path) throws RemoteException, InterruptedException;
    }

    /** One source for all units; if entries may change, a folder of this machine. */
    private record OneSource(SourceFolder source) implements Origin {

        @Override
        public SourceFolder of(List<Entry> unit) {
            return source;
        }

        @Override
        public Optional<Facts> now(FilePath path) {
            try {
                return Optional.of(DirectoryTree.facts(path.under(source.path())));
            } catch (IOException e) {
                return Optional.empty();
            }
        }
    }

    SendUnits(Sender sender, Route route, Consumer<Outcome> outcomes) {
        this(sender, route, new OneSource(route.source()), outcomes);
    }

    SendUnits(Sender sender, Route route, Origin origin, Consumer<Outcome> outcomes) {
        this.sender = sender;
        this.route = route;
        this.origin = origin;
        this.outcomes = outcomes;
    }

    void add(Entry entry) throws IOException, InterruptedException {
        units.add(entry, entry.facts().sizeBytes());
    }

    /** Waits until everything added is done. */
    void end() throws IOException, InterruptedException {
        units.end();
    }

    /** Sets modes and times of folders, after the last change in them: only then are folders verified. */
    void settleFolders() throws RemoteException, InterruptedException {
        folders.sort(Comparator.comparing(Entry::path).reversed());
        List<Failed> failed = sender.setFolderFacts(route, folders);
        failed.forEach(outcomes);
        Set<Entry> without = failed.stream().map(Failed::entry).collect(Collectors.toSet());
        for (Entry folder : folders) {
            if (!without.contains(folder)) {
                outcomes.accept(new Verified(folder, Digest.OF_NOTHING));
            }
        }
    }

    @Override
    public void close() {
        units.close();
    }

    private void send(List<Entry> entries) throws RemoteException, InterruptedException {
        List<Entry> changed = new ArrayList<>();
        for (Outcome outcome : sendOnce(entries)) {
            if (outcome instanceof Failed failed && failed.problem() == Problem.CHANGED) {
                changed.add(failed.entry());
            } else if (outcome instanceof Verified && outcome.entry().facts().kind() == EntryKind.DIRECTORY) {
                folders.add(outcome.entry());
            } else {
                outcomes.accept(outcome);
            }
        }
        for (Entry entry : changed) {
            outcomes.accept(sendAgain(entry));
        }
    }

    /** Sends a file that has changed since it was found as it is now, once; if it changes again it is a finding. */
    private Outcome sendAgain(Entry before) throws RemoteException, InterruptedException {
        Optional<Facts> facts = origin.now(before.path());
        if (facts.isEmpty()) {
            return new Failed(before, Problem.VANISHED, before.path() + ": no longer exists");
        }
        if (facts.get().kind() == EntryKind.DIRECTORY) {
            return new Failed(
                    before, Problem.CHANGED, before.path() + ": is a folder now; run again to copy its content");
        }
        Entry now = new Entry(before.number(), before.path(), facts.get());
        return sendOnce(List.of(now)).getFirst();
    }

    private List<Outcome> sendOnce(List<Entry> entries) throws RemoteException, InterruptedException {
        Entry first = entries.getFirst();
        Unit unit = Units.isLarge(first.facts().sizeBytes()) ? new Unit.Large(first) : new Unit.Bundle(entries);
        return sender.send(route.from(origin.of(entries)), unit);
    }
}
