package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.certificate.Checkpoint;
import dozo.certificate.Checkpoints;
import dozo.certificate.SignedNote;
import dozo.copy.Trees;
import dozo.file.Problem;
import dozo.ledger.Anchor;
import dozo.ledger.Breach;
import dozo.ledger.Breach.Kind;
import dozo.ledger.Ledger;
import dozo.ledger.TamperedLedger;
import dozo.loopback.LoopbackSite;
import dozo.registry.Sites;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.verify.LedgerVerification;
import dozo.verify.LedgerVerification.Verdict;
import dozo.verify.LedgerVerification.Verified;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every night writes the ledger's head to the site, where it is never changed; a failure is a finding. */
class AnchorsIT extends NightAtSite {

    private Path anchors;

    @BeforeEach
    void register() throws IOException {
        anchors = root.resolve(".dozo/ledger");
        register(Map.of("a", "1"));
    }

    @Test
    void eachNightLeavesAnAnchorMoreAndTheLedgerIsIntact() throws Exception {
        nightAfterNight(site);
    }

    @Test
    void soItIsAtASiteWithoutAShell() throws Exception {
        try (LoopbackSite sftpOnly =
                LoopbackSite.openSsh(folder.resolve("sftp"), root, 0, "ForceCommand internal-sftp")) {
            nightAfterNight(sftpOnly);
        }
    }

    @Test
    void soItIsAtAnotherServer() throws Exception {
        try (LoopbackSite embedded = LoopbackSite.embedded(folder.resolve("mina"), root, 0)) {
            nightAfterNight(embedded);
        }
    }

    private void nightAfterNight(LoopbackSite dr) throws Exception {
        night.get(Sites.class).save("dr", dr.address(), "test");
        LedgerVerification verification = night.get(LedgerVerification.class);
        assertThat(verification.verify().verdict()).as("no anchor yet").isEqualTo(Verdict.INCOMPLETE);

        night.complete();
        Path first = only(anchors);
        String line = Files.readString(first);
        Object inode = Files.getAttribute(first, "unix:ino");
        night.complete();

        assertThat(Trees.in(anchors)).hasSize(2).startsWith(first);
        assertThat(first).hasContent(line);
        assertThat(Files.getAttribute(first, "unix:ino")).isEqualTo(inode);
        Anchor anchor = Anchor.of(line.getBytes()).orElseThrow();
        assertThat(night.get(Ledger.class).rows(List.of(anchor.seq()))).containsEntry(anchor.seq(), anchor);
        assertThat(root.resolve(".dozo/incoming")).isEmptyDirectory();
        Verified verified = verification.verify();
        assertThat(verified.verdict()).as("%s", verified).isEqualTo(Verdict.INTACT);
        assertThat(verified.sites().getFirst().anchors()).isEqualTo(2);
        assertThat(verified.head().seq() - verified.sites().getFirst().provenUpTo())
                .as("the anchor's own row, and that of the run's end")
                .isEqualTo(2);
    }

    @Test
    void whatKeepsTheNameOfAnAnchorIsAFindingAndStays() throws Exception {
        Files.createDirectories(anchors);
        for (int seq = 1; seq < 30; seq++) {
            Files.writeString(Anchor.file(seq).under(root), "foreign");
        }

        Run run = night.run();

        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        night.assertOnly(run, Problem.UNANCHORED, "the name .dozo/ledger/0000", "is in use at the site");
        assertThat(Trees.in(anchors))
                .hasSize(29)
                .allSatisfy(file -> assertThat(file).hasContent("foreign"));
        assertThat(night.count("select count(*) from ledger where action = 'ledger.anchored'"))
                .isZero();
        assertThat(night.coverage().safe()).isTrue();
    }

    @Test
    void aFileInPlaceOfTheFolderIsAFindingToo() throws Exception {
        Files.createDirectories(anchors.getParent());
        Files.writeString(anchors, "a file");

        Run run = night.run();

        night.assertOnly(run, Problem.UNANCHORED);
        assertThat(anchors).hasContent("a file");
    }

    @Test
    void anAnchorThatWasWrittenBeforeACrashIsTakenAsItIs() throws Exception {
        Run run = night.run();
        Path written = only(anchors);
        // As if the process had died after the file got its name and before the transaction.
        new TamperedLedger(night.get(DataSource.class))
                .tamper("delete from ledger where seq > "
                        + Anchor.of(Files.readAllBytes(written)).orElseThrow().seq());

        night.get(Anchors.class).write(night.get(NightFlows.class).of(run.id(), run.siteId()));
        night.get(Senders.class).close(run.id());
        night.get(NightFlows.class).close(run.id());

        assertThat(only(anchors)).isEqualTo(written);
        assertThat(night.findings(run)).isEmpty();
        assertThat(night.get(LedgerVerification.class).verify().verdict()).isEqualTo(Verdict.INTACT);
    }

    /** In a folder of their own, where earlier versions of Dozo look at nothing. */
    @Test
    void eachNightLeavesASignedCheckpointOfTheAnchoredRow() throws Exception {
        Path checkpoints = root.resolve(Checkpoint.FOLDER.toString());
        night.complete();
        Path first = only(checkpoints);
        String note = Files.readString(first);
        night.complete();

        assertThat(Trees.in(checkpoints)).hasSize(2).startsWith(first);
        assertThat(first).hasContent(note);
        SignedNote read = SignedNote.of(note).orElseThrow();
        assertThat(read.by(night.get(Checkpoints.class).key())).hasSize(1);
        assertThat(Checkpoint.of(read.text()).orElseThrow().size())
                .isEqualTo(Anchor.of(Files.readAllBytes(Trees.in(anchors).getFirst()))
                        .orElseThrow()
                        .seq());
        assertThat(night.findings(night.scrub())).isEmpty();

        Files.setPosixFilePermissions(first, PosixFilePermissions.fromString("rw-r--r--"));
        Files.writeString(first, note + "x");
        night.assertOnly(night.scrub(), Problem.UNANCHORED, ".dozo/checkpoints/0000");
    }

    @Test
    void withoutTheKeyOfCheckpointsTheAnchorIsWrittenAndAFindingToo() throws Exception {
        Path key = Night.KEYS.resolve("checkpoint-key");
        Path kept = Files.move(key, key.resolveSibling("checkpoint-key.kept"));
        try {
            night.assertOnly(night.run(), Problem.UNANCHORED, "the file checkpoint-key is missing");
        } finally {
            Files.move(kept, key);
        }
        assertThat(Trees.in(anchors)).hasSize(1);
        night.run();
        only(root.resolve(Checkpoint.FOLDER.toString()));
    }

    /** Runs the queries that the documentation of the ledger gives to users without Dozo. */
    @Test
    void theDocumentedQueriesSayTheSame() throws Exception {
        night.run();
        night.run();
        List<String> queries = documented();
        String broken = queries.get(0);
        String rows = queries.get(1);

        assertThat(night.count(broken)).isZero();
        List<String> lines = night.texts(rows);
        for (Path anchor : Trees.in(anchors)) {
            assertThat(lines).contains(Files.readString(anchor).strip());
        }
        TamperedLedger tampered = new TamperedLedger(night.get(DataSource.class));
        for (String tampering : List.of(
                "update ledger set actor = 'x' where seq = 3",
                "update ledger set at = at + interval '1 microsecond' where seq = 3",
                "update ledger set at = (to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00 BC')::timestamptz"
                        + " where seq = 3",
                "delete from ledger where seq = 3",
                "delete from ledger where seq = 1")) {
            tampered.undone(() -> {
                tampered.tamper(tampering);
                assertThat(night.count(broken)).as(tampering).isPositive();
            });
        }
        tampered.tamper("update ledger set actor = 'x' where seq = 3");
        tampered.rewriteFrom(3);
        assertThat(night.count(broken)).isZero();
        assertThat(night.get(LedgerVerification.class)
                        .verify()
                        .sites()
                        .getFirst()
                        .breaches())
                .extracting(Breach::kind)
                .containsOnly(Kind.REWRITTEN);
        assertThat(night.texts(rows))
                .doesNotContain(Files.readString(Trees.in(anchors).getFirst()).strip());
    }

    private static List<String> documented() throws IOException {
        Matcher blocks = Pattern.compile("```sql\n(.*?);\n```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("../docs/reference/ledger.md")));
        return blocks.results().map(block -> block.group(1)).toList();
    }

    private static Path only(Path folder) throws IOException {
        List<Path> files = Trees.in(folder);
        assertThat(files).hasSize(1);
        return files.getFirst();
    }
}
