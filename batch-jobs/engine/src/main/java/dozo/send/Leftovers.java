package dozo.send;

import dozo.file.FilePath;
import dozo.remote.Lane;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.SiteCheck;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Files that runs left under temporary names. */
final class Leftovers {

    private final Lane lane;

    /** Why folders could not be emptied at a site that forbids it, a sentence each. */
    private final List<String> forbidden = new ArrayList<>();

    Leftovers(Lane lane) {
        this.lane = lane;
    }

    /**
     * Removes those in a folder, except the files with these numbers, and the folder if it is then empty.
     *
     * @return whether only files to keep are left
     */
    boolean sweep(FilePath incoming, Set<Integer> keep) throws RemoteException, InterruptedException {
        if (removeIfEmpty(incoming)) {
            return true;
        }
        Set<String> kept = keep.stream().map(String::valueOf).collect(Collectors.toSet());
        List<FilePath> leftovers = new ArrayList<>();
        List<FilePath> scratch = new ArrayList<>();
        lane.sftp().listToKeep(incoming, (path, facts) -> {
            if (SiteCheck.isScratch(path) && facts.kind() == RemoteFacts.Kind.DIRECTORY) {
                scratch.add(path);
            } else if (!kept.contains(FilePath.render(path.name())) && facts.kind() != RemoteFacts.Kind.DIRECTORY) {
                leftovers.add(path);
            }
        });
        for (FilePath leftover : leftovers) {
            SiteTree.removeIfThere(lane, leftover);
        }
        for (FilePath each : scratch) {
            SiteCheck.removeScratch(lane, each);
        }
        return removeIfEmpty(incoming) || !keep.isEmpty();
    }

    /**
     * Removes those of all experiments, with their folders.
     *
     * @param all the folder with a folder for each project, which contains one for each experiment
     * @param keep the numbers of an experiment's files to keep; empty: the experiment is unknown, and its files are
     *     left alone
     * @param probesBefore a site check that began before this time is over, and what it left is removed, too
     * @return a sentence for each folder that could not be emptied, but only one if the site forbids it
     */
    List<String> sweepAll(FilePath all, Function<String, Optional<Set<Integer>>> keep, Instant probesBefore)
            throws RemoteException, InterruptedException {
        List<FilePath> projects = new ArrayList<>();
        List<FilePath> scratch = new ArrayList<>();
        lane.sftp().listToKeep(all, (path, facts) -> {
            if (facts.kind() != RemoteFacts.Kind.DIRECTORY) {
                return;
            }
            if (!SiteCheck.isScratch(path)) {
                projects.add(path);
            } else if (facts.modifiedSeconds() < probesBefore.getEpochSecond()) {
                scratch.add(path);
            }
        });
        List<String> refused = new ArrayList<>();
        for (FilePath each : scratch) {
            whyNot(each, () -> {
                        SiteCheck.removeScratch(lane, each);
                        return true;
                    })
                    .ifPresent(refused::add);
        }
        for (FilePath project : projects) {
            sweepProject(project, keep, refused);
        }
        if (!forbidden.isEmpty()) {
            int more = forbidden.size() - 1;
            refused.add(forbidden.getFirst() + (more == 0 ? "" : "; %d more folders likewise".formatted(more)));
        }
        return refused;
    }

    private void sweepProject(FilePath project, Function<String, Optional<Set<Integer>>> keep, List<String> refused)
            throws RemoteException, InterruptedException {
        List<FilePath> experiments = new ArrayList<>();
        lane.sftp().listToKeep(project, (path, facts) -> {
            if (facts.kind() == RemoteFacts.Kind.DIRECTORY) {
                experiments.add(path);
            }
        });
        for (FilePath experiment : experiments) {
            String name = FilePath.render(project.name()) + "/" + FilePath.render(experiment.name());
            Optional<Set<Integer>> kept = keep.apply(name);
            if (kept.isPresent()) {
                whyNot(experiment, () -> sweep(experiment, kept.get())).ifPresent(refused::add);
            }
        }
        // A project folder with unknown folders in it stays.
        var _ = removeIfEmpty(project);
    }

    private interface Removal {
        boolean isWhole() throws RemoteException, InterruptedException;
    }

    /** Empties a folder. Returns the reason if that fails. */
    private Optional<String> whyNot(FilePath folder, Removal removal) throws RemoteException, InterruptedException {
        try {
            return removal.isWhole()
                    ? Optional.empty()
                    : Optional.of(folder + ": Dozo did not create this; remove it at the site");
        } catch (RemoteException e) {
            String sentence = "temporary files in %s could not be removed: %s; remove them at the site"
                    .formatted(folder, e.getMessage());
            return switch (e.reason()) {
                case PERMISSION_DENIED, UNSUPPORTED -> {
                    forbidden.add(sentence);
                    yield Optional.empty();
                }
                case EXISTS, REFUSED, NO_SUCH_FILE -> Optional.of(sentence);
                case UNREACHABLE, HOST_KEY, LOGIN_REFUSED, NO_SFTP, LOST, STUCK, READ_ONLY, FULL, PROTOCOL -> throw e;
            };
        }
    }

    /** Returns whether the folder is gone; if not, it is not empty. */
    boolean removeIfEmpty(FilePath folder) throws RemoteException, InterruptedException {
        try {
            lane.sftp().rmdir(folder);
            return true;
        } catch (RemoteException e) {
            if (e.reason() != Reason.REFUSED && e.reason() != Reason.EXISTS && e.reason() != Reason.NO_SUCH_FILE) {
                throw e;
            }
            return e.reason() == Reason.NO_SUCH_FILE;
        }
    }
}
