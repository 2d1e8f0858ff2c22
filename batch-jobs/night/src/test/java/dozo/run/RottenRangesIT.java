package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Trees;
import dozo.file.Problem;
import dozo.ledger.Findings.KeptFinding;
import dozo.run.Runs.Run;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A home scrub says in which bytes a file differs from a copy that is as it was sent; it ends in the same way without that. */
class RottenRangesIT extends NightAtSite {

    private static final int MIB = 1 << 20;
    private static final int PAGE = 4096;
    private static final String RANGES = "It differs from the copy at dr in bytes ";

    /** Returns the messages of what a home scrub finds, by path. */
    private Map<String, String> findings() {
        Run scrub = night.await(night.operations()
                .startScrub(new ScrubRequest(true, null, Duration.ofDays(1), true, 0, null, false), "test"));
        night.awaitIdle();
        assertThat(scrub.state()).isEqualTo(Runs.RunState.FINDINGS);
        assertThat(night.findings(scrub)).extracting(KeptFinding::reason).containsOnly(Problem.ROTTEN_AT_HOME);
        return night.findings(scrub).stream()
                .collect(Collectors.toMap(
                        finding -> String.valueOf(finding.path()), finding -> String.valueOf(finding.message())));
    }

    @Test
    void pagesAreNamedAndThoseAfterTheTenthRangeCounted() throws Exception {
        Path large = source.resolve("large");
        Files.write(large, new byte[3 * MIB + 100]);
        Files.write(source.resolve("end"), new byte[PAGE + 4]);
        Files.write(source.resolve("eleven"), new byte[MIB]);
        safe(Map.of("small", "content"));
        Trees.flip(large, PAGE + 7);
        Trees.flip(large, 2 * PAGE);
        Trees.flip(large, MIB - 1);
        Trees.flip(large, MIB);
        for (int i = 0; i < 11; i++) {
            Trees.flip(large, 2 * MIB + 2 * i * PAGE);
            Trees.flip(source.resolve("eleven"), 2 * i * PAGE);
        }
        Trees.flip(large, 3 * MIB + 99);
        Trees.flip(source.resolve("end"), PAGE + 3);
        Trees.flip(source.resolve("small"), 0);

        Map<String, String> found = findings();

        assertThat(found.get("large"))
                .contains(RANGES + "4,096 to 12,287, 1,044,480 to 1,052,671, 2,097,152 to 2,101,247, ")
                .contains(", 2,154,496 to 2,158,591 and 4 more ranges. Copies: dr (as it was sent");
        assertThat(found.get("eleven")).contains("73,728 to 77,823 and 1 more range. ");
        assertThat(found.get("end")).contains(RANGES + "4,096 to 4,099. ");
        assertThat(found.get("small")).contains(RANGES + "0 to 6. ");
    }

    @Test
    void ofAFileThatDiffersInManyPartsThePartsAreNamed() throws Exception {
        Path file = source.resolve("a");
        int parts = 129;
        Files.write(file, new byte[parts * MIB]);
        safe(Map.of());
        for (int i = 0; i < parts; i++) {
            Trees.flip(file, (long) i * MIB);
        }

        assertThat(findings().get("a")).contains(RANGES + "0 to 135,266,303. ");
    }

    @Test
    void nothingIsSaidOfACopyThatIsNotAsItWasSent() throws Exception {
        safe(Map.of("damaged", "1", "lost", "2", "sound", "3"));
        for (String name : new String[] {"damaged", "lost", "sound"}) {
            Trees.flip(source.resolve(name), 0);
        }
        Files.delete(bag.resolve("data/damaged"));
        Files.writeString(bag.resolve("data/damaged"), "4");
        Files.delete(bag.resolve("data/lost"));

        Map<String, String> found = findings();

        assertThat(found).hasSize(3);
        assertThat(found.get("damaged")).doesNotContain(RANGES);
        assertThat(found.get("lost")).doesNotContain(RANGES);
        assertThat(found.get("sound")).contains(RANGES + "0 to 0. ");
    }

    @Test
    void nothingIsSaidIfTheSiteIsAway() throws Exception {
        Path other = Files.createDirectory(folder.resolve("other"));
        Files.writeString(other.resolve("b"), "2");
        night.register("E2", other);
        safe(Map.of("a", "1"));
        Trees.flip(source.resolve("a"), 0);
        Trees.flip(other.resolve("b"), 0);
        site.close();

        assertThat(findings())
                .containsOnlyKeys("a", "b")
                .allSatisfy((_, message) ->
                        assertThat(message).doesNotContain(RANGES).contains("Copies: dr (as it was sent"));
    }
}
