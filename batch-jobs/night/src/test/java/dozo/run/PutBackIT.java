package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dozo.copy.Trees;
import dozo.db.TestDatabase;
import dozo.file.Problem;
import dozo.ledger.Findings.KeptFinding;
import dozo.manifest.Manifests;
import dozo.rebuild.Rebuild;
import dozo.rebuild.Rebuild.RecordKey;
import dozo.remote.Unreadable;
import dozo.run.Runs.Run;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * An older database is put back: the site has manifests that it does not know. The first run says so and leaves the way back open, and
 * nothing is called damaged whose bytes are at the site.
 */
class PutBackIT extends NightAtSite {

    private Night back;

    /** Nights of the database that is lost made manifests 2 and 3 of E1, and E2. */
    @BeforeEach
    void putBack() throws Exception {
        safe(Map.of("a", "first", "same", "s"));
        night.close();
        HikariDataSource older = TestDatabase.copyOf(database);
        try (Night later = new Night(database, site.address())) {
            Night.write(source, Map.of("a", "the second"));
            later.complete();
            Night.write(source, Map.of("a", "third"));
            Path more = Files.createDirectory(folder.resolve("E2"));
            Night.write(more, Map.of("x", "x"));
            later.register("E2", more);
            later.complete();
        }
        back = new Night(older, site.address());
    }

    @AfterEach
    void closeBack() {
        back.close();
    }

    @Test
    void theFirstNightSaysWhatIsMissingAndTheRecordsAtTheSiteStayTheLastOnes() throws Exception {
        List<Path> records = Trees.all(root.resolve(".dozo/catalogue"));

        Run first = back.run();

        back.assertOnly(first, Problem.SITE_AHEAD, "3 manifests of 2 experiments", "p/E1", "dozo rebuild-catalogue");
        assertThat(back.coverage().safe()).isTrue();
        assertThat(Trees.all(root.resolve(".dozo/catalogue"))).isEqualTo(records);
        try (Night rebuilt = Night.without(TestDatabase.fresh())) {
            rebuilt.get(Rebuild.class)
                    .run(
                            "dr",
                            site.address(),
                            new RecordKey(Files.readString(Night.KEYS.resolve("recovery-key")), Set.of()));
            assertThat(rebuilt.get(Manifests.class).all(1)).hasSize(3);
            assertThat(rebuilt.coverage().experiments()).isEqualTo(2);
            assertThat(rebuilt.coverage().safe()).isTrue();
        }

        assertThat(back.findings(back.run()))
                .as("E2 is still missing")
                .singleElement()
                .satisfies(finding -> assertThat(finding.message()).contains("1 manifest of 1 experiment"));
        assertThat(Trees.all(root.resolve(".dozo/catalogue")))
                .as("who goes on has records again")
                .hasSizeGreaterThan(records.size());
    }

    @Test
    void aScrubCallsNothingDamagedThatALaterNightMovedToTheVersions() throws Exception {
        Run scrub = back.scrub();

        back.assertOnly(scrub, Problem.SITE_AHEAD);
        assertThat(back.count("select count(*) from damage")).isZero();
        Files.writeString(bag.resolve("data/same"), "rot");

        assertThat(back.findings(back.scrub()))
                .extracting(KeptFinding::reason)
                .containsExactlyInAnyOrder(Problem.SITE_AHEAD, Problem.DAMAGED);
    }

    @Test
    void aVersionThatGotANumberBecauseItsNameWasTakenIsNotDamaged() throws Exception {
        back.run();
        Night.write(source, Map.of("a", "the fourth"));
        back.run();
        assertThat(root.resolve(".dozo/versions/p/E1/3/data/a")).hasContent("the second");
        assertThat(root.resolve(".dozo/versions/p/E1/3/data/a~2")).hasContent("third");

        assertThat(back.findings(back.scrub())).extracting(KeptFinding::reason).containsExactly(Problem.SITE_AHEAD);
        assertThat(back.count("select count(*) from damage")).isZero();
    }

    @Test
    void aRetryOfTheFirstNightLeavesTheRecordsTheLastOnesToo() throws Exception {
        List<Path> records = Trees.all(root.resolve(".dozo/catalogue"));
        back.register("E9", Files.createDirectory(folder.resolve("empty")));
        Run first = back.run();

        Run retry = back.await(back.operations().retry(first.id(), "test"));

        assertThat(back.findings(retry)).extracting(KeptFinding::reason).contains(Problem.SITE_AHEAD);
        assertThat(Trees.all(root.resolve(".dozo/catalogue"))).isEqualTo(records);
    }

    @Test
    void anAnchorThatCannotBeReadIsPassedOver() throws Exception {
        try (AutoCloseable _ =
                Unreadable.make(Trees.in(root.resolve(".dozo/ledger")).getLast())) {
            assertThat(back.findings(back.run()))
                    .extracting(KeptFinding::reason)
                    .containsExactly(Problem.SITE_AHEAD);
        }
    }
}
