package dozo.restore;

import static java.util.Objects.requireNonNull;

import dozo.registry.Experiments.Experiment;
import dozo.registry.FileQuestion;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.SourceKind;
import dozo.source.OpenFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.springframework.stereotype.Component;

/**
 * Decides whether an experiment may be restored in place, and where what differs is put aside: below a restore folder of its project,
 * so an administrator has allowed it (ADR 0049).
 */
@Component
record HomePlaces(Projects projects) {

    private static final FileQuestion<Standing> STANDING = new FileQuestion<>(folder -> {
        Path real = folder.toRealPath();
        try (OpenFolder open = OpenFolder.open(real)) {
            return new Standing(real, open.mount(), Files.isWritable(open.path()));
        }
    });

    /** A folder as it is now; {@code real} is without links. */
    private record Standing(Path real, String mount, boolean writable) {}

    /**
     * Where an experiment is restored in place.
     *
     * @param source without links; it need not exist, but its parent does
     * @param aside a new folder in the same mount, for what is put aside
     */
    record HomePlace(Path source, Path aside) {}

    /**
     * Returns where an experiment may now be restored in place.
     *
     * @throws Refusal if its source is unknown, has no folder above it, or may not be written by the service, or if the project has no
     *     restore folder in the same mount
     */
    HomePlace of(Experiment experiment) {
        if (experiment.kind() == SourceKind.NONE) {
            throw new Refusal("inPlace", "the source of %s is unknown: restore into a folder", experiment.name());
        }
        Path source = experiment.source();
        Path above = requireNonNull(source.getParent());
        List<Path> roots = projects.find(experiment.project()).orElseThrow().restoreRoots();
        List<Path> asked = new ArrayList<>(roots);
        asked.add(source);
        asked.add(above);
        Map<Path, Optional<Standing>> answers = STANDING.aboutEach("inPlace", asked, FileQuestion.PERSON);
        // NB: a source that does not answer is not one that is lost.
        boolean isLost = answers.containsKey(source) && Files.notExists(source, LinkOption.NOFOLLOW_LINKS);
        Standing filled = answers.getOrDefault(isLost ? above : source, Optional.empty())
                .orElseThrow(() -> new Refusal(
                        "inPlace",
                        "the source %s and the folder above it do not answer or do not exist: mount or create the folder above it, or restore into a folder",
                        TargetFolder.shown(source)));
        if (!filled.writable) {
            throw new Refusal(
                    "inPlace",
                    "the service may not write into %s: let its user write there until the restore has ended, or restore into a folder and copy the files from there",
                    TargetFolder.shown(filled.real));
        }
        return roots.stream()
                .flatMap(root -> answers.getOrDefault(root, Optional.empty()).stream())
                .filter(root -> root.mount.equals(filled.mount))
                .findFirst()
                .map(root -> root.real.resolve("%s-aside-%s".formatted(experiment.code(), UUID.randomUUID())))
                .map(aside ->
                        new HomePlace(isLost ? lost(experiment, filled.real) : found(experiment, filled.real), aside))
                .orElseThrow(() -> new Refusal(
                        "inPlace",
                        "project %s has no restore folder on the same file system and mount as the source, where what differs is put aside: ask an administrator for one, or restore into a folder",
                        experiment.project()));
    }

    /** Returns the folder of an experiment's source as it is now: without links unless it is bound and therefore must have none. */
    static Path source(Experiment experiment) throws IOException {
        Path source = experiment.source();
        return Files.notExists(source, LinkOption.NOFOLLOW_LINKS)
                ? lost(experiment, requireNonNull(source.getParent()).toRealPath())
                : found(experiment, source.toRealPath());
    }

    private static Path found(Experiment experiment, Path real) {
        return experiment.bound() ? experiment.source() : real;
    }

    private static Path lost(Experiment experiment, Path realParent) {
        Path source = experiment.source();
        return experiment.bound() ? source : realParent.resolve(requireNonNull(source.getFileName()));
    }
}
