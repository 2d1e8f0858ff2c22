package dozo.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.Campaign;
import dozo.db.TestDatabase;
import dozo.ledger.Anchor;
import dozo.ledger.Breach;
import dozo.ledger.Breach.Kind;
import dozo.ledger.Chain;
import dozo.ledger.Guards;
import dozo.ledger.Ledger;
import dozo.ledger.LedgerTree;
import dozo.ledger.TamperedLedger;
import dozo.ledger.Verification.Unproven;
import dozo.loopback.LoopbackSite;
import dozo.registry.Sites;
import dozo.verify.LedgerVerification.ComparedSite;
import dozo.verify.LedgerVerification.Verdict;
import dozo.verify.LedgerVerification.Verified;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The ledger against the anchors at a real site: what the chain alone cannot show, and how a site can change anchors.
 */
class LedgerVerificationIT {

    private static final int ROWS = 30;

    @TempDir
    Path folder;

    private final HikariDataSource database = TestDatabase.fresh();
    private final TamperedLedger tampered = new TamperedLedger(database);
    private final Ledger ledger = new Ledger(tampered.jdbc(), InstantSource.system());
    private final Sites sites = new Sites(tampered.jdbc(), ledger, InstantSource.system());
    private final LedgerVerification verification = new LedgerVerification(
            new Chain(tampered.jdbc()), new Guards(tampered.jdbc()), new LedgerTree(tampered.jdbc()), ledger, sites);
    private Path anchors;
    private LoopbackSite site;

    @BeforeEach
    void writeALedgerWithAnchors() throws IOException {
        Path root = folder.resolve("dr");
        anchors = Files.createDirectories(root.resolve(".dozo/ledger"));
        site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
        sites.save("dr", site.address(), "test");
        for (int i = 0; i < 3; i++) {
            tampered.append(ROWS / 3 - 1);
            anchor();
        }
    }

    @AfterEach
    void close() {
        site.close();
    }

    @Test
    void aGoodLedgerIsIntactAndTheLastAnchorSaysHowFarTheSiteBearsWitness() throws Exception {
        Verified verified = verification.verify();

        assertThat(verified.breaches()).isEmpty();
        assertThat(verified.verdict()).isEqualTo(Verdict.INTACT);
        assertThat(verified.rows()).isEqualTo(ROWS + 1);
        assertThat(verified.head()).isEqualTo(ledger.head().orElseThrow());
        assertThat(verified.sites()).containsExactly(new ComparedSite("dr", null, 3, (long) ROWS, List.of(), 0));
    }

    @Test
    void anchorsAreReadFromASiteWithoutAShellAndFromAnotherServerToo() throws Exception {
        site.close();
        try (LoopbackSite sftpOnly = LoopbackSite.openSsh(
                folder.resolve("sftp-only"), folder.resolve("dr"), 0, "ForceCommand internal-sftp")) {
            sites.save("dr", sftpOnly.address(), "test");
            assertThat(verification.verify().verdict()).isEqualTo(Verdict.INTACT);
        }
        try (LoopbackSite embedded = LoopbackSite.embedded(folder.resolve("mina"), folder.resolve("dr"), 0)) {
            sites.save("dr", embedded.address(), "test");
            assertThat(verification.verify().verdict()).isEqualTo(Verdict.INTACT);
        }
    }

    @Test
    void rowsCutOffTheEndAreFoundByTheAnchorBeyondIt() throws Exception {
        tampered.tamper("delete from ledger where seq >= 15");

        Breach cutOff = only(Kind.CUT_OFF, 15).getFirst();

        assertThat(cutOff.message()).contains("the rows after row 14 are missing", "the anchor of row 20");
        assertThat(verification.verify().sites().getFirst().provenUpTo()).isEqualTo(10);
    }

    @Test
    void aLedgerThatWasEmptiedIsCutOff() throws Exception {
        tampered.tamper("delete from ledger");

        only(Kind.CUT_OFF, 1);
    }

    @Test
    void aChainWrittenAnewWithRightHashesIsFoundByTheFirstAnchorBehindTheChange() throws Exception {
        tampered.tamper("update ledger set actor = 'nobody' where seq = 12");
        tampered.rewriteFrom(12);

        assertThat(verification.verify().breaches())
                .as("the chain itself is right")
                .isEmpty();
        assertThat(only(Kind.REWRITTEN, 20)).hasSize(2);
        assertThat(verification.verify().sites().getFirst().provenUpTo()).isEqualTo(10);
    }

    @Test
    void aChainWrittenAnewWithoutARowIsFoundToo() throws Exception {
        tampered.tamper("delete from ledger where seq = 12", "update ledger set seq = seq - 1 where seq > 12");
        tampered.rewriteFrom(12);

        only(Kind.REWRITTEN, 20);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "nonsense", "20 0000\n"})
    void anAnchorWithAnotherContentIsSaid(String content) throws Exception {
        Files.writeString(anchors.resolve("000000000020"), content);

        only(Kind.ANCHOR_ALTERED, 20);
    }

    @Test
    void anAnchorWithAnotherHashIsToldFromALedgerWrittenAnewByALaterAnchor() throws Exception {
        Path file = anchors.resolve("000000000020");
        char[] line = Files.readString(file).toCharArray();
        line[10] = line[10] == '0' ? '1' : '0';
        Files.writeString(file, new String(line));

        assertThat(only(Kind.ANCHOR_ALTERED, 20).getFirst().message()).contains("the anchor of row 30 proves that row");

        Files.delete(anchors.resolve("000000000030"));
        assertThat(kinds())
                .as("no later one proves it: nobody can say which of the two was changed")
                .containsExactlyInAnyOrder(Kind.REWRITTEN, Kind.ANCHOR_MISSING);
    }

    @Test
    void anAnchorThatIsGoneIsSaidAndSoIsAFolderOfThemThatIsGone() throws Exception {
        Files.delete(anchors.resolve("000000000020"));
        only(Kind.ANCHOR_MISSING, 20);

        Files.move(anchors, folder.resolve("elsewhere"));
        assertThat(kinds()).as("the last one is known of, too").hasSize(3).containsOnly(Kind.ANCHOR_MISSING);
    }

    @Test
    void whatElseLiesAmongThemIsSaid() throws Exception {
        Files.writeString(anchors.resolve("notes"), "mine");
        Files.createDirectory(anchors.resolve("000000000007"));
        Files.createSymbolicLink(anchors.resolve("000000000008"), Path.of("000000000010"));

        assertThat(kinds()).hasSize(3).containsOnly(Kind.ANCHOR_ALTERED);
    }

    @Test
    void manyAnchorsAreAllCompared() throws Exception {
        for (int i = 0; i < 150; i++) {
            anchor();
        }
        assertThat(verification.verify().sites().getFirst())
                .isEqualTo(new ComparedSite("dr", null, 153, ledger.last() - 1, List.of(), 0));

        tampered.tamper("delete from ledger where seq > 20");
        assertThat(verification.verify().sites().getFirst().breachesCount()).isGreaterThan(100);
    }

    @Test
    void aSiteThatCannotBeReachedLeavesItIncompleteAndNeverIntact() throws Exception {
        site.close();

        Verified verified = verification.verify();

        assertThat(verified.verdict()).isEqualTo(Verdict.INCOMPLETE);
        assertThat(verified.breaches()).isEmpty();
        assertThat(verified.sites().getFirst().trouble()).contains("127.0.0.1");
        assertThat(String.valueOf(verified.why())).contains("Not compared with site dr", "dozo site check dr");
        assertThat(ledger.lastVerification()).hasValueSatisfying(kept -> {
            assertThat(kept.unproven()).isEqualTo(Unproven.NOT_COMPARED);
            assertThat(kept.unprovenSites()).containsExactly("dr");
            assertThat(kept.sentence()).isEqualTo(verified.why());
        });
    }

    @Test
    void whatIsBrokenIsSaidAlsoWhereTheSiteCannotBeReached() throws Exception {
        site.close();
        tampered.tamper("update ledger set actor = 'x' where seq = 3");

        assertThat(verification.verify().verdict()).isEqualTo(Verdict.BROKEN);
        assertThat(ledger.lastVerification()).hasValueSatisfying(kept -> {
            assertThat(kept.unproven()).isNull();
            assertThat(kept.sentence()).isNull();
        });
    }

    @Test
    void withoutAnAnchorOrASiteNothingIsProvenOfTheEnd() throws Exception {
        LedgerVerification fresh = verificationOf(TestDatabase.fresh());
        Verified withoutSite = fresh.verify();
        assertThat(withoutSite.verdict()).isEqualTo(Verdict.INCOMPLETE);
        assertThat(String.valueOf(withoutSite.why())).contains("No site is registered", "Add a site");

        try (Stream<Path> files = Files.list(anchors)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        HikariDataSource other = TestDatabase.fresh();
        new Sites(
                        tamperedOf(other).jdbc(),
                        new Ledger(tamperedOf(other).jdbc(), InstantSource.system()),
                        InstantSource.system())
                .save("dr", site.address(), "test");
        Verified verified = verificationOf(other).verify();
        assertThat(verified.verdict()).isEqualTo(Verdict.INCOMPLETE);
        assertThat(verified.sites()).containsExactly(new ComparedSite("dr", null, 0, null, List.of(), 0));
        assertThat(String.valueOf(verified.why()))
                .contains("Site dr has no matching anchor yet", "Each run writes one");
    }

    @Test
    void aDisabledTriggerIsABrokenLedger() throws Exception {
        tampered.jdbc().sql("alter table ledger disable trigger user").update();

        Verified verified = verification.verify();

        assertThat(verified.verdict()).isEqualTo(Verdict.BROKEN);
        assertThat(verified.breaches()).extracting(Breach::kind).containsOnly(Kind.UNGUARDED);
    }

    @Test
    @Tag(Campaign.TAG)
    void threeHundredRandomTamperingsAreAllFound() throws Exception {
        // Rows after the last anchor can be cut off unnoticed, so there are none here.
        tampered.tamper("delete from ledger where seq > " + ROWS);
        for (int seed = 0; seed < Campaign.times(300); seed++) {
            Random random = new Random(seed);
            String what = "seed " + seed;
            tampered.undone(() -> {
                tamper(random);
                try {
                    assertThat(verification.verify().verdict()).as(what).isEqualTo(Verdict.BROKEN);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
        }
        assertThat(verification.verify().verdict()).as("all of it was undone").isEqualTo(Verdict.INTACT);
    }

    private void tamper(Random random) {
        int a = 1 + random.nextInt(ROWS);
        int b = 1 + (a + random.nextInt(ROWS - 1)) % ROWS;
        switch (random.nextInt(8)) {
            case 0 -> tampered.tamper("delete from ledger where seq = " + a);
            case 1 ->
                tampered.tamper(
                        "delete from ledger where seq between %d and %d".formatted(Math.min(a, b), Math.max(a, b)));
            case 2 -> tampered.tamper("delete from ledger where seq >= " + a);
            case 3 ->
                tampered.tamper(
                        "update ledger set seq = -seq where seq in (%d, %d)".formatted(a, b),
                        "update ledger set seq = %d + seq where seq < 0".formatted(a + b));
            case 4 -> {
                tampered.tamper(
                        "delete from ledger where seq = " + a, "update ledger set seq = seq - 1 where seq > " + a);
                tampered.rewriteFrom(a);
            }
            case 5 -> {
                tampered.tamper("update ledger set %s where seq = %d".formatted(edit(random), a));
                tampered.rewriteFrom(a);
            }
            case 6 ->
                tampered.tamper("update ledger set hash = set_bit(hash, %d, 1 - get_bit(hash, %1$d)) where seq = %d"
                        .formatted(random.nextInt(256), a));
            default -> tampered.tamper("update ledger set %s where seq = %d".formatted(edit(random), a));
        }
    }

    private static String edit(Random random) {
        return switch (random.nextInt(6)) {
            case 0 -> "at = at + %d * interval '1 microsecond'".formatted(1 + random.nextInt(1_000_000));
            case 1 -> "actor = actor || 'x'";
            case 2 -> "action = action || 'x'";
            case 3 -> "subject = overlay(subject placing '~' from 1 for 1)";
            case 4 -> "detail = detail || '{\"more\": \"%d\"}'".formatted(random.nextInt());
            default -> "detail = '{}'";
        };
    }

    /** Writes an anchor as a run does, but not over SSH. */
    private void anchor() throws IOException {
        Anchor head = ledger.head().orElseThrow();
        Files.write(Anchor.file(head.seq()).under(folder.resolve("dr")), head.line());
        ledger.anchored(head, "dr");
    }

    /** Returns the breaches at the site: all of this kind, the first at this row. */
    private List<Breach> only(Kind kind, long seq) throws InterruptedException {
        Verified verified = verification.verify();
        assertThat(verified.verdict()).isEqualTo(Verdict.BROKEN);
        List<Breach> found = verified.sites().getFirst().breaches();
        assertThat(found).extracting(Breach::kind).containsOnly(kind);
        assertThat(found.getFirst().seq()).isEqualTo(seq);
        return found;
    }

    private List<Kind> kinds() throws InterruptedException {
        return verification.verify().sites().getFirst().breaches().stream()
                .map(Breach::kind)
                .toList();
    }

    private static TamperedLedger tamperedOf(HikariDataSource database) {
        return new TamperedLedger(database);
    }

    private static LedgerVerification verificationOf(HikariDataSource database) {
        var jdbc = new TamperedLedger(database).jdbc();
        Ledger other = new Ledger(jdbc, () -> Instant.EPOCH);
        return new LedgerVerification(
                new Chain(jdbc),
                new Guards(jdbc),
                new LedgerTree(jdbc),
                other,
                new Sites(jdbc, other, InstantSource.system()));
    }
}
