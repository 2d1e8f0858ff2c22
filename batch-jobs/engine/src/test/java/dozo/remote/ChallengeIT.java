package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.copy.Trees;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Sites answer challenges by their shell, by the guard, or by sending the bytes; each answer is that of the bytes. */
@Timeout(120)
class ChallengeIT {

    private static final int BLOCK = Challenge.BLOCK_BYTES;
    private static final List<Integer> SIZES = List.of(1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK + 5);
    private static final SecureRandom RANDOM = new SecureRandom();

    @TempDir
    Path temp;

    private Path root;

    /** Right answers by challenge. */
    private final Map<Challenge, Digest> right = new HashMap<>();

    @BeforeEach
    void write() throws Exception {
        root = Files.createDirectory(temp.resolve("root")).toRealPath();
        for (int size : SIZES) {
            byte[] content = Trees.random(size);
            for (String name : List.of("of " + size, "new\nline" + size, "$(touch x)'\"\\" + size)) {
                Files.write(root.resolve(name), content);
                for (long at = 0; at < size; at += BLOCK) {
                    ask(name, content, at);
                }
                ask(name, content, size - 1);
            }
        }
        Files.createSymbolicLink(root.resolve("link"), Path.of("of 1"));
        Files.createDirectory(root.resolve("folder"));
    }

    private void ask(String name, byte[] content, long at) throws Exception {
        Challenge challenge = Challenge.about(FilePath.of(name), Digest.ofContent(content), content.length, at, RANDOM);
        assertThat(at).isBetween(challenge.offset(), challenge.offset() + challenge.length() - 1);
        assertThat(challenge.length()).isGreaterThanOrEqualTo(Math.min(BLOCK, content.length));
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        digest.update("dozo-challenge-1\n%s\n%s\n%d\n%d\n"
                .formatted(challenge.salt(), challenge.object(), challenge.offset(), challenge.length())
                .getBytes(StandardCharsets.US_ASCII));
        digest.update(content, (int) challenge.offset(), (int) challenge.length());
        right.put(challenge, Digest.of(digest.digest()));
    }

    private static Challenge nameless(String file) {
        return Challenge.about(FilePath.of(file), Digest.OF_NOTHING, 7, 0, RANDOM);
    }

    private void assertAnswers(LoopbackSite site, RemoteDigest way, String method) throws Exception {
        try (site;
                Lanes lanes = Lanes.to(site.address(), 1, 1)) {
            List<Challenge> asked = new ArrayList<>(right.keySet());
            asked.addAll(List.of(nameless("not there"), nameless("link"), nameless("folder")));

            assertThat(way.answers(lanes.next(), asked)).isEqualTo(right);
            assertThat(way.answering(lanes.next())).isEqualTo(method);
        }
        assertThat(root.resolve("x")).doesNotExist();
    }

    private LoopbackSite openSsh() throws IOException {
        return LoopbackSite.openSsh(temp.resolve("state"), root, 0);
    }

    @Test
    void byTheShell() throws Exception {
        assertAnswers(openSsh(), ExecDigest.COREUTILS, "exec sha256sum");
    }

    @Test
    void byTheShellWithOpenSsl() throws Exception {
        assertAnswers(openSsh(), ExecDigest.OPENSSL, "exec openssl dgst -sha256 -r");
    }

    @Test
    void byTheGuard() throws Exception {
        assertAnswers(GuardedSite.start(temp.resolve("state"), root), new CheckFileDigest(), "challenge@dozo");
    }

    @Test
    void bySendingTheBytesWhereNothingElseWorks() throws Exception {
        assertAnswers(openSsh(), RemoteDigest.readBack(), "read-back");
    }

    @Test
    void anOlderGuardSendsTheBytes() throws Exception {
        Path older = temp.resolve("older.py");
        Files.writeString(
                older, Files.readString(GuardedSite.script()).replace("b\"challenge@dozo\"", "b\"other@dozo\""));
        assertAnswers(GuardedSite.start(temp.resolve("state"), root, older), new CheckFileDigest(), "read-back");
    }

    @Test
    void theGuardAnswersNothingElse() throws Exception {
        Path lax = temp.resolve("lax.py");
        Files.writeString(lax, Files.readString(GuardedSite.script()));
        try (LoopbackSite site = GuardedSite.start(temp.resolve("state"), root, lax);
                Lanes lanes = Lanes.to(site.address(), 1, 1)) {
            SftpChannel channel = lanes.next().sftp().channel();
            for (List<String> wrong : List.of(
                    List.of("short", Digest.OF_NOTHING.toString()), List.of("a".repeat(64), "b".repeat(63) + "\n"))) {
                Packet request = Packet.extended("challenge@dozo")
                        .string(channel.raw(FilePath.of("of 1")))
                        .string(wrong.getFirst())
                        .string(wrong.getLast())
                        .uint64(0)
                        .uint64(1);
                Reply reply = channel.askPatiently(request, Patience.USUAL.least());
                assertThatThrownBy(() -> channel.failIfStatus(reply, FilePath.of("of 1"), Deed.DIGEST))
                        .hasMessageContaining("the site rejected this");
            }
        }
    }

    @Test
    void anUnreadableRangeHasNoAnswer() throws Exception {
        // A shell of which dd fails after its first block, as on a broken disk.
        LyingTools tools = new LyingTools(temp);
        LyingTools.script(tools.bin().resolve("dd"), """
                PATH=${PATH#*:}
                dd "$@" count=1
                exit 1
                """);
        try (LoopbackSite site = tools.serve(root);
                Lanes lanes = Lanes.to(site.address(), 1, 1)) {
            assertThat(ExecDigest.COREUTILS.answers(lanes.next(), List.copyOf(right.keySet())))
                    .isEmpty();
        }
    }

    @Test
    void aTruncatedFileOrOtherBytesHaveAnotherAnswer() throws Exception {
        byte[] content = Trees.random(3 * BLOCK);
        right.clear();
        ask("of 1", content, BLOCK);
        ask("of " + BLOCK, Arrays.copyOf(content, BLOCK), 0);
        try (LoopbackSite site = openSsh();
                Lanes lanes = Lanes.to(site.address(), 1, 1)) {
            for (RemoteDigest way : List.of(ExecDigest.COREUTILS, RemoteDigest.readBack())) {
                Map<Challenge, Digest> answers = way.answers(lanes.next(), List.copyOf(right.keySet()));
                answers.forEach((challenge, answer) -> assertThat(answer).isNotEqualTo(right.get(challenge)));
            }
        }
    }
}
