package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Trees;
import dozo.db.TestDatabase;
import dozo.file.Digest;
import dozo.file.Problem;
import dozo.file.Selection;
import dozo.ledger.Findings.KeptFinding;
import dozo.loopback.LoopbackSite;
import dozo.manifest.Manifests;
import dozo.registry.RestorePlaces;
import dozo.registry.Sites;
import dozo.restore.KeptRestore;
import dozo.restore.RestoreQueue;
import dozo.restore.Restores;
import dozo.run.Runs.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A file is at three places: at home, at a site, and at a second site. At each it is as it was sent, differs, or is missing: 27 files of
 * one experiment. Each wrong one is found where it is wrong, and cured from a place that is right: a site from the other site, home from
 * a site, both sites from home. If no place is right, what is at each of them stays.
 */
class ThreePlacesIT {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    @TempDir
    static Path temporary;

    private static final Map<Place, Path> DATA = new HashMap<>();

    /** What each place has of each file once some are damaged. */
    private static final Map<Place, Map<String, Digest>> BEFORE = new HashMap<>();

    private static final Map<Place, Map<String, KeptFinding>> FOUND = new HashMap<>();

    private static final Map<String, Object> INODES = new HashMap<>();

    /** What the last home scrub and the last nights to both sites have found. */
    private static final Map<Place, Map<String, KeptFinding>> LEFT = new HashMap<>();

    private static final Set<Digest> KEPT = new HashSet<>();

    private enum Place {
        HOME,
        SITE,
        SECOND
    }

    private enum Answer {
        EQUAL,
        DIFFERS,
        MISSING
    }

    /** What a file is at each place. */
    record File(Answer home, Answer site, Answer second) {

        Answer at(Place place) {
            return switch (place) {
                case HOME -> home;
                case SITE -> site;
                case SECOND -> second;
            };
        }

        String name() {
            return "%s-%s-%s".formatted(home, site, second);
        }

        String sealed() {
            return "content of " + name();
        }

        boolean isRightAt(Place place) {
            return at(place) == Answer.EQUAL;
        }

        boolean isRightAnywhere() {
            return Stream.of(Place.values()).anyMatch(this::isRightAt);
        }
    }

    static List<File> files() {
        return Stream.of(Answer.values())
                .flatMap(home -> Stream.of(Answer.values())
                        .flatMap(site -> Stream.of(Answer.values()).map(second -> new File(home, site, second))))
                .toList();
    }

    private static Night night;
    private static LoopbackSite site;
    private static LoopbackSite second;

    @BeforeAll
    static void damageFindAndCure() throws Exception {
        Path folder = temporary.toRealPath();
        Path source = Files.createDirectory(folder.resolve("source"));
        Path root = Files.createDirectory(folder.resolve("dr"));
        Path secondRoot = Files.createDirectory(folder.resolve("second"));
        Path allowed = Files.createDirectory(folder.resolve("allowed"));
        site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
        second = LoopbackSite.openSsh(folder.resolve("sshd2"), secondRoot, 0);
        night = new Night(TestDatabase.fresh(), site.address());
        night.get(Sites.class).save("second", second.address(), "test");
        DATA.put(Place.HOME, source);
        DATA.put(Place.SITE, root.resolve("p/E1/data"));
        DATA.put(Place.SECOND, secondRoot.resolve("p/E1/data"));
        for (File file : files()) {
            Files.writeString(source.resolve(file.name()), file.sealed());
        }
        night.register("E1", source);
        night.get(RestorePlaces.class).setRoots("p", List.of(allowed), "admin");
        night.complete();
        night.assertComplete(night.run("second"));

        damage();
        FOUND.put(Place.SITE, byName(scrub(scrubOf("dr"))));
        FOUND.put(Place.SECOND, byName(scrub(scrubOf("second"))));
        FOUND.put(Place.HOME, byName(scrub(scrubOf(null))));

        replicate("dr", "second");
        replicate("second", "dr");
        restoreInPlace();
        LEFT.put(Place.HOME, byName(scrub(scrubOf(null))));
        LEFT.put(Place.SITE, byName(night.run("dr")));
        LEFT.put(Place.SECOND, byName(night.run("second")));
        for (Path each : List.of(source, root, secondRoot, allowed)) {
            keep(each);
        }
    }

    @AfterAll
    static void close() {
        night.close();
        site.close();
        second.close();
    }

    private static void damage() throws IOException {
        for (File file : files()) {
            INODES.put(file.name(), Trees.inode(DATA.get(Place.HOME).resolve(file.name())));
            for (Place place : Place.values()) {
                Path path = DATA.get(place).resolve(file.name());
                switch (file.at(place)) {
                    case EQUAL -> {}
                    case DIFFERS -> Trees.flip(path, place.ordinal());
                    case MISSING -> Files.delete(path);
                }
                if (Files.exists(path)) {
                    BEFORE.computeIfAbsent(place, _ -> new HashMap<>())
                            .put(file.name(), Digest.ofContent(Files.readAllBytes(path)));
                }
            }
        }
    }

    private static ScrubRequest scrubOf(String at) {
        return new ScrubRequest(at == null, at, Duration.ofDays(1), true, 0, null, false);
    }

    private static Run scrub(ScrubRequest request) {
        return ended(night.operations().startScrub(request, "test"));
    }

    private static void replicate(String from, String to) {
        ended(night.operations().replicate(new ReplicationRequest(from, to, null, "p/E1", false), "test"));
    }

    private static Run ended(Run started) {
        Run run = night.await(started);
        night.awaitIdle();
        return run;
    }

    private static void restoreInPlace() {
        Restores restores = night.get(Restores.class);
        long id = night.get(RestoreQueue.class)
                .requestInPlace(
                        night.experiment(),
                        night.get(Manifests.class).find(1, 1).orElseThrow(),
                        Selection.ALL,
                        night.site(),
                        "lab")
                .id();
        KeptRestore ended = Awaitility.await()
                .atMost(LIMIT)
                .until(
                        () -> restores.find(night.experiment(), id).orElseThrow(),
                        kept -> !kept.state().goesOn());
        assertThat(restores.findings(ended.id(), 0, 100))
                .extracting(each -> each.path())
                .containsExactlyInAnyOrderElementsOf(files().stream()
                        .filter(file -> !file.isRightAnywhere())
                        .map(File::name)
                        .toList());
    }

    private static Map<String, KeptFinding> byName(Run run) {
        Map<String, KeptFinding> found = new HashMap<>();
        night.findings(run).stream()
                .filter(finding -> finding.path() != null && finding.open())
                .forEach(finding -> assertThat(found.put(String.valueOf(finding.path()), finding))
                        .as("one finding for each file")
                        .isNull());
        return found;
    }

    private static void keep(Path folder) throws IOException {
        for (Path path : Trees.all(folder)) {
            if (Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
                KEPT.add(Digest.ofContent(Files.readAllBytes(path)));
            }
        }
    }

    private static Problem reason(Map<Place, Map<String, KeptFinding>> of, Place place, File file) {
        KeptFinding finding = of.get(place).get(file.name());
        return finding == null ? null : finding.reason();
    }

    @ParameterizedTest
    @MethodSource("files")
    void eachPlaceHasItsVerdict(File file) {
        assertThat(reason(FOUND, Place.HOME, file))
                .isEqualTo(
                        switch (file.home()) {
                            // What is gone is left to the night.
                            case EQUAL, MISSING -> null;
                            case DIFFERS -> Problem.ROTTEN_AT_HOME;
                        });
        for (Place place : List.of(Place.SITE, Place.SECOND)) {
            assertThat(reason(FOUND, place, file))
                    .isEqualTo(
                            switch (file.at(place)) {
                                case EQUAL -> null;
                                case DIFFERS -> Problem.DAMAGED;
                                case MISSING -> Problem.MISSING;
                            });
        }
        if (file.home() == Answer.DIFFERS) {
            boolean isCurable = file.isRightAt(Place.SITE) || file.isRightAt(Place.SECOND);
            assertThat(FOUND.get(Place.HOME).get(file.name()).message())
                    .contains(isCurable ? "--path FILE --in-place" : "No site is known to have what was sent");
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void whatIsRightAtOnePlaceIsRightAtAllAfterTheCures(File file) throws IOException {
        for (Place place : Place.values()) {
            Path path = DATA.get(place).resolve(file.name());
            if (file.isRightAnywhere()) {
                assertThat(path).as(place.name()).hasContent(file.sealed());
                assertThat(reason(LEFT, place, file)).isNull();
            } else if (place == Place.HOME && file.home() == Answer.DIFFERS) {
                assertThat(Digest.ofContent(Files.readAllBytes(path)))
                        .as("it stays")
                        .isEqualTo(BEFORE.get(place).get(file.name()));
                assertThat(reason(LEFT, place, file)).isEqualTo(Problem.ROTTEN_AT_HOME);
            } else if (place == Place.HOME) {
                assertThat(path).doesNotExist();
            } else if (file.home() == Answer.DIFFERS) {
                assertThat(reason(LEFT, place, file)).isEqualTo(Problem.SOURCE_DIFFERS);
            }
        }
        if (file.home() == Answer.EQUAL) {
            assertThat(Trees.inode(DATA.get(Place.HOME).resolve(file.name())))
                    .as("untouched")
                    .isEqualTo(INODES.get(file.name()));
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void nothingThatWasAnywhereIsLost(File file) {
        for (Place place : Place.values()) {
            Digest before = BEFORE.get(place).get(file.name());
            assertThat(before == null || KEPT.contains(before)).as(place.name()).isTrue();
        }
    }
}
