package dozo.source.tree;

import dozo.file.FilePath;
import dozo.source.tree.FolderPattern.Captured;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Searches for the folders that patterns claim. It lists folders only down to the depth of the deepest pattern, and
 * only those that a pattern leads into; the content of experiments is not listed. No link is followed, not even one
 * created during the search.
 */
public final class FolderSearch {

    /** The most names that are looked at. A tree with more names above its experiments has unsuitable patterns. */
    public static final int NAMES_MAX = 1_000_000;

    private static final int UNMATCHED_NAMED_MAX = 3;
    private static final Pattern INODE = Pattern.compile("ino=([0-9]+)");

    private final Path root;
    private final List<FolderPattern> patterns;
    private final int namesMax;

    private final Map<FilePath, FoundFolder> found = new TreeMap<>();
    private final List<Trouble> troubles = new ArrayList<>();
    private final Set<FilePath> disputed = new HashSet<>();
    private final Map<Object, FilePath> byKey = new HashMap<>();
    private final Set<FolderPattern> claiming = new HashSet<>();
    private final List<FilePath> unlisted = new ArrayList<>();
    private final List<FilePath> unmatched = new ArrayList<>();
    private long unmatchedCount;
    private boolean tellsBirth;
    private int names;

    /** A problem with a folder. */
    public enum Reason {
        /** It cannot be listed; its content is unknown. */
        UNREADABLE(true),
        /** A link with an existing target and a name that a pattern claims; not followed. */
        LINK(false),
        /** A link whose target does not exist. */
        DANGLING(true),
        /** Two patterns claim it. */
        CLAIMED_TWICE(true),
        /** It is inside a folder that is claimed too. */
        NESTED(true),
        /** The same folder was found under another path: a mount. */
        SAME_FOLDER(true),
        /** The pattern claims no folder. */
        NOTHING_MATCHES(false),
        /** Folders beside claimed ones that no pattern claims; nothing in them is collected. */
        UNCLAIMED(false);

        private final boolean missing;

        Reason(boolean missing) {
            this.missing = missing;
        }

        /** Returns whether, as far as can be known, something is not collected that should be. */
        public boolean isMissing() {
            return missing;
        }
    }

    public record Trouble(Reason reason, FilePath path, String message) {}

    /**
     * The result of a search.
     *
     * @param folders those that exactly one pattern claims, by path
     * @param disputed claimed folders that must not be registered automatically: claimed twice, or inside or around
     * another claimed folder
     * @param unlisted folders whose content is unknown
     */
    public record Found(
            List<FoundFolder> folders, Set<FilePath> disputed, List<FilePath> unlisted, List<Trouble> troubles) {

        /** Returns whether it is unknown what has this path; such a path does not count as gone. */
        public boolean isUnknown(FilePath path) {
            return disputed.contains(path) || unlisted.stream().anyMatch(path::startsWith);
        }
    }

    private record Claim(FolderPattern pattern, Captured captured) {}

    private FolderSearch(Path root, List<FolderPattern> patterns, int namesMax) {
        this.root = root;
        this.patterns = patterns;
        this.namesMax = namesMax;
    }

    /**
     * Finds the folders that the patterns claim below a root.
     *
     * @param root contains no links
     * @throws IOException if the root cannot be listed, or too many names are above the experiments
     */
    public static Found look(Path root, List<FolderPattern> patterns) throws IOException, InterruptedException {
        return look(root, patterns, NAMES_MAX);
    }

    static Found look(Path root, List<FolderPattern> patterns, int namesMax) throws IOException, InterruptedException {
        return new FolderSearch(root, patterns, namesMax).look();
    }

    private Found look() throws IOException, InterruptedException {
        try (DirectoryStream<Path> folder = Files.newDirectoryStream(root)) {
            List<Claim> all = patterns.stream()
                    .map(pattern -> new Claim(pattern, Captured.NOTHING))
                    .toList();
            if (!(folder instanceof SecureDirectoryStream<Path> secure)) {
                throw new IOException("this file system cannot be searched without following links");
            }
            askBirth(secure.getFileAttributeView(BasicFileAttributeView.class).readAttributes());
            list(secure, FilePath.ROOT, 0, all, null);
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        disputed.forEach(found::remove);
        tellUnclaimed();
        List<FoundFolder> folders =
                found.values().stream().map(this::withBirthWhereTold).toList();
        return new Found(folders, Set.copyOf(disputed), List.copyOf(unlisted), List.copyOf(troubles));
    }

    private void list(
            SecureDirectoryStream<Path> folder,
            FilePath path,
            int depth,
            List<Claim> claims,
            @Nullable FoundFolder above)
            throws IOException, InterruptedException {
        for (Path child : folder) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (++names > namesMax) {
                throw new IOException(
                        "more than %,d names above the experiments; use narrower patterns".formatted(namesMax));
            }
            look(folder, path, child.getFileName(), depth, claims, above);
        }
    }

    private void look(
            SecureDirectoryStream<Path> folder,
            FilePath path,
            Path name,
            int depth,
            List<Claim> claims,
            @Nullable FoundFolder above)
            throws IOException, InterruptedException {
        byte[] bytes = FilePath.rawText(name);
        FilePath here = path.resolve(bytes);
        List<Claim> matched = new ArrayList<>();
        for (Claim claim : claims) {
            claim.pattern()
                    .match(depth, bytes, claim.captured())
                    .ifPresent(captured -> matched.add(new Claim(claim.pattern(), captured)));
        }
        if (matched.isEmpty() && bytes[0] == '.') {
            return;
        }
        BasicFileAttributes facts;
        try {
            facts = folder.getFileAttributeView(name, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .readAttributes();
        } catch (NoSuchFileException goneMeanwhile) {
            return;
        } catch (IOException e) {
            unlisted(here, e);
            return;
        }
        if (facts.isDirectory()) {
            askBirth(facts);
            claimed(folder, name, here, depth, matched, facts, above);
        } else if (facts.isSymbolicLink() && !matched.isEmpty()) {
            link(here);
        }
    }

    private void claimed(
            SecureDirectoryStream<Path> folder,
            Path name,
            FilePath here,
            int depth,
            List<Claim> matched,
            BasicFileAttributes facts,
            @Nullable FoundFolder above)
            throws IOException, InterruptedException {
        if (matched.isEmpty()) {
            unmatchedCount++;
            if (unmatched.size() < UNMATCHED_NAMED_MAX) {
                unmatched.add(here);
            }
            return;
        }
        List<Claim> ends = new ArrayList<>();
        List<Claim> on = new ArrayList<>();
        matched.forEach(claim -> (claim.pattern().depth() == depth + 1 ? ends : on).add(claim));
        FoundFolder one = ends.isEmpty() ? null : found(here, ends, facts, above);
        if (on.isEmpty()) {
            return;
        }
        try (SecureDirectoryStream<Path> next = folder.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS)) {
            list(next, here, depth + 1, on, one == null ? above : one);
        } catch (NoSuchFileException goneMeanwhile) {
            return;
        } catch (DirectoryIteratorException e) {
            unlisted(here, e.getCause());
        } catch (FileSystemException e) {
            unlisted(here, e);
        }
    }

    private FoundFolder found(FilePath here, List<Claim> ends, BasicFileAttributes facts, @Nullable FoundFolder above) {
        Claim first = ends.getFirst();
        FoundFolder one = new FoundFolder(
                here, inode(facts), facts.creationTime().to(TimeUnit.NANOSECONDS), first.pattern(), first.captured());
        found.put(here, one);
        ends.forEach(claim -> claiming.add(claim.pattern()));
        if (ends.size() > 1) {
            dispute(
                    Reason.CLAIMED_TWICE,
                    here,
                    "matches the patterns %s and %s; change one of them"
                            .formatted(first.pattern(), ends.get(1).pattern()));
        }
        if (above != null) {
            disputed.add(above.path());
            dispute(
                    Reason.NESTED,
                    here,
                    "nested in %s, which matches pattern %s; this folder matches %s. A file can belong to one experiment only"
                            .formatted(above.path(), above.pattern(), first.pattern()));
        }
        FilePath before = byKey.putIfAbsent(facts.fileKey(), here);
        if (before != null) {
            disputed.add(before);
            dispute(Reason.SAME_FOLDER, here, "same folder as %s; check whether it is mounted twice".formatted(before));
        }
        return one;
    }

    private void dispute(Reason reason, FilePath path, String message) {
        disputed.add(path);
        troubles.add(new Trouble(reason, path, message));
    }

    private void link(FilePath here) {
        boolean leads = Files.exists(here.under(root));
        troubles.add(
                leads
                        ? new Trouble(Reason.LINK, here, "symbolic link, not followed; use the folder's real path")
                        : new Trouble(Reason.DANGLING, here, "dangling symbolic link"));
    }

    private void unlisted(FilePath here, @Nullable IOException e) {
        unlisted.add(here);
        troubles.add(new Trouble(
                Reason.UNREADABLE,
                here,
                "cannot be listed (%s); give the service's user read permission"
                        .formatted(e == null ? "?" : e.getClass().getSimpleName())));
    }

    private void tellUnclaimed() {
        for (FolderPattern pattern : patterns) {
            if (!claiming.contains(pattern)) {
                troubles.add(new Trouble(
                        Reason.NOTHING_MATCHES, FilePath.ROOT, "no folder matches the pattern %s".formatted(pattern)));
            }
        }
        if (unmatchedCount > 0) {
            troubles.add(new Trouble(
                    Reason.UNCLAIMED,
                    unmatched.stream().min(Comparator.naturalOrder()).orElseThrow(),
                    "not matched by any pattern (%,d such folders in all); not collected".formatted(unmatchedCount)));
        }
    }

    /**
     * Returns the inode number, parsed from the text of the file key: Java offers no other way for an entry of an open
     * folder.
     */
    private static long inode(BasicFileAttributes facts) {
        Matcher matcher = INODE.matcher(String.valueOf(facts.fileKey()));
        if (!matcher.find()) {
            throw new IllegalStateException("a folder without a number: " + facts.fileKey());
        }
        return Long.parseLong(matcher.group(1));
    }

    /**
     * NB: if the file system does not record birth times, Java returns the modification time instead. If the two differ
     * for any folder, the file system does record them; file systems mounted below the root are assumed to be alike.
     */
    private void askBirth(BasicFileAttributes facts) {
        tellsBirth |= !facts.creationTime().equals(facts.lastModifiedTime())
                && facts.creationTime().to(TimeUnit.NANOSECONDS) > 0;
    }

    private FoundFolder withBirthWhereTold(FoundFolder folder) {
        return tellsBirth
                ? folder
                : new FoundFolder(folder.path(), folder.inode(), null, folder.pattern(), folder.captured());
    }
}
