package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.remote.KeyPowers.Power;
import dozo.remote.RemoteException.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A thief who has the service's key loses or changes no stored byte at a hardened site (ADR 0068). Each attack is also
 * made on a plain site, to show that it is one.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(300)
class StolenKeyIT {

    private static final String STORED = "stored bytes";
    private static final String EVIL = "evil";
    private static final int OPEN_APPEND = 0x04;
    private static final int OPEN_TRUNCATE = 0x10;

    private Path temp;
    private LoopbackSite plain;
    private LoopbackSite hardened;
    private Lanes plainLanes;
    private Lanes hardenedLanes;
    private int attacks;

    @BeforeAll
    void startSites(@TempDir Path folder) throws IOException {
        temp = folder.toRealPath();
        plain = LoopbackSite.openSsh(temp.resolve("plain"), temp.resolve("plain-root"), 0);
        hardened = GuardedSite.start(temp.resolve("hardened"), temp.resolve("hardened-root"));
        plainLanes = Lanes.to(plain.address(), 1, 1);
        hardenedLanes = Lanes.to(hardened.address(), 1, 1);
    }

    @AfterAll
    void stopSites() {
        plainLanes.close();
        hardenedLanes.close();
        plain.close();
        hardened.close();
    }

    private interface Harm {
        void on(Victim victim) throws Exception;
    }

    /** An attack, and whether it does harm at a plain site. */
    private record Attack(String name, boolean harmful, Harm harm) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Attack> attacks() {
        return Stream.of(
                        new Attack("delete", true, v -> v.sftp.remove(v.stored)),
                        new Attack("truncate", true, v -> v.open(v.stored, Packet.OPEN_WRITE | OPEN_TRUNCATE)),
                        new Attack("create over it", true, v -> v.open(v.stored, 0x02 | 0x08 | OPEN_TRUNCATE)),
                        new Attack("overwrite in place", true, v -> v.write(v.open(v.stored, Packet.OPEN_WRITE))),
                        new Attack("append", true, v -> v.write(v.open(v.stored, Packet.OPEN_WRITE | OPEN_APPEND))),
                        new Attack("rename over it", false, v -> v.sftp.rename(v.evil, v.stored)),
                        new Attack("posix-rename over it", true, v -> v.sftp.replace(v.evil, v.stored)),
                        new Attack("rename away", true, v -> v.sftp.rename(v.stored, v.free)),
                        new Attack("rename to a temporary name", true, v -> v.sftp.rename(v.stored, v.temporary("x"))),
                        new Attack(
                                "rename to another's versions", true, v -> v.sftp.rename(v.stored, v.version("other"))),
                        new Attack(
                                "rename the bag",
                                true,
                                v -> v.sftp.rename(v.bag, v.bag.parent().resolve("b"))),
                        new Attack("setstat size 0", true, v -> v.sftp.cutOff(v.stored, 0)),
                        new Attack("chmod 000", true, v -> v.sftp.setFacts(v.stored, 0, 0)),
                        new Attack("chmod 000 of the folder", true, v -> v.sftp.setFacts(v.stored.parent(), 0, 0)),
                        new Attack(
                                "lsetstat, mode 000",
                                true,
                                v -> v.status(Packet.extended("lsetstat@openssh.com")
                                        .string(v.sftp.channel().raw(v.stored))
                                        .uint32(Packet.HAS_MODE)
                                        .uint32(0))),
                        new Attack(
                                "fsetstat by a handle for reading",
                                true,
                                v -> v.status(Packet.of(Packet.FSETSTAT)
                                        .string(v.open(v.stored, Packet.OPEN_READ))
                                        .uint32(Packet.HAS_MODE)
                                        .uint32(0))),
                        new Attack("a link in the folder's place", true, v -> {
                            v.sftp.rename(v.stored.parent(), v.free);
                            v.sftp.symlink("/".getBytes(StandardCharsets.US_ASCII), v.stored.parent());
                        }),
                        new Attack("write through a symbolic link", true, v -> {
                            v.sftp.symlink(v.sftp.channel().raw(v.stored), v.temporary("link"));
                            v.write(v.open(v.temporary("link"), Packet.OPEN_WRITE));
                        }),
                        new Attack("delete through a link to the folder", true, v -> {
                            v.sftp.symlink(v.sftp.channel().raw(v.stored.parent()), v.temporary("link"));
                            v.sftp.remove(v.temporary("link").resolve(v.stored.name()));
                        }),
                        new Attack("hard link, then write", true, v -> {
                            v.hardLink(v.stored, v.temporary("hard"));
                            v.write(v.open(v.temporary("hard"), Packet.OPEN_WRITE));
                        }),
                        new Attack("hard link among a copy's temporary files, then write", true, v -> {
                            FilePath hard = v.bag.resolve(".dozo-incoming/hard");
                            v.sftp.mkdirs(hard.parent());
                            v.hardLink(v.stored, hard);
                            v.write(v.open(hard, Packet.OPEN_WRITE));
                        }),
                        new Attack("hard link, then write by its new name", true, v -> {
                            v.hardLink(v.stored, v.free);
                            v.write(v.open(v.free, Packet.OPEN_WRITE));
                        }),
                        new Attack("hard link, then cut by its new name", true, v -> {
                            v.hardLink(v.stored, v.free);
                            v.sftp.cutOff(v.free, 0);
                        }),
                        new Attack("hard link, then chmod 000 by its new name", true, v -> {
                            v.hardLink(v.stored, v.free);
                            v.sftp.setFacts(v.free, 0, 0);
                        }),
                        new Attack("hard link, renamed to a temporary name, then write", true, v -> {
                            v.hardLink(v.stored, v.free);
                            v.sftp.rename(v.free, v.temporary("hard"));
                            v.write(v.open(v.temporary("hard"), Packet.OPEN_WRITE));
                        }),
                        new Attack("hard link, moved to versions, then write", true, v -> {
                            FilePath name = v.stored.parent().resolve("hard");
                            v.hardLink(v.stored, name);
                            v.sftp.rename(name, v.version("hard"));
                            v.write(v.open(v.version("hard"), Packet.OPEN_WRITE));
                        }),
                        new Attack("hard link of a version, then write", true, v -> {
                            v.hardLink(v.version("old"), v.temporary("hard"));
                            v.write(v.open(v.temporary("hard"), Packet.OPEN_WRITE));
                        }),
                        new Attack("hard link of a temporary file to a final name, then write", true, v -> {
                            put(v.sftp, v.temporary("t"), STORED);
                            if (v.hardLink(v.temporary("t"), v.free) == Reply.OK) {
                                v.whole.put(v.free.under(Path.of(v.root)), STORED);
                            }
                            v.write(v.open(v.temporary("t"), Packet.OPEN_WRITE));
                        }),
                        new Attack("hard link to the name under which a handle was opened", true, v -> {
                            put(v.sftp, v.temporary("7"), STORED);
                            byte[] handle = v.open(v.temporary("7"), Packet.OPEN_WRITE);
                            v.sftp.rename(v.temporary("7"), v.free);
                            v.whole.put(v.free.under(Path.of(v.root)), STORED);
                            v.hardLink(v.free, v.temporary("7"));
                            v.write(handle);
                        }),
                        new Attack("hard link over it", false, v -> v.hardLink(v.evil, v.stored)),
                        new Attack("hard link outside of the root, then write", true, v -> {
                            v.status(Packet.extended("hardlink@openssh.com")
                                    .string(v.sftp.channel().raw(v.stored))
                                    .string(v.root + "-outside"));
                            v.write(v.opened(v.root + "-outside"));
                        }),
                        new Attack("write by an old handle", true, v -> v.write(v.handleOfPublished())),
                        new Attack(
                                "cut by an old handle",
                                true,
                                v -> v.status(Packet.of(Packet.FSETSTAT)
                                        .string(v.handleOfPublished())
                                        .length(0))),
                        new Attack(
                                "copy-data into it",
                                true,
                                v -> v.status(Packet.extended("copy-data")
                                        .string(v.open(v.evil, Packet.OPEN_READ))
                                        .uint64(0)
                                        .uint64(0)
                                        .string(v.open(v.stored, Packet.OPEN_WRITE))
                                        .uint64(0))),
                        new Attack(
                                "copy-data by an old handle",
                                true,
                                v -> v.status(Packet.extended("copy-data")
                                        .string(v.open(v.evil, Packet.OPEN_READ))
                                        .uint64(0)
                                        .uint64(0)
                                        .string(v.handleOfPublished())
                                        .uint64(0))),
                        new Attack(
                                "a path with ..",
                                true,
                                v -> v.status(
                                        Packet.of(Packet.REMOVE).string(v.root + "/.dozo/incoming/../../" + v.stored))),
                        new Attack(
                                "a path with empty names and .",
                                true,
                                v -> v.status(Packet.of(Packet.REMOVE).string(v.root + "//./" + v.stored))),
                        new Attack("make a folder where the file is", false, v -> v.sftp.mkdir(v.stored, 0700)),
                        new Attack("use up the names of versions", false, v -> {
                            v.sftp.mkdirs(v.version("x").parent());
                            v.sftp.rename(v.evil, v.version("stored"));
                        }),
                        new Attack("remove folders", false, v -> v.sftp.rmdir(v.stored.parent())),
                        new Attack("rm", true, v -> v.ssh("rm -f '" + v.path() + "'")),
                        new Attack(
                                "a command after the server's name",
                                true,
                                v -> v.ssh("/usr/lib/openssh/sftp-server ; rm -f '" + v.path() + "'")),
                        new Attack(
                                "a command in the server's name",
                                true,
                                v -> v.ssh("$(rm${IFS}-f${IFS}'" + v.path() + "')/sftp-server")),
                        new Attack("an interactive shell", true, v -> v.typed("rm -f '" + v.path() + "'\n")),
                        new Attack("scp", true, v -> v.run("scp", "-O", v.evilHere(), v.login() + ":" + v.path())),
                        new Attack(
                                "scp by SFTP", true, v -> v.run("scp", "-s", v.evilHere(), v.login() + ":" + v.path())),
                        new Attack(
                                "rsync",
                                true,
                                v -> v.run(
                                        "rsync",
                                        "-e",
                                        "ssh " + v.sshOptions(),
                                        "-I",
                                        v.evilHere(),
                                        v.login() + ":" + v.path())))
                .filter(attack -> !attack.name.equals("rsync") || Files.exists(Path.of("/usr/bin/rsync")));
    }

    @ParameterizedTest
    @MethodSource("attacks")
    void noAttackHarmsStoredBytesAtAHardenedSite(Attack attack) throws Exception {
        attacks++;
        assertThat(harms(attack, plain, plainLanes.next()))
                .as("harm at a plain site")
                .isEqualTo(attack.harmful);
        assertThat(harms(attack, hardened, hardenedLanes.next())).isFalse();
    }

    private boolean harms(Attack attack, LoopbackSite site, Lane lane) throws Exception {
        Victim victim = new Victim(site, lane.sftp(), "E" + attacks);
        try {
            attack.harm.on(victim);
        } catch (RemoteException refused) {
            // What counts is whether the bytes are there.
        }
        return !victim.isWhole();
    }

    @Test
    void whatIsMovedToItsVersionsKeepsItsBytesAndIsMovedBackOnlyToItsName() throws Exception {
        Victim victim = new Victim(hardened, hardenedLanes.next().sftp(), "moved");
        victim.sftp.rename(victim.stored, victim.version("stored~2"));

        assertThat(victim.version("stored~2").under(Path.of(victim.root))).hasContent(STORED);
        assertThat(reasonOf(() -> victim.sftp.rename(victim.version("stored~2"), victim.free)))
                .isEqualTo(Reason.PERMISSION_DENIED);
        victim.sftp.rename(victim.version("stored~2"), victim.stored);
        assertThat(victim.isWhole()).isTrue();
    }

    @Test
    void aStoredFileGetsOtherNamesInItsExperimentOnly() throws Exception {
        Victim victim = new Victim(hardened, hardenedLanes.next().sftp(), "linked");
        FilePath other = FilePath.of("p/other/data/x");
        victim.sftp.mkdirs(other.parent());
        victim.sftp.hardLink(victim.stored, victim.free);

        assertThat(Files.getAttribute(victim.free.under(Path.of(victim.root)), "unix:ino"))
                .isEqualTo(Files.getAttribute(victim.stored.under(Path.of(victim.root)), "unix:ino"));
        for (FilePath refused : List.of(
                other, victim.bag.resolve("tag"), victim.version("x"), FilePath.of(".dozo/x"), victim.temporary("x"))) {
            assertThat(reasonOf(() -> victim.sftp.hardLink(victim.stored, refused)))
                    .as(refused.toString())
                    .isEqualTo(Reason.PERMISSION_DENIED);
        }
        assertThat(reasonOf(() -> victim.sftp.hardLink(victim.stored.parent(), victim.bag.resolve("data/folder 2"))))
                .isEqualTo(Reason.PERMISSION_DENIED);
        assertThat(reasonOf(() -> victim.sftp.hardLink(victim.stored, victim.free)))
                .isEqualTo(Reason.EXISTS);
        victim.sftp.rename(victim.free, FilePath.of(".dozo/versions/p/linked/1/data/free"));
        assertThat(victim.isWhole()).isTrue();
    }

    @Test
    void nothingChangesAfterTheRenameWhateverIsDoneAtTheSameTime() throws Exception {
        Victim victim = new Victim(hardened, hardenedLanes.next().sftp(), "race");
        AtomicBoolean over = new AtomicBoolean();
        Map<Path, String> named = new HashMap<>();
        try (Lanes lanes = Lanes.to(hardened.address(), 2, 1);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Lane first = lanes.next();
            List<Lane> others = Stream.of(lanes.next(), lanes.next()).distinct().toList();
            FilePath temporary = victim.temporary("raced");
            for (Lane other : others) {
                threads.submit(() -> disturb(other.sftp(), temporary, over));
            }
            try {
                for (int i = 0; i < 300; i++) {
                    FilePath name = victim.bag.resolve("data/raced" + i);
                    Path path = name.under(Path.of(victim.root));
                    try {
                        put(first.sftp(), temporary, STORED);
                        first.sftp().rename(temporary, name);
                        named.put(path, Files.readString(path));
                    } catch (RemoteException disturbed) {
                        // Temporary files are the thief's, too.
                        var _ = reasonOf(() -> first.sftp().remove(temporary));
                    }
                }
            } finally {
                over.set(true);
            }
        }

        assertThat(named).isNotEmpty();
        for (Map.Entry<Path, String> file : named.entrySet()) {
            assertThat(file.getKey()).hasContent(file.getValue());
        }
    }

    /** Opens, writes and cuts a file as long as it takes, and writes by all handles it ever got. */
    private static boolean disturb(Sftp sftp, FilePath temporary, AtomicBoolean over) throws Exception {
        List<byte[]> handles = new ArrayList<>();
        for (int i = 0; !over.get(); i++) {
            Packet cut = sftp.channel().at(Packet.SETSTAT, temporary).length(i % 3);
            Packet open = sftp.channel()
                    .at(Packet.OPEN, temporary)
                    .uint32(Packet.OPEN_WRITE | (i % 2 == 0 ? OPEN_TRUNCATE : 0))
                    .uint32(0);
            Reply opened = sftp.pipeline().ask(open);
            if (opened.type() == Packet.HANDLE) {
                handles.add(opened.handle());
            }
            for (byte[] handle : handles) {
                sftp.pipeline()
                        .ask(Packet.of(Packet.WRITE).string(handle).uint64(0).string(EVIL + i));
            }
            sftp.pipeline().ask(cut);
            if (handles.size() > 20) {
                for (byte[] handle : handles) {
                    sftp.pipeline().ask(Packet.of(Packet.CLOSE).string(handle));
                }
                handles.clear();
            }
        }
        return true;
    }

    @Test
    void noPortIsForwarded() throws Exception {
        try (ServerSocket inside = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
            CompletableFuture<Boolean> reached = CompletableFuture.supplyAsync(() -> {
                try (Socket socket = inside.accept()) {
                    return socket.isConnected();
                } catch (IOException closed) {
                    return false;
                }
            });
            for (LoopbackSite site : List.of(hardened, plain)) {
                Sftp sftp = (site == plain ? plainLanes : hardenedLanes).next().sftp();
                Victim victim = new Victim(site, sftp, "forwarded");
                victim.run("ssh", "-W", "127.0.0.1:" + inside.getLocalPort(), victim.login());
                assertThat(reached.isDone()).as(site.toString()).isEqualTo(site == plain);
            }
        }
    }

    @Test
    void aCheckSaysWhatAThiefCouldAndLeavesNothingAtAPlainSite() throws Exception {
        SiteCheck check = SiteCheck.of(plainLanes.next());

        assertThat(check.keyPowers()).isEqualTo(new KeyPowers(EnumSet.allOf(Power.class), Set.of()));
        assertThat(Path.of(plain.address().root(), ".dozo/probe")).doesNotExist();
        assertThat(Path.of(plain.address().root(), ".dozo/probe-away")).doesNotExist();
    }

    @Test
    void aCheckSaysWhatAHardenedSiteRefusesAndUsesItsFileAgain() throws Exception {
        for (int i = 0; i < 2; i++) {
            SiteCheck check = SiteCheck.of(hardenedLanes.next());

            assertThat(check.findings()).isEmpty();
            assertThat(check.keyPowers())
                    .isEqualTo(new KeyPowers(
                            EnumSet.of(Power.READ, Power.ADD),
                            EnumSet.of(Power.CHANGE, Power.RENAME, Power.REPLACE, Power.DELETE)));
            assertThat(check.usable()).isTrue();
            assertThat(check.digest().method()).isEqualTo("check-file");
            assertThat(check.syncsAtOnce()).isTrue();
            assertThat(check.namesAreBytes()).isTrue();
            assertThat(Path.of(hardened.address().root(), ".dozo/incoming")).isDirectoryNotContaining("glob:**probe-*");
            try (Stream<Path> left = Files.list(Path.of(hardened.address().root(), ".dozo"))) {
                assertThat(left.map(path -> path.getFileName().toString()).filter(name -> name.startsWith("probe")))
                        .containsExactly("probe");
            }
        }
    }

    /** OpenSSH's own list of refused requests knows no paths: Dozo needs almost all of them for temporary names. */
    @Test
    void openSshsListOfRefusedRequestsProtectsLittle() throws Exception {
        assertThat(powersBehind("internal-sftp -P posix-rename,hardlink,lsetstat,copy-data"))
                .isEqualTo(new KeyPowers(EnumSet.allOf(Power.class), Set.of()));
    }

    @Test
    void whatAServerRefusesAShellStillDoes() throws Exception {
        assertThat(powersBehind("case $SSH_ORIGINAL_COMMAND in internal-sftp) exec /usr/lib/openssh/sftp-server"
                        + " -P remove,posix-rename;; *) exec sh -c \"$SSH_ORIGINAL_COMMAND\";; esac"))
                .isEqualTo(new KeyPowers(EnumSet.allOf(Power.class), Set.of()));
    }

    @Test
    void atASiteWhereNothingCanBeTriedEverythingIsUnknown() throws Exception {
        assertThat(powersBehind("internal-sftp -R")).isEqualTo(KeyPowers.UNKNOWN);
    }

    private KeyPowers powersBehind(String command) throws Exception {
        Path folder = Files.createTempDirectory(temp, "site");
        try (LoopbackSite site = LoopbackSite.openSsh(
                        folder.resolve("state"), folder.resolve("root"), 0, "ForceCommand " + command);
                Lanes lanes = Lanes.to(site.address(), 1, 1)) {
            return SiteCheck.of(lanes.next()).keyPowers();
        }
    }

    private static void put(Sftp sftp, FilePath path, String content) throws Exception {
        try (RemoteFile file = sftp.create(path)) {
            byte[] bytes = content.getBytes(StandardCharsets.US_ASCII);
            file.write(0, bytes, 0, bytes.length);
            file.finish(false);
        }
    }

    private interface Deeds {
        void run() throws Exception;
    }

    private static @Nullable Reason reasonOf(Deeds deeds) throws Exception {
        try {
            deeds.run();
            return null;
        } catch (RemoteException e) {
            return e.reason();
        }
    }

    /** An experiment with stored files, and a file of the thief's. */
    private final class Victim {

        final SiteAddress site;
        final Sftp sftp;
        final String root;
        final String experiment;
        final FilePath bag;
        final FilePath stored;
        final FilePath free;
        final FilePath evil;
        private final Map<Path, String> whole = new HashMap<>();

        Victim(LoopbackSite server, Sftp sftp, String experiment) throws Exception {
            this.site = server.address();
            this.sftp = sftp;
            this.root = site.root();
            this.experiment = experiment;
            this.bag = FilePath.of("p/" + experiment);
            this.stored = bag.resolve("data/folder/stored");
            this.free = bag.resolve("data/free");
            this.evil = temporary("evil");
            keep(stored);
            keep(version("old"));
            sftp.mkdirs(evil.parent());
            Files.writeString(evil.under(Path.of(root)), EVIL);
        }

        private void keep(FilePath file) throws IOException {
            Path path = file.under(Path.of(root));
            Files.createDirectories(path.getParent());
            Files.writeString(path, STORED);
            whole.put(path, STORED);
        }

        FilePath temporary(String name) {
            return FilePath.of(".dozo/incoming/p/" + experiment + "/" + name);
        }

        FilePath version(String name) {
            return FilePath.of(".dozo/versions/p/" + experiment + "/1/data/folder/" + name);
        }

        String path() {
            return root + "/" + stored;
        }

        boolean isWhole() throws IOException {
            for (Map.Entry<Path, String> file : whole.entrySet()) {
                Path path = file.getKey();
                if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)
                        || !Files.getPosixFilePermissions(path).contains(PosixFilePermission.OWNER_READ)
                        || !Files.getPosixFilePermissions(path.getParent()).contains(PosixFilePermission.OWNER_EXECUTE)
                        || !Files.readString(path).equals(file.getValue())) {
                    return false;
                }
            }
            return true;
        }

        int status(Packet request) throws Exception {
            return sftp.pipeline().ask(request).status();
        }

        int hardLink(FilePath file, FilePath name) throws Exception {
            return status(Packet.extended("hardlink@openssh.com")
                    .string(sftp.channel().raw(file))
                    .string(sftp.channel().raw(name)));
        }

        /** Returns a handle for writing to a file anywhere. */
        byte[] opened(String path) throws Exception {
            Reply reply = sftp.pipeline()
                    .ask(Packet.of(Packet.OPEN)
                            .string(path)
                            .uint32(Packet.OPEN_WRITE)
                            .uint32(0));
            sftp.channel().failIfStatus(reply, evil, Deed.OPEN);
            return reply.handle();
        }

        byte[] open(FilePath path, int flags) throws Exception {
            Reply reply = sftp.pipeline()
                    .ask(sftp.channel().at(Packet.OPEN, path).uint32(flags).uint32(0));
            sftp.channel().failIfStatus(reply, path, Deed.OPEN);
            return reply.handle();
        }

        void write(byte[] handle) throws Exception {
            status(Packet.of(Packet.WRITE).string(handle).uint64(0).string(EVIL));
        }

        /** Returns a handle for writing to a file that has got its final name since. */
        byte[] handleOfPublished() throws Exception {
            FilePath temporary = temporary("7");
            put(sftp, temporary, STORED);
            byte[] handle = open(temporary, Packet.OPEN_WRITE);
            sftp.rename(temporary, free);
            whole.put(free.under(Path.of(root)), STORED);
            return handle;
        }

        String evilHere() throws IOException {
            return Files.writeString(temp.resolve("evil"), EVIL).toString();
        }

        String login() {
            return site.user() + "@" + site.host();
        }

        String sshOptions() {
            return "-F none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
                    + " -i " + site.identity() + " -o Port=" + site.port();
        }

        void ssh(String command) throws Exception {
            run("ssh", login(), command);
        }

        void typed(String input) throws Exception {
            run(input, List.of("ssh", login()));
        }

        void run(String... command) throws Exception {
            run("", List.of(command));
        }

        /** Runs a program of the thief's on this machine. */
        private void run(String input, List<String> command) throws Exception {
            List<String> line = new ArrayList<>(command);
            if (!command.getFirst().equals("rsync")) {
                line.addAll(1, List.of(sshOptions().split(" ")));
            }
            Path in = Files.writeString(temp.resolve("typed"), input);
            Process process = new ProcessBuilder(line)
                    .redirectInput(in.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(temp.resolve("said").toFile())
                    .start();
            assertThat(process.waitFor(60, TimeUnit.SECONDS))
                    .as(line.toString())
                    .isTrue();
        }
    }
}
