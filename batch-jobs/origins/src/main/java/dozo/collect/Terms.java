package dozo.collect;

import static dozo.registry.GivenPaths.shown;

import dozo.file.FilePath;
import dozo.file.Malformed;
import dozo.registry.Code;
import dozo.registry.FileQuestion;
import dozo.registry.GivenPaths;
import dozo.registry.Refusal;
import dozo.source.tree.FolderPattern;
import dozo.source.tree.Rules;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The settings of an origin.
 *
 * @param address with scheme and host; the kind defines the rest. For a tree, its root as {@code file:}
 * @param secretFile the file on the service's machine that contains its key or password; null if it requires none
 * @param storageHosts hosts to which it may redirect downloads, over TLS
 * @param spool the folder on the service's machine into which items are delivered, without links; for a tree its
 * root, into which nothing is written
 * @param project the code of the project of all items that {@code projects} does not map; null if unknown
 * @param projects codes of projects by the ids of the origin's own projects
 * @param automatic whether items with a known project become experiments without confirmation
 * @param active whether nights look at it
 * @param tree the settings of a tree; null for other kinds
 */
public record Terms(
        OriginKind kind,
        URI address,
        @Nullable Path secretFile,
        List<String> storageHosts,
        Path spool,
        @Nullable String project,
        Map<String, String> projects,
        boolean automatic,
        boolean active,
        @Nullable Tree tree) {

    private static final int SPOOL_LENGTH_BYTES_MAX = 3_072;
    private static final int THEIRS_LENGTH_MAX = 128;
    private static final int PROJECTS_MAX = 10_000;
    private static final int HOSTS_MAX = 20;

    private static final FileQuestion<Path> FOLDER = new FileQuestion<>(path -> {
        Path real = path.toRealPath();
        if (!Files.isDirectory(real)) {
            throw new NotDirectoryException(null);
        }
        return real;
    });

    /**
     * The settings of a tree of folders.
     *
     * @param patterns for the folders below its root that are experiments; 1 to {@value #PATTERNS_MAX}
     * @param ready the rules for when an experiment is complete
     */
    public record Tree(List<FolderPattern> patterns, Rules ready) {

        static final int PATTERNS_MAX = 20;

        public Tree {
            patterns = List.copyOf(patterns);
        }

        /**
         * Parses the settings of a tree.
         *
         * @throws Refusal if one of the texts is malformed
         */
        public static Tree of(List<String> patterns, List<String> ready) {
            if (patterns.isEmpty()
                    || patterns.size() > PATTERNS_MAX
                    || Set.copyOf(patterns).size() < patterns.size()) {
                throw new Refusal(
                        "patterns",
                        "expected 1 to %d different patterns, such as {project}/{date}_{label}",
                        PATTERNS_MAX);
            }
            List<FolderPattern> folders = refused(
                    "patterns", () -> patterns.stream().map(FolderPattern::of).toList());
            return new Tree(folders, refused("ready", () -> Rules.of(ready)));
        }

        /** Returns the patterns as they were written. */
        public List<String> patternTexts() {
            return patterns.stream().map(FolderPattern::toString).toList();
        }

        /** Returns the rules as they can be written. */
        public List<String> readyTexts() {
            return ready.texts();
        }

        private static <T> T refused(String field, Supplier<T> said) {
            try {
                return said.get();
            } catch (Malformed e) {
                throw new Refusal(field, e.message());
            }
        }
    }

    public Terms {
        storageHosts = List.copyOf(storageHosts);
        projects = Map.copyOf(projects);
    }

    /** Creates the terms of an origin that is not a tree. */
    public Terms(
            OriginKind kind,
            URI address,
            @Nullable Path secretFile,
            List<String> storageHosts,
            Path spool,
            @Nullable String project,
            Map<String, String> projects,
            boolean automatic,
            boolean active) {
        this(kind, address, secretFile, storageHosts, spool, project, projects, automatic, active, null);
    }

    /** Creates the terms of a tree of folders below this root. */
    public static Terms ofTree(
            Path root,
            Tree tree,
            @Nullable String project,
            Map<String, String> projects,
            boolean automatic,
            boolean active) {
        return new Terms(
                OriginKind.TREE, address(root), null, List.of(), root, project, projects, automatic, active, tree);
    }

    private static URI address(Path root) {
        return URI.create("file://" + root.toAbsolutePath().toUri().getRawPath());
    }

    /** Returns the same terms with the spool, or a tree's root, in another place. */
    Terms at(Path folder) {
        URI there = tree == null ? address : address(folder);
        return new Terms(kind, there, secretFile, storageHosts, folder, project, projects, automatic, active, tree);
    }

    /** Returns its spool, or a tree's root, as text for people. */
    public String folder() {
        return shown(spool);
    }

    /** Returns the name of the field with its spool, or with a tree's root. */
    String folderField() {
        return tree == null ? "spool" : "root";
    }

    /** Returns all settings as text for the ledger. */
    String text() {
        String data = tree == null
                ? "%s %s, secret in %s, storage at %s, spool %s"
                        .formatted(
                                kind.word(),
                                address,
                                secretFile == null ? "no file" : shown(secretFile),
                                storageHosts,
                                folder())
                : "tree %s, patterns %s, ready by %s".formatted(folder(), tree.patterns(), tree.readyTexts());
        return "%s, project %s, projects %s, automatic %s, active %s"
                .formatted(data, project == null ? "unknown" : project, new TreeMap<>(projects), automatic, active);
    }

    /**
     * Returns these terms with the spool's path without links.
     *
     * @throws Refusal if a value is malformed, or there is no such folder
     */
    Terms checked() {
        if ((kind == OriginKind.TREE) != (tree != null)) {
            throw new Refusal(
                    "patterns",
                    "expected patterns, such as {project}/{date}_{label}, for origins of kind tree, and for no other kind");
        }
        Path real = checkedFolder(folderField(), spool);
        Path secret = secretFile == null ? null : GivenPaths.checked("secretFile", secretFile);
        if (projects.size() > PROJECTS_MAX) {
            throw new Refusal("projects", "expected at most %d", PROJECTS_MAX);
        }
        if (storageHosts.size() > HOSTS_MAX) {
            throw new Refusal("storageHosts", "expected at most %d", HOSTS_MAX);
        }
        for (String host : storageHosts) {
            if (!host.matches("[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")) {
                throw new Refusal("storageHosts", "expected host names such as store.example.org");
            }
        }
        projects.forEach(Terms::checkTheirs);
        return new Terms(kind, address, secret, storageHosts, real, project, projects, automatic, active, tree)
                .at(real);
    }

    private static void checkTheirs(String theirs, String ours) {
        if (theirs.isEmpty() || theirs.length() > THEIRS_LENGTH_MAX || !Code.isText(theirs)) {
            throw new Refusal(
                    "projects",
                    "for %s: expected the id of a project at the origin, 1 to %d characters",
                    ours,
                    THEIRS_LENGTH_MAX);
        }
    }

    private static Path checkedFolder(String field, Path spool) {
        Path plain = GivenPaths.checked(field, spool);
        try {
            Path real = FOLDER.about(field, plain, FileQuestion.PERSON);
            if (FilePath.rawBytes(real).length > SPOOL_LENGTH_BYTES_MAX) {
                throw new Refusal(field, "expected a path of at most %d bytes", SPOOL_LENGTH_BYTES_MAX);
            }
            return real;
        } catch (NotDirectoryException e) {
            throw new Refusal(field, "%s is not a folder", shown(plain));
        } catch (IOException e) {
            throw new Refusal(field, "there is no folder %s on the service's machine", shown(plain));
        }
    }
}
