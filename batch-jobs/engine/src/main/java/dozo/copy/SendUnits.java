package dozo.copy;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.Problem;
import dozo.remote.RemoteException;
import dozo.send.Outcome;
import dozo.send.Outcome.Failed;
import dozo.send.Outcome.Verified;
import dozo.send.Route;
import dozo.send.Sender;
import dozo.send.Unit;
import dozo.source.DirectoryTree;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
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
    private final Consumer<Outcome> outcomes;
    private final Units<Entry> units = new Units<>(UNDER_WAY_MAX, this::send);
    private final List<Entry> folders = Collections.synchronizedList(new ArrayList<>());

    SendUnits(Sender sender, Route route, Consumer<Outcome> outcomes) {
        this.sender = sender;
        this.route = route;
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
        for (Outcome outcome : sender.send(route, unit(entries))) {
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
        Facts facts;
        try {
            facts = DirectoryTree.facts(before.path().under(route.source().path()));
        } catch (IOException e) {
            return new Failed(before, Problem.VANISHED, before.path() + ": no longer exists");
        }
        if (facts.kind() == EntryKind.DIRECTORY) {
            return new Failed(
                    before, Problem.CHANGED, before.path() + ": is a folder now; run again to copy its content");
        }
        Entry now = new Entry(before.number(), before.path(), facts);
        return sender.send(route, unit(List.of(now))).getFirst();
    }

    private static Unit unit(List<Entry> entries) {
        Entry first = entries.getFirst();
        return Units.isLarge(first.facts().sizeBytes()) ? new Unit.Large(first) : new Unit.Bundle(entries);
    }
}
