package dozo.source.tree;

import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.source.tree.Observed.Reason;
import dozo.source.tree.Observed.Said;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The names in a BIDS subject's or session's folder, and checks that they belong together: everything named in a
 * {@code scans.tsv} exists, and every image or recording has its sidecars, in its folder or in one above it (the
 * inheritance principle of BIDS).
 */
final class BidsNames {

    private static final int NAMES_MAX = 200_000;
    private static final int SCANS_BYTES_MAX = 4 << 20;

    private static final Set<String> IMAGES =
            Set.of(".nii", ".nii.gz", ".fif", ".ds", ".sqd", ".con", ".edf", ".bdf", ".vhdr", ".set", ".snirf");

    /** The standard requires a sidecar for these. All other images need one only if any of them has one here. */
    private static final Set<String> WITH_SIDECAR =
            Set.of("bold", "dwi", "asl", "pet", "meg", "eeg", "ieeg", "nirs", "epi", "phasediff");

    private static final Set<String> CALIBRATION = Set.of("crosstalk", "calibration");

    private final Set<FilePath> names = new TreeSet<>();
    private boolean tooMany;

    private record Name(Map<String, String> entities, String suffix, String extension) {

        static Name of(String name) {
            String[] parts = name.split("_", -1);
            String last = parts[parts.length - 1];
            int dot = last.indexOf('.');
            Map<String, String> entities = new HashMap<>();
            for (int i = 0; i < parts.length - 1; i++) {
                int dash = parts[i].indexOf('-');
                entities.put(dash < 0 ? parts[i] : parts[i].substring(0, dash), parts[i].substring(dash + 1));
            }
            return new Name(entities, dot < 0 ? last : last.substring(0, dot), dot < 0 ? "" : last.substring(dot));
        }

        boolean isFor(Name image, String wanted) {
            return extension.equals(wanted)
                    && suffix.equals(image.suffix)
                    && image.entities.entrySet().containsAll(entities.entrySet());
        }
    }

    /** A file that describes others, in its folder and below it. */
    private record Sidecar(FilePath folder, Name name) {}

    /** The sidecars in a folder and in those above it. */
    private record Sidecars(List<Sidecar> sidecars, boolean byCustom) {

        boolean isThere(FilePath image, Name name, String extension) {
            return sidecars.stream()
                    .anyMatch(each ->
                            each.name().isFor(name, extension) && image.parent().startsWith(each.folder()));
        }
    }

    void add(FilePath path, EntryKind kind) {
        if (names.size() >= NAMES_MAX) {
            tooMany = true;
            return;
        }
        boolean inRecording =
                kind != EntryKind.DIRECTORY && path.parent().toString().contains(".ds");
        if (!inRecording) {
            names.add(path);
        }
    }

    Said said(Contents contents) throws IOException {
        if (tooMany) {
            return new Said.Silent();
        }
        List<FilePath> images =
                names.stream().filter(path -> isImage(name(path))).toList();
        if (images.isEmpty()) {
            return new Said.Silent();
        }
        List<Reason> missing = new ArrayList<>();
        Sidecars wanted = wanted(images, contents);
        images.forEach(image -> besides(image, wanted, missing));
        Set<FilePath> named = scans(contents, missing);
        if (!missing.isEmpty()) {
            return new Said.Lacking(missing.subList(0, Math.min(missing.size(), Sighting.NAMED_MAX)));
        }
        return named.containsAll(images) ? new Said.Done(false) : new Said.Silent();
    }

    private Sidecars wanted(List<FilePath> images, Contents contents) throws IOException {
        List<Sidecar> sidecars = new ArrayList<>();
        for (FilePath path : names) {
            String name = name(path);
            if (name.endsWith(".json") || name.endsWith(".bval") || name.endsWith(".bvec")) {
                sidecars.add(new Sidecar(path.parent(), Name.of(name)));
            }
        }
        for (String above : contents.above()) {
            sidecars.add(new Sidecar(FilePath.ROOT, Name.of(above)));
        }
        Sidecars wanted = new Sidecars(List.copyOf(sidecars), false);
        boolean byCustom = images.stream()
                .filter(image -> !WITH_SIDECAR.contains(Name.of(name(image)).suffix()))
                .anyMatch(image -> wanted.isThere(image, Name.of(name(image)), ".json"));
        return new Sidecars(wanted.sidecars(), byCustom);
    }

    private static void besides(FilePath image, Sidecars wanted, List<Reason> missing) {
        Name name = Name.of(name(image));
        List<String> extensions = new ArrayList<>();
        if (wanted.byCustom() || WITH_SIDECAR.contains(name.suffix())) {
            extensions.add(".json");
        }
        if (name.suffix().equals("dwi")) {
            extensions.addAll(List.of(".bval", ".bvec"));
        }
        for (String extension : extensions) {
            if (!wanted.isThere(image, name, extension)) {
                missing.add(new Reason("NO_SIDECAR", image.toString(), "no %s file for it".formatted(extension)));
            }
        }
    }

    /** Returns the scans that {@code scans.tsv} files name; adds those that do not exist to {@code missing}. */
    private Set<FilePath> scans(Contents contents, List<Reason> missing) throws IOException {
        Set<FilePath> named = new HashSet<>();
        for (FilePath path : names) {
            if (name(path).endsWith("scans.tsv")) {
                String text = new String(contents.begin(path, SCANS_BYTES_MAX), StandardCharsets.UTF_8);
                // Spreadsheet programs write a byte order mark at the start.
                scans(path, text.startsWith("\uFEFF") ? text.substring(1) : text, named, missing);
            }
        }
        return named;
    }

    private void scans(FilePath list, String text, Set<FilePath> named, List<Reason> missing) {
        List<String> lines = text.lines().toList();
        int column = lines.isEmpty()
                ? -1
                : List.of(lines.getFirst().strip().split("\t", -1)).indexOf("filename");
        if (column < 0) {
            missing.add(new Reason("NOT_THERE", list.toString(), "column \"filename\" is missing"));
            return;
        }
        for (String line : lines.subList(1, lines.size())) {
            String[] cells = line.split("\t", -1);
            if (line.isBlank() || column >= cells.length) {
                continue;
            }
            try {
                FilePath scan = list.parent().resolve(FilePath.of(cells[column].strip()));
                named.add(scan);
                if (!names.contains(scan)) {
                    missing.add(new Reason(
                            "NOT_THERE", scan.toString(), "listed in %s, but does not exist".formatted(list)));
                }
            } catch (IllegalArgumentException e) {
                missing.add(new Reason("NOT_THERE", list.toString(), "contains an invalid file name"));
            }
        }
    }

    private static boolean isImage(String name) {
        Name parsed = Name.of(name);
        // By the standard, a MEG's calibration files are named like recordings, but are not recordings.
        boolean calibrates = parsed.suffix().equals("meg")
                && CALIBRATION.contains(parsed.entities().getOrDefault("acq", ""));
        return name.startsWith("sub-") && IMAGES.contains(parsed.extension()) && !calibrates;
    }

    private static String name(FilePath path) {
        return new String(path.name(), StandardCharsets.UTF_8);
    }
}
