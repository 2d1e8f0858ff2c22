package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A night does only what the changes since the last one need, with the same result as if it had done everything. */
class ChangedNightIT extends NightAtSite {

    private static final FileTime LONG_AGO = FileTime.from(Instant.parse("2001-02-03T04:05:06Z"));

    @Test
    void onlyFoldersInWhichSomethingWasPutAreGivenTheirTimesAgain() throws Exception {
        safe(Map.of("touched/deep/a", "1", "touched/b", "2", "left alone/c", "3", "renewed/d", "4"));
        for (String name : List.of("touched", "touched/deep", "left alone", "renewed")) {
            Files.setLastModifiedTime(bag.resolve("data").resolve(name), LONG_AGO);
        }
        Night.write(source, Map.of("touched/deep/a", "other content"));
        Files.setPosixFilePermissions(source.resolve("renewed"), PosixFilePermissions.fromString("rwx------"));

        night.complete();

        assertThat(time(bag, "data/touched/deep")).isEqualTo(time(source, "touched/deep"));
        assertThat(time(bag, "data/renewed")).isEqualTo(time(source, "renewed"));
        assertThat(Files.getPosixFilePermissions(bag.resolve("data/renewed")))
                .isEqualTo(PosixFilePermissions.fromString("rwx------"));
        assertThat(Files.getLastModifiedTime(bag.resolve("data/left alone"))).isEqualTo(LONG_AGO);
        assertThat(Files.getLastModifiedTime(bag.resolve("data/touched"))).isEqualTo(LONG_AGO);
    }

    private static long time(Path folder, String name) throws Exception {
        return Files.getLastModifiedTime(folder.resolve(name)).toInstant().getEpochSecond();
    }

    /**
     * Files, folders and links appear, change, vanish and take each other's names; after each night the bag is valid
     * and complete.
     */
    @Test
    void theListMadeOfTheLastOneIsTheListOfAllThatStands() throws Exception {
        Random random = new Random(19);
        Map<String, String> many = new HashMap<>();
        for (int i = 0; i < 300; i++) {
            many.put("series-%d/image %d".formatted(i % 7, i), "content of " + i);
        }
        Night.write(source, many);
        night.register("E1", source);
        night.complete();
        for (int round = 0; round < 5; round++) {
            Night.write(source, Map.of("series-%d/image %d".formatted(round, round), "changed in " + round));
            Files.delete(source.resolve("series-%d/image %d".formatted(round, round + 70 + 7 * random.nextInt(20))));
            switch (round) {
                case 1 -> Files.createSymbolicLink(source.resolve("link"), Path.of("series-2/image 9"));
                case 2 -> {
                    Files.delete(source.resolve("link"));
                    Night.write(source, Map.of("link/now a folder", "x", "line\nend", "a second list"));
                }
                case 3 -> {
                    Files.delete(source.resolve("link/now a folder"));
                    Files.delete(source.resolve("link"));
                    Night.write(source, Map.of("link", "now a file"));
                }
                default -> Night.write(source, Map.of("new in " + round, "x"));
            }

            night.complete();

            Bagit.assertValid(bag);
            NightlyBackupIT.assertChecks(bag);
        }
    }

    @Test
    void aListThatSomebodyChangedAtTheSiteIsWrittenWhole() throws Exception {
        safe(Map.of("a", "1", "b", "2", "c", "3"));
        Files.writeString(
                bag.resolve("manifest-sha256.txt"),
                Files.readString(bag.resolve("manifest-sha256.txt")).replace('a', 'b'));
        complete(Map.of("c", "other content"));

        Bagit.assertValid(bag);
    }

    /** Unproven entries are found among those that are new since everything was proven, and among the damaged ones. */
    @Test
    void aNightSendsWhatCameSinceAllWasSafeAndWhatWasFoundDamaged() throws Exception {
        safe(Map.of("a", "1", "sub/b", "2", "sub/c", "3"));
        Files.writeString(bag.resolve("data/sub/b"), "!");
        night.scrub();
        Night.write(source, Map.of("new", "4"));

        night.run();

        assertThat(night.coverage().safe()).isTrue();
        assertThat(night.count("select count(*) from transfer_unit u cross join unnest(u.entry_nos)"))
                .as("four at first, then the new one and the damaged one")
                .isEqualTo(6);
        NightlyBackupIT.assertChecks(bag);
    }
}
