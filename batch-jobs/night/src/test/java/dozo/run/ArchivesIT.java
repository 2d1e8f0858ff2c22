package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.Problem;
import dozo.loopback.LoopbackSite;
import dozo.remote.LyingTools;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A site with a working tar gets archives, unless that is switched off, or they fail there. */
class ArchivesIT {

    private static final int FILES = 30;
    private static final int MANY_FILES = 600;

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void archivesAreSentUnlessSftpAloneIsSet(boolean sftpAlone) throws Exception {
        Path source = Files.createDirectory(folder.resolve("source"));
        Night.writeMany(source, FILES);
        Path root = Files.createDirectory(folder.resolve("dr"));
        LyingTools tools = new LyingTools(folder);
        Path tarCalls = tools.noteTar();
        try (LoopbackSite site = tools.serve(root);
                Night night = Night.on(site.address(), "dozo.transfer.sftp-alone=" + sftpAlone)) {
            night.register("E1", source);

            night.complete();

            NightlyBackupIT.assertSame(source, root.resolve("p/E1/data"));
            assertThat(night.texts("select distinct way_in from receipt where cardinality(entry_nos) > 1"))
                    .as("what the receipts say of the files; a folder is never in an archive")
                    .contains(sftpAlone ? "sftp" : "archive")
                    .doesNotContain(sftpAlone ? "archive" : "none");
        }
        assertThat(Files.readAllLines(tarCalls))
                .as("the look at the site tries its tar in any case")
                .anyMatch(call -> call.contains("/probe-"))
                .matches(calls -> calls.stream().allMatch(call -> call.contains("/probe-")) == sftpAlone);
    }

    @Test
    void aNightWhoseArchivesFailGoesOnBySftpAndSaysSo() throws Exception {
        Path source = Files.createDirectory(folder.resolve("source"));
        // More units than are under way, and so share an archive, at once.
        Night.writeMany(source, MANY_FILES);
        Path root = Files.createDirectory(folder.resolve("dr"));
        LyingTools tools = new LyingTools(folder);
        tools.tarDoes("real \"$@\"", "exit 1");
        try (LoopbackSite site = tools.serve(root);
                Night night = Night.on(site.address(), "dozo.transfer.bundle-entries=10")) {
            night.register("E1", source);

            Run run = night.run();

            assertThat(night.findings(run)).singleElement().satisfies(finding -> {
                assertThat(finding.reason()).isEqualTo(Problem.SITE_CHANGED);
                assertThat(finding.message())
                        .startsWith("site dr: 3 archives in a row failed, and files are sent by SFTP only: ");
            });
            assertThat(run.state()).isEqualTo(RunState.FINDINGS);
            assertThat(night.coverage().safe()).isTrue();
            NightlyBackupIT.assertSame(source, root.resolve("p/E1/data"));
        }
    }
}
