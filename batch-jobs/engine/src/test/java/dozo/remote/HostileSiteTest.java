package dozo.remote;

import static dozo.remote.EvilSite.handle;
import static dozo.remote.EvilSite.names;
import static dozo.remote.EvilSite.status;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.RemoteException.Reason;
import dozo.send.SiteReader;
import dozo.source.Listings;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.common.signature.BuiltinSignatures;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A hostile server is detected: the reason is PROTOCOL, the lane is closed, and none of its answers is used. One that
 * does not answer gets no endless content.
 */
@Timeout(300)
class HostileSiteTest {

    private static final FilePath FILE = FilePath.of("file");

    @TempDir
    Path temp;

    /** Answers the first request after the greeting. */
    @FunctionalInterface
    private interface Answer {
        void to(int id, DataOutputStream out) throws IOException;
    }

    @Test
    void anAnswerToAnotherRequest() throws Exception {
        assertThat(reason((id, out) -> status(out, id + 7, 2), sftp -> sftp.lstat(FILE)))
                .isEqualTo(Reason.PROTOCOL);
    }

    @Test
    void anAnswerLargerThanAnyShouldBe() throws Exception {
        assertThat(reason((id, out) -> out.writeInt(1 << 30), sftp -> sftp.lstat(FILE)))
                .isEqualTo(Reason.PROTOCOL);
    }

    @Test
    void anAnswerShorterThanItSays() throws Exception {
        Answer shortHandle = (id, out) -> {
            out.writeInt(9);
            out.writeByte(Packet.HANDLE);
            out.writeInt(id);
            out.writeInt(1000);
        };
        assertThat(reason(shortHandle, sftp -> sftp.create(FILE))).isEqualTo(Reason.PROTOCOL);
    }

    @Test
    void anAnswerOfAnotherKind() throws Exception {
        Answer handle = (id, out) -> handle(out, id, 4);
        assertThat(reason(handle, sftp -> sftp.lstat(FILE))).isEqualTo(Reason.PROTOCOL);
        assertThat(reason(handle, sftp -> {
                    sftp.remove(FILE);
                    return sftp;
                }))
                .isEqualTo(Reason.PROTOCOL);
    }

    @Test
    void aHandleLargerThanTheProtocolAllows() throws Exception {
        assertThat(reason((id, out) -> handle(out, id, 257), sftp -> sftp.create(FILE)))
                .isEqualTo(Reason.PROTOCOL);
    }

    @Test
    void aNameThatLeadsOutOfItsFolder() throws Exception {
        boolean[] listing = new boolean[1];
        Answer names = (id, out) -> {
            if (!listing[0]) {
                listing[0] = true;
                handle(out, id, 4);
                return;
            }
            names(out, id, List.of("../../etc/passwd"));
        };
        assertThat(reason(names, sftp -> {
                    sftp.list(FilePath.ROOT, (path, facts) -> {
                        throw new AssertionError("took " + path);
                    });
                    return sftp;
                }))
                .isEqualTo(Reason.PROTOCOL);
    }

    @Test
    void aCommandThatPrintsWithoutAnEndIsCutOff() throws Exception {
        AtomicLong printed = new AtomicLong();
        try (EvilSite site = EvilSite.printing(
                        temp, (mark, out, errors) -> EvilSite.withoutEnd(out, new byte[32 << 10], printed));
                Lanes lanes = Lanes.to(site.address(), 1)) {
            Lane lane = lanes.next();

            assertThatThrownBy(() -> ExecDigest.COREUTILS.digests(lane, List.of(FILE), 1))
                    .isInstanceOfSatisfying(
                            RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.PROTOCOL))
                    .hasMessageContaining("printed more than 4231 bytes");

            assertThat(printed.get()).isLessThan(2 * SshLogin.RECEIVE_WINDOW_BYTES);
        }
    }

    @Test
    void anExitStatusThatIsNoNumberIsNoEnd() throws Exception {
        EvilSite.Program odd = (mark, out, errors) ->
                out.write(("\n" + mark + " zero\n" + "x".repeat(10_000)).getBytes(StandardCharsets.US_ASCII));
        try (EvilSite site = EvilSite.printing(temp, odd);
                Lanes lanes = Lanes.to(site.address(), 1)) {
            Lane lane = lanes.next();

            assertThatThrownBy(() -> ExecDigest.COREUTILS.digests(lane, List.of(FILE), 1))
                    .hasMessageContaining("printed more than");

            assertThat(lane.isOpen()).isTrue();
        }
    }

    @Test
    void anArchiveWithAnEndlessNameIsCutOff() throws Exception {
        AtomicLong printed = new AtomicLong();
        TarArchiveEntry header = new TarArchiveEntry("././@LongLink", TarConstants.LF_GNUTYPE_LONGNAME);
        header.setSize(TarConstants.MAXSIZE);
        byte[] block = new byte[TarConstants.DEFAULT_RCDSIZE];
        header.writeEntryHeader(block);
        try (EvilSite site = EvilSite.feeding(temp, block, printed);
                Lanes lanes = Lanes.to(site.address(), 1);
                TarRead archive = new TarRead(lanes.next(), Patience.USUAL, () -> {})) {
            assertThatThrownBy(() -> archive.read(List.of(FILE), 1, (file, sizeBytes, content) -> {
                        throw new AssertionError("took " + file);
                    }))
                    .isInstanceOfSatisfying(
                            RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.PROTOCOL));

            assertThat(printed.get()).isLessThan(2 * SshLogin.RECEIVE_WINDOW_BYTES);
        }
    }

    /** Five at once share one budget, and give it back. */
    @Test
    void endlessListingsAreCutOff() throws Exception {
        AtomicBoolean endless = new AtomicBoolean(true);
        EvilSite.Script script = EvilSite.listing(answer -> endless.get() ? EvilSite.thousandNames(answer) : List.of());
        try (EvilSite site = EvilSite.answering(temp, script);
                Lanes lanes = Lanes.to(site.address(), 5);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Lane lane = lanes.next();
            Callable<?> list = () -> {
                SiteCheck.removeScratch(lane, FILE);
                return lane;
            };

            for (Future<?> each : threads.invokeAll(Collections.nCopies(5, list))) {
                assertThat(each.exceptionNow())
                        .isInstanceOfSatisfying(
                                RemoteException.class,
                                e -> assertThat(e.reason()).isEqualTo(Reason.PROTOCOL));
            }

            endless.set(false);
            assertThatThrownBy(list::call)
                    .isInstanceOfSatisfying(
                            RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.REFUSED));
        }
    }

    @Test
    void aTreeOfEndlessFoldersIsCutOff() throws Exception {
        try (EvilSite site = EvilSite.answering(temp, EvilSite.listing(EvilSite::thousandFolders));
                Lanes lanes = Lanes.to(site.address(), 1)) {
            SiteReader reader = SiteReader.readOnly(lanes, Patience.USUAL);

            assertThatThrownBy(() -> reader.list(FILE, (path, facts) -> {}))
                    .hasMessageContaining("folders at the site wait to be listed");
        }
        try (EvilSite site = EvilSite.answering(temp, EvilSite.listing(EvilSite::thousandFolders));
                Lanes lanes = Lanes.to(site.address(), 1)) {
            SiteReader reader = SiteReader.readOnly(lanes, Patience.USUAL);

            assertThatThrownBy(() -> reader.walk(FILE, new Nowhere()))
                    .hasMessageContaining("folders at the site wait to be listed");
        }
    }

    @Test
    void temporaryFoldersAreNotRemovedHoweverDeepTheyAre() throws Exception {
        try (EvilSite site =
                        EvilSite.answering(temp, EvilSite.listing(n -> n % 2 == 1 ? List.of("below/") : List.of()));
                Lanes lanes = Lanes.to(site.address(), 1)) {
            Lane lane = lanes.next();
            assertThatThrownBy(() -> SiteCheck.removeScratch(lane, FILE))
                    .hasMessageContaining("Dozo did not create the folders in it");
        }
    }

    @Test
    void namesThatNoFileSystemHasAreRefused() throws Exception {
        String tooLong = "x".repeat(Listing.NAME_BYTES_MAX + 1);
        assertThat(reason(EvilSite.listing(_ -> List.of(tooLong)), HostileSiteTest::listed))
                .isEqualTo(Reason.PROTOCOL);
        assertThat(reason(EvilSite.listing(_ -> List.of("yy")), sftp -> {
                    FilePath deep = FilePath.of("x/".repeat(Listing.PATH_BYTES_MAX / 2 - 1) + "x");
                    sftp.list(deep, (path, facts) -> {});
                    return sftp;
                }))
                .isEqualTo(Reason.PROTOCOL);
    }

    @Test
    void aListingWithoutNamesAndWithoutAnEndIsCutOff() throws Exception {
        EvilSite.Script script = (type, id, bytes, out) -> {
            if (type == Packet.READDIR) {
                names(out, id, List.of());
            } else {
                handle(out, id, 4);
            }
        };
        try (EvilSite site = EvilSite.answering(temp, script);
                Lanes lanes = Lanes.to(site.address(), 1)) {
            Lane lane = lanes.next();
            assertThatThrownBy(() -> listed(lane.sftp()))
                    .isInstanceOfSatisfying(
                            RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.PROTOCOL))
                    .hasMessageContaining("have no name");
        }
    }

    @Test
    void aListingThatTakesTooLongIsCutOff() throws Exception {
        try (EvilSite site = EvilSite.answering(temp, EvilSite.listing(_ -> List.of("name")));
                Lanes lanes = Lanes.to(site.address(), 1)) {
            Lane lane = lanes.next();
            assertThatThrownBy(() -> new Listing(FILE, true, Duration.ofMillis(200), Duration.ofMillis(200))
                            .read(lane.sftp().channel(), (path, facts) -> {}))
                    .isInstanceOfSatisfying(
                            RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.STUCK))
                    .hasMessage("the listing of file at the site did not end within PT0.2S");
            assertThat(lane.isOpen()).isTrue();
        }
    }

    @Test
    void aListingThatIsPassedOnAndHasNoEndIsCutOffToo() throws Exception {
        try (EvilSite site = EvilSite.answering(temp, EvilSite.listing(_ -> List.of("name")));
                Lanes lanes = Lanes.to(site.address(), 1)) {
            Lane lane = lanes.next();

            assertThatThrownBy(() -> new Listing(FILE, false, Duration.ofMillis(1), Duration.ofMillis(300))
                            .read(lane.sftp().channel(), (path, facts) -> {}))
                    .isInstanceOfSatisfying(
                            RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.STUCK))
                    .hasMessage("the listing of file at the site did not end within PT0.3S");
        }
    }

    private static final class Nowhere implements Listings, Listings.Listing {

        @Override
        public Listing folder(FilePath folder) {
            return this;
        }

        @Override
        public void problem(FilePath path, Problem problem, String message) {}

        @Override
        public void entry(byte[] name, Facts facts) {}

        @Override
        public void end() {}
    }

    private static Sftp listed(Sftp sftp) throws Exception {
        sftp.list(FILE, (path, facts) -> {});
        return sftp;
    }

    /** OpenSSH's server copies everything that waits for its answers again and again (ADR 0063). */
    @Test
    void aServerThatAcknowledgesNoWriteGetsOnlyAsMuchAsItCanHold() throws Exception {
        byte[] content = new byte[8 << 20];
        Held held = new Held();
        try (EvilSite site = EvilSite.answering(temp, held);
                Lanes lanes = Lanes.to(site.address(), 1)) {
            RemoteFile file = lanes.next().sftp().create(FILE);
            Thread writer = Thread.ofPlatform().start(() -> {
                try {
                    file.write(0, content, 0, content.length);
                } catch (RemoteException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });

            Awaitility.await()
                    .atMost(Duration.ofMinutes(5))
                    .until(() -> held.content() > 0 && writer.getState() == Thread.State.WAITING);
            // What it has let go already may still be on its way.
            Awaitility.await().during(Duration.ofMillis(300)).until(held::content, Predicate.isEqual(held.content()));

            assertThat(held.content())
                    .isGreaterThan(Pipeline.UNANSWERED_BYTES_NEAR / 2)
                    .isLessThan(2 * Pipeline.UNANSWERED_BYTES_NEAR);

            held.answer();
            writer.join();
            file.finish(false);
            assertThat(held.content()).isGreaterThanOrEqualTo(content.length);
        }
    }

    @Test
    void aServerWithNoHostKeyOfAnAcceptedTypeSaysSo() throws Exception {
        try (EvilSite old = EvilSite.answering(temp, (type, id, bytes, out) -> status(out, id, 2));
                Lanes lanes = Lanes.to(old.address(), 1)) {
            old.server()
                    .setKeyPairProvider(KeyPairProvider.wrap(KeyUtils.generateKeyPair(KeyPairProvider.SSH_RSA, 2048)));
            old.server().setSignatureFactories(List.of(BuiltinSignatures.rsa));

            assertThatThrownBy(lanes::next)
                    .isInstanceOfSatisfying(
                            RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.PROTOCOL))
                    .hasMessageContaining("offers no accepted host key type: expected one of ssh-ed25519,")
                    .hasMessageEndingWith(", found ssh-rsa");
        }
    }

    /** The first answer gives the limits. */
    @Test
    void oneSlowFirstAnswerDoesNotMakeASiteTooFarForArchives() throws Exception {
        EvilSite.Script slowFirst = (type, id, bytes, out) -> {
            if ((type & 0xFF) == Packet.EXTENDED) {
                new CompletableFuture<>()
                        .completeOnTimeout(true, 200, TimeUnit.MILLISECONDS)
                        .join();
                out.writeInt(1 + 4 + 4 * 8);
                out.writeByte(Packet.EXTENDED_REPLY);
                out.writeInt(id);
                out.write(new byte[4 * 8]);
            } else {
                status(out, id, 2);
            }
        };
        try (EvilSite far = EvilSite.answering(temp, slowFirst, "limits@openssh.com");
                Lanes lanes = Lanes.to(far.address(), 1)) {
            Lane lane = lanes.next();
            assertThat(lane.sftp().lstat(FILE)).isEmpty();

            assertThat(TarFeed.pays(lane)).isTrue();
        }
    }

    /** No lane is there yet that could be closed as silent. */
    @Test
    void aServerThatDoesNotAnswerTheFirstRequestIsGivenUp() throws Exception {
        try (EvilSite mute = EvilSite.answering(temp, (type, id, bytes, out) -> {}, "limits@openssh.com");
                SshLogin login = SshLogin.at(mute.address(), WriteCheck.NONE)) {
            ClientSession session = login.session();

            assertThatThrownBy(() -> SftpChannel.open(mute.address(), session, Duration.ofSeconds(1)))
                    .isInstanceOfSatisfying(
                            RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.LOST))
                    .hasMessageEndingWith("did not answer within 1 s");
        }
    }

    /** A server that does not answer writes until it is told to. */
    private static final class Held implements EvilSite.Script {

        private final List<Integer> unanswered = new ArrayList<>();
        private long content;
        private @Nullable DataOutputStream out;
        private boolean answers;

        @Override
        public synchronized void on(int type, int id, int bytes, DataOutputStream to) throws IOException {
            out = to;
            if (type == Packet.WRITE) {
                content += bytes;
                if (!answers) {
                    unanswered.add(id);
                    return;
                }
            }
            if (type == Packet.OPEN) {
                handle(to, id, 4);
            } else {
                status(to, id, Reply.OK);
            }
        }

        synchronized long content() {
            return content;
        }

        synchronized void answer() throws IOException {
            answers = true;
            for (int id : unanswered) {
                status(requireNonNull(out), id, Reply.OK);
            }
            requireNonNull(out).flush();
        }
    }

    @FunctionalInterface
    private interface Deed {
        Object on(Sftp sftp) throws Exception;
    }

    private Reason reason(Answer answer, Deed deed) throws Exception {
        return reason((type, id, bytes, out) -> answer.to(id, out), deed);
    }

    private Reason reason(EvilSite.Script script, Deed deed) throws Exception {
        try (EvilSite hostile = EvilSite.answering(temp, script);
                Lanes lanes = Lanes.to(hostile.address(), 1)) {
            Lane lane = lanes.next();
            Callable<?> call = () -> deed.on(lane.sftp());
            try {
                call.call();
            } catch (RemoteException e) {
                assertThat(lane.isOpen()).isFalse();
                return e.reason();
            }
            throw new AssertionError("believed");
        }
    }
}
