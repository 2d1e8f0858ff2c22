package dozo.copy;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.text.Normalizer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds names that this disk does not distinguish: they differ in case, in Unicode normal form, or in a full stop at the end.
 * A folder is listed only if a variant of a name leads to the same file.
 */
final class FoldedNames {

    private static final String STOP = ".";

    /** The names of a folder that are kept; in a larger one each question lists it again. */
    private static final int NAMES_MAX = 100_000;

    private static final int LOCKS = 64;

    private final Path top;
    private final Object[] locks = new Object[LOCKS];
    private volatile Listed last = new Listed(FilePath.ROOT, Set.of());

    /** The names in a folder, as they were when it was listed last. */
    private record Listed(FilePath folder, Set<FilePath> names) {}

    FoldedNames(Path top) {
        this.top = top;
        Arrays.setAll(locks, _ -> new Object());
    }

    /** Returns the other name under which this disk lists what is found by a name; empty: it has this name, or nothing is found. */
    Optional<FilePath> other(FilePath name) throws IOException {
        Object file = name.isRoot() ? null : file(name);
        if (file == null || variants(name).stream().noneMatch(variant -> file.equals(file(variant)))) {
            return Optional.empty();
        }
        // A hard link may have the other name, so the folder's list decides.
        Listed known = last;
        return known.folder.equals(name.parent()) && known.names.contains(name) ? Optional.empty() : listed(name, file);
    }

    private Optional<FilePath> listed(FilePath name, Object file) throws IOException {
        Set<FilePath> names = new HashSet<>();
        FilePath other = null;
        boolean found = false;
        try (DirectoryStream<Path> all = Files.newDirectoryStream(name.parent().under(top))) {
            for (Path path : all) {
                FilePath each = FilePath.between(top, path);
                found |= each.equals(name);
                if (names.size() < NAMES_MAX) {
                    names.add(each);
                }
                if (other == null && file.equals(file(each))) {
                    other = each;
                }
            }
        }
        last = new Listed(name.parent(), names);
        return found ? Optional.empty() : Optional.ofNullable(other);
    }

    /** Returns the lock for a name, which is also that of its variants: of two that are given at once, one is first. */
    Object lock(FilePath name) {
        return locks[Math.floorMod(folded(text(name)).hashCode(), LOCKS)];
    }

    private static Set<FilePath> variants(FilePath name) {
        String text = text(name);
        Set<String> texts = new LinkedHashSet<>();
        texts.add(text.toUpperCase(Locale.ROOT));
        texts.add(text.toLowerCase(Locale.ROOT));
        texts.add(Normalizer.normalize(text, Normalizer.Form.NFC));
        texts.add(Normalizer.normalize(text, Normalizer.Form.NFD));
        texts.add(text.endsWith(STOP) ? text.substring(0, text.length() - 1) : text + STOP);
        texts.remove(text);
        Set<FilePath> variants = new LinkedHashSet<>();
        texts.stream()
                .filter(each -> !each.isEmpty() && !each.equals(STOP) && !each.equals(STOP + STOP))
                .forEach(each -> variants.add(name.parent().resolve(each.getBytes(charset(name)))));
        return variants;
    }

    private static String folded(String text) {
        String folded = Normalizer.normalize(text, Normalizer.Form.NFC)
                .toUpperCase(Locale.ROOT)
                .toLowerCase(Locale.ROOT);
        return folded.endsWith(STOP) ? folded.substring(0, folded.length() - 1) : folded;
    }

    /** Returns the last part of a name; of one that is no UTF-8, each byte as a character. */
    private static String text(FilePath name) {
        return new String(name.name(), charset(name));
    }

    private static Charset charset(FilePath name) {
        return FilePath.of(name.name()).isUtf8() ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1;
    }

    /** Returns what identifies a file; null: there is none, or it cannot be looked at. */
    private @Nullable Object file(FilePath name) {
        try {
            return Files.readAttributes(name.under(top), BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                    .fileKey();
        } catch (IOException absent) {
            return null;
        }
    }
}
