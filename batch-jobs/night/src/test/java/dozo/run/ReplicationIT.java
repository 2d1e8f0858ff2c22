package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dozo.copy.Trees;
import dozo.file.Problem;
import dozo.ledger.Coverage;
import dozo.ledger.Findings.KeptFinding;
import dozo.registry.Refusal;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A replication copies experiments from the site {@code dr} to the site {@code second}; no source is read. */
class ReplicationIT extends NightAtTwoSites {

    @Test
    void anExperimentWithoutItsSourceIsCopiedAndProvenAtTheSecondSite() throws Exception {
        writeAll();
        safeAtFirst();

        Run run = replicate("p/E1");

        night.assertComplete(run);
        assertThat(run.kind()).isEqualTo(RunKind.REPLICATION);
        assertThat(run.from()).isEqualTo("dr");
        assertThat(run.site()).isEqualTo("second");
        assertSameAtSecond();
        Coverage.Totals covered = night.get(Coverage.class).all(2);
        assertThat(covered.safe()).isTrue();
        assertThat(covered.bytesSafe()).isEqualTo(night.coverage().bytesSafe());
        assertThat(night.count("""
                select count(*) from entry_receipt a join entry_receipt b using (experiment_id, entry_no, digest)
                where a.site_id = 1 and b.site_id = 2
                """)).isEqualTo(night.count("select count(*) from entry"));
        assertThat(night.count("""
                select count(*) from ledger where action = 'run.started' and actor = 'operator'
                  and detail->>'kind' = 'replication' and detail->>'from' = 'dr' and detail->>'site' = 'second'
                """)).isEqualTo(1);

        Run after = night.run("second");
        assertThat(night.count("select count(*) from transfer_unit where run_id = " + after.id()))
                .as("nothing is left for a night")
                .isZero();
        night.assertOnly(after, Problem.SOURCE_MISSING);
        assertThatThrownBy(() -> start("dr", "second", null, "p/E1", false))
                .isInstanceOf(Refusal.class)
                .hasMessage("experiment p/E1 is complete at site second, or its source is there");
    }

    @Test
    void aFileWithManyNamesIsStoredOnceAtTheSecondSiteToo() throws Exception {
        Night.write(source, Map.of("a/file", "shared", "b/other", "own"));
        Files.createLink(source.resolve("b/name"), source.resolve("a/file"));
        safeAtFirst();

        Run run = replicate("p/E1");

        assertThat(night.findings(run)).isEmpty();
        assertSameAtSecond();
        Path there = secondRoot.resolve("p/E1/data");
        assertThat(Trees.inode(there.resolve("b/name"))).isEqualTo(Trees.inode(there.resolve("a/file")));
        assertThat(night.count("select count(*) from receipt where site_id = 2 and way_in = 'link'"))
                .isEqualTo(1);
        assertThat(night.get(Coverage.class).all(2).safe()).isTrue();
    }

    @Test
    void aDamagedCopyIsNotPassedOnAndComesOnceItIsRepaired() throws Exception {
        writeAll();
        safeAtFirst();
        Path data = bag.resolve("data");
        byte[] small = flip(data.resolve("many/3"));
        byte[] large = flip(data.resolve("large"));
        Files.move(data.resolve("many/5"), folder.resolve("aside"));
        byte[] cut = Files.readAllBytes(data.resolve("middle"));
        Files.write(data.resolve("middle"), new byte[1]);

        Run run = replicate("p/E1");

        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        assertThat(night.findings(run))
                .extracting(finding -> String.valueOf(finding.path()), KeptFinding::reason)
                .containsExactlyInAnyOrder(
                        tuple("many/3", Problem.SOURCE_DIFFERS),
                        tuple("large", Problem.SOURCE_DIFFERS),
                        tuple("middle", Problem.SOURCE_DIFFERS),
                        tuple("many/5", Problem.VANISHED));
        assertThat(night.findings(run))
                .allSatisfy(finding -> assertThat(finding.message()).contains("the copy at site dr"));
        Path there = secondRoot.resolve("p/E1/data");
        for (String name : new String[] {"many/3", "many/5", "large", "middle"}) {
            assertThat(there.resolve(name)).doesNotExist();
        }
        assertThat(there.resolve("many/4")).hasContent("file 4");
        assertThat(night.get(Coverage.class).all(2).safe()).isFalse();
        Files.createDirectory(source);
        night.run("second");
        assertThat(night.findings(run))
                .as("a night does not look at the other site")
                .allSatisfy(finding -> assertThat(finding.open()).isTrue());

        Files.write(data.resolve("many/3"), small);
        Files.write(data.resolve("large"), large);
        Files.write(data.resolve("middle"), cut);
        Files.move(folder.resolve("aside"), data.resolve("many/5"));
        Run again = replicate("p/E1");

        night.assertComplete(again);
        assertThat(night.findings(run))
                .allSatisfy(finding -> assertThat(finding.open()).isFalse());
        assertSameAtSecond();
    }

    private void writeAll() throws IOException {
        for (int i = 0; i < 30; i++) {
            Night.write(source, Map.of("many/" + i, "file " + i));
        }
        Night.write(source, Map.of("empty", "", "deep/er/and/deeper", "d", "new\nline", "n"));
        Files.writeString(Trees.named(source, "脳.dat", "windows-31j"), "sjis");
        Files.createDirectories(source.resolve("no/files"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("many/1"));
        Files.createSymbolicLink(source.resolve("dangling"), Path.of("/nowhere"));
        Files.write(source.resolve("middle"), Trees.random(1_700_000));
        Files.write(source.resolve("large"), Trees.random(13 << 20));
        Files.setLastModifiedTime(source.resolve("middle"), FileTime.fromMillis(1_234_567_000));
    }

    /** Changes a byte of a file. Returns its content before. */
    private static byte[] flip(Path file) throws IOException {
        byte[] content = Files.readAllBytes(file);
        Trees.flip(file, content.length / 2);
        return content;
    }
}
