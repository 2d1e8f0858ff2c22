package dozo.demo;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A few generated experiments as a brain-imaging centre has them: about 350 MB, always the same bytes, names and
 * modification times. No person was scanned for them.
 */
public final class SyntheticExperiments {

    /** The folder of the experiment that is being generated. */
    static final String UNFINISHED = ".unfinished";

    private static final List<Experiment> ALL = List.of(
            new Experiment(FilePath.of("2026-04-17_MR3T_S0123"), "2026-04-17T00:30:00Z", MriVisit::write),
            new Experiment(FilePath.of("2026-04-18_MEG_S0124"), "2026-04-18T04:00:00Z", MegRecording::write),
            new Experiment(FilePath.of("bids_visual-grating"), "2026-04-20T02:15:00Z", BidsTree::write),
            // 能 ends in 0x5C, the backslash, in Shift-JIS: careless code breaks on this byte.
            new Experiment(
                    FilePath.of("2026-04-19_脳機能".getBytes(Charset.forName("windows-31j"))),
                    "2026-04-19T05:45:00Z",
                    AwkwardNames::write));

    private SyntheticExperiments() {}

    /**
     * Generates the missing experiments, each as a folder in {@code folder}, and returns the paths of all. Existing
     * experiments stay as they are. What a killed call left is generated again: an experiment gets its name only when
     * complete.
     */
    public static List<Path> make(Path folder) throws IOException {
        Files.createDirectories(folder);
        if (Files.exists(folder.resolve(UNFINISHED), LinkOption.NOFOLLOW_LINKS)) {
            remove(folder.resolve(UNFINISHED));
        }
        List<Path> paths = new ArrayList<>();
        for (Experiment experiment : ALL) {
            paths.add(experiment.make(folder));
        }
        return List.copyOf(paths);
    }

    private interface Content {
        void write(NewTree tree) throws IOException;
    }

    private record Experiment(FilePath name, String start, Content content) {

        Path make(Path folder) throws IOException {
            Path path = name.under(folder);
            if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
                return path;
            }
            Path unfinished = folder.resolve(UNFINISHED);
            NewTree tree = new NewTree(unfinished, Instant.parse(start));
            content.write(tree);
            tree.setTimes();
            return Files.move(unfinished, path, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private static void remove(Path tree) throws IOException {
        try (Stream<Path> all = Files.walk(tree)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
