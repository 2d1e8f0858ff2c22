package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Copy.Options;
import dozo.file.Problem;
import dozo.loopback.LoopbackSite;
import dozo.remote.LyingTools;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A site whose digest command was right when it was checked, and hangs or gives wrong results afterwards: its results
 * prove nothing and damage nothing, and no run stops because of it.
 */
class LyingSiteRunIT extends NightAtSite {

    /** The commands of the site's check get correct answers. */
    private static final String HONEST_AT_FIRST = "case \"$*\" in *probe-*) real \"$@\"; exit ;; esac\n";

    private static final String HONEST = "real \"$@\"";

    /** Longer than anything waits here; then the process ends. */
    private static final String HANGS = "exec sleep 60";

    private LyingTools tools;

    LyingSiteRunIT() {
        // One unit after the other, so that no two share a command.
        super(
                "dozo.transfer.patience=1s",
                "dozo.transfer.bundle-entries=4",
                "dozo.transfer.partitions=1",
                "dozo.transfer.chunk=1");
    }

    @Override
    LoopbackSite serve() throws IOException {
        tools = new LyingTools(folder);
        tools.are(HONEST);
        return tools.serve(root);
    }

    @BeforeEach
    void open() throws IOException {
        register(Map.of("a", "1", "b", "2", "c", "3"));
    }

    @Test
    void aBundleWhoseDigestsDoNotComeIsNotVerifiedAndTheNextNightProvesIt() throws Exception {
        lie(HANGS);

        Run run = night.run();

        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        assertThat(night.findings(run))
                .extracting(finding -> finding.reason() + " " + finding.path())
                .as("UNRECORDED perhaps twice: the experiment, and the rest of the catalogue")
                .containsOnly("UNPROVEN a", "UNPROVEN b", "UNPROVEN c", "UNANCHORED null", "UNRECORDED null");
        assertThat(night.findings(run))
                .allSatisfy(finding -> assertThat(finding.message()).contains("did not end within"));
        assertThat(night.coverage().filesSafe()).isZero();
        assertThat(root.resolve("p/E1/data/a")).doesNotExist();
        tools.are(HONEST);
        night.complete();
        NightlyBackupIT.assertSame(source, root.resolve("p/E1/data"));
    }

    @Test
    void aNightIsNotSpentWaitingForCommandsThatDoNotEnd() throws Exception {
        Night.writeMany(source, 100);
        lie(HANGS);

        Run run = night.run();

        assertThat(run.state()).isEqualTo(RunState.FAILED);
        assertThat(run.message()).contains("commands in a row did not end at", "exec ");
        assertThat(night.coverage().filesSafe()).isZero();
    }

    @Test
    void aScrubWhoseDigestsDoNotComeReadsNothingAndDamagesNothing() throws Exception {
        night.complete();
        lie(HANGS);

        assertNothingIsKnown(night.scrub(), "did not end within");

        tools.are(HONEST);
        assertThat(night.scrub().state()).isEqualTo(RunState.COMPLETE);
        assertThat(night.count("select count(*) from reading")).isEqualTo(night.count("select count(*) from receipt"));
    }

    @Test
    void whateverIsSaidInAScrubInsteadOfTheDigestsIsNoPassAndNoDamage() throws Exception {
        night.complete();
        for (String lie : List.of(
                // of wrong files among those requested
                "real \"$@\" | awk '{ digest[NR] = $1; name[NR] = $2 } END { for (i in name) print digest[i % NR + 1] \"  \" name[i] }'",
                // of other content
                "for f; do echo \"$(printf %064d 7)  $f\"; done",
                // two for one file
                "for f; do echo \"$(printf %064d 7)  $f\"; done; real \"$@\"",
                // half of the first line
                "real \"$@\" | head -c 40",
                // none, with success
                ":",
                // all of them, with a failure
                "real \"$@\"; exit 1")) {
            lie(lie);

            assertNothingIsKnown(night.scrub(), "digest");
        }
        lie("real \"$@\" | head -n 2");

        Run scrub = night.scrub();

        assertThat(night.findings(scrub))
                .filteredOn(finding -> finding.path() != null)
                .as("two of three were read")
                .hasSize(1);
        assertThat(night.count("select count(*) from reading")).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "exit 127",
                "echo this is no archive",
                "real \"$@\" | head -c 700000",
                "real \"$@\" | tr b c",
                "exec sleep 1"
            })
    void whateverTarSendsARestoreIsWhatWasVerified(String manner) throws Exception {
        for (int i = 0; i < 20; i++) {
            Night.write(source, Map.of("f" + i, "b".repeat(100_000 + i)));
        }
        night.complete();
        tools.tarDoes(manner, manner);
        night.restore(night.experiment(), 1, site.address(), folder.resolve("restored"), new Options(1, 0, false));

        assertThat(tools.archives()).as("archives after the first").isZero();
        NightlyBackupIT.assertSame(source, folder.resolve("restored"));
    }

    private void lie(String lie) throws IOException {
        tools.are(HONEST_AT_FIRST + lie);
    }

    private void assertNothingIsKnown(Run scrub, String why) {
        assertThat(scrub.state()).isEqualTo(RunState.FINDINGS);
        assertThat(night.findings(scrub))
                .allMatch(finding -> finding.reason() == Problem.UNPROVEN)
                .allMatch(finding -> finding.message().contains(why))
                .filteredOn(finding -> finding.path() != null)
                .as("of copies; what Dozo wrote for itself has no path")
                .hasSize(3);
        assertThat(night.count("select count(*) from damage")).isZero();
        assertThat(night.count("select count(*) from reading")).isZero();
        assertThat(night.coverage().safe()).isTrue();
    }
}
