package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dozo.copy.Trees;
import dozo.file.Digest;
import dozo.file.Problem;
import dozo.ledger.Findings.KeptFinding;
import dozo.loopback.LoopbackSite;
import dozo.registry.Sites;
import dozo.remote.LyingTools;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A site that has deleted bytes and kept their digests is noticed by the first scrub that challenges it, and nothing else is. */
class ChallengingIT extends NightAtSite {

    private LyingTools tools;

    @Override
    LoopbackSite serve() throws IOException {
        tools = new LyingTools(folder);
        tools.are("real \"$@\"");
        return tools.serve(root);
    }

    /** Replaces stored files by sparse ones of the same size and time, and from then on reports the digests that they had. */
    private void cheat(String... names) throws IOException {
        Path list = folder.resolve("list");
        StringBuilder lines = new StringBuilder();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                lines.append("%s  ./%s\n".formatted(Digest.ofContent(Files.readAllBytes(file)), root.relativize(file)));
            }
        }
        Files.writeString(list, lines);
        for (String name : names) {
            Path file = bag.resolve("data").resolve(name);
            var time = Files.getLastModifiedTime(file);
            long size = Files.size(file);
            Files.delete(file);
            try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
                sparse.setLength(size);
            }
            Files.setLastModifiedTime(file, time);
        }
        tools.are("""
                if [ $# -eq 0 ]; then real; exit; fi
                for f; do grep -F "  $f" %s || real "$f"; done
                """.formatted(list));
    }

    private List<String> challenges(Run scrub) {
        return night.texts("""
                select distinct concat_ws(' ', result, compared_with) from challenge where run_id = %d order by 1
                """.formatted(scrub.id()));
    }

    @Test
    void whatIsGoneIsNamedAndTheNextNightSendsItAgain() throws Exception {
        Files.write(source.resolve("large"), Trees.random(3 << 20));
        for (String name : List.of("kept", "gone", "new\nline")) {
            Files.write(source.resolve(name), Trees.random(500_000));
        }
        safe(Map.of());
        cheat("large", "gone");
        restart("dozo.scrub.challenges=0");
        night.assertComplete(night.scrub());
        assertThat(night.count("select count(*) from challenge")).isZero();
        restart();

        Run scrub = night.scrub();

        assertThat(scrub.state()).isEqualTo(RunState.FINDINGS);
        assertThat(night.findings(scrub))
                .extracting(KeptFinding::experiment, KeptFinding::reason, finding -> String.valueOf(finding.path()))
                .containsExactlyInAnyOrder(
                        tuple("p/E1", Problem.NOT_HELD, "large"), tuple("p/E1", Problem.NOT_HELD, "gone"));
        assertThat(challenges(scrub)).containsExactly("HELD HOME", "WRONG HOME");
        assertThat(night.coverage().filesSafe()).isEqualTo(2);
        assertThat(night.texts(
                        "select detail ->> 'challengesWrong' from ledger where action = 'scrub.ended' order by seq"))
                .last()
                .asString()
                .isNotEqualTo("0");
        tools.are("real \"$@\"");
        night.awaitIdle();
        night.complete();
        NightlyBackupIT.assertSame(source, bag.resolve("data"));
        assertThat(night.coverage().safe()).isTrue();
        Run after = night.scrub();
        assertThat(night.findings(after)).isEmpty();
        assertThat(challenges(after)).doesNotContain("WRONG HOME");
    }

    @Test
    void withoutTheSourceACopyIsComparedWithItsOwnBytes() throws Exception {
        Path large = source.resolve("large");
        Files.write(large, Trees.random(3 << 20));
        Files.write(source.resolve("other"), Trees.random(1 << 20));
        safe(Map.of());
        Files.delete(large);

        Run scrub = night.scrub();

        night.assertComplete(scrub);
        assertThat(challenges(scrub)).containsExactly("HELD FETCHED", "HELD HOME");
    }

    @Test
    void ifNobodyHasTheBytesNothingIsKnownAndThatIsSaid() throws Exception {
        safe(Map.of("gone", "1", "kept", "2"));
        cheat("gone");
        Files.delete(source.resolve("gone"));

        Run scrub = night.scrub();

        night.assertOnly(scrub, Problem.UNPROVEN, "such as in gone", "nothing has the bytes");
        assertThat(challenges(scrub)).containsExactly("HELD HOME", "UNKNOWN");
    }

    @Test
    void anotherSiteThatAnswersTheSameIsAWitnessUnlessItsBytesAreZero() throws Exception {
        Files.write(source.resolve("noise"), Trees.random(100));
        Files.write(source.resolve("zeros"), new byte[100]);
        register(Map.of());
        Path otherRoot = Files.createDirectory(folder.resolve("second"));
        try (LoopbackSite other = LoopbackSite.openSsh(folder.resolve("sshd2"), otherRoot, 0)) {
            night.get(Sites.class).save("second", other.address(), "test");
            night.complete();
            night.assertComplete(night.run("second"));
            Files.delete(source.resolve("noise"));
            Files.delete(source.resolve("zeros"));

            assertThat(challenges(scrubFirst())).containsExactly("HELD FETCHED", "HELD SITE");
            Trees.flip(otherRoot.resolve("p/E1/data/noise"), 3);
            assertThat(challenges(scrubFirst())).containsExactly("HELD FETCHED");
        }
        Run scrub = scrubFirst();
        night.assertComplete(scrub);
        assertThat(challenges(scrub)).containsExactly("HELD FETCHED");
    }

    /** Scrubs the site {@code dr}, although there is another one. */
    private Run scrubFirst() {
        Run scrub = night.await(night.operations()
                .startScrub(new ScrubRequest("dr", Duration.ofDays(1), true, 0, null, false), "test"));
        night.awaitIdle();
        return scrub;
    }

    @Test
    void answersThatContradictEachOtherAreUnknown() throws Exception {
        safe(Map.of("a", "1"));
        Path once = folder.resolve("once");
        tools.are("""
                if [ $# -eq 0 ] && [ ! -e %1$s ]; then : > %1$s; echo x | real; exit; fi
                real "$@"
                """.formatted(once));

        Run scrub = night.scrub();

        night.assertOnly(scrub, Problem.UNPROVEN, "contradict each other");
        assertThat(night.count("select count(*) from damage")).isZero();
        night.assertComplete(night.scrub());
    }

    @Test
    void answersThatComeTooLateOrNotAtAllAreNoPass() throws Exception {
        safe(Map.of("a", "1", "b", "2"));
        restart("dozo.transfer.patience=1s");
        for (String manner : List.of("exec sleep 60", "exit 1")) {
            tools.are("if [ $# -eq 0 ]; then %s; fi\nreal \"$@\"\n".formatted(manner));

            Run scrub = night.scrub();

            night.assertOnly(
                    scrub,
                    Problem.UNPROVEN,
                    "of 2 random ranges",
                    "the site has 2",
                    manner.length() > 6 ? "did not end within" : "no digest");
            assertThat(challenges(scrub)).containsExactly("UNKNOWN");
            night.awaitIdle();
        }
    }

    @Test
    void whatIsTooMuchToCompareIsCounted() throws Exception {
        try (RandomAccessFile sparse =
                new RandomAccessFile(source.resolve("large").toFile(), "rw")) {
            sparse.setLength(Challenging.BYTES_MIN + 1);
        }
        safe(Map.of("a", "1"));
        Run scrub = night.await(night.operations()
                .startScrub(new ScrubRequest(null, Duration.ofDays(1), false, 0, null, false), "test"));

        assertThat(scrub.state()).isEqualTo(RunState.COMPLETE);
        assertThat(challenges(scrub)).doesNotContain("WRONG HOME");
        assertThat(night.count("select challenges_left from scrub where run_id = " + scrub.id()))
                .isPositive();
    }
}
