package dozo.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.remote.Lanes;
import dozo.remote.LyingTools;
import dozo.remote.SiteAddress;
import dozo.remote.Unreadable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.sshd.sftp.server.FileHandle;
import org.apache.sshd.sftp.server.SftpFileSystemAccessor;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;
import org.apache.sshd.sftp.server.SftpSubsystemProxy;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a comparison says of files that cannot be read, or do not stay as they are. */
class ComparisonIT extends CopyTest {

    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final Options COMPARING = lanes(2).comparingOnly();

    private Path here;
    private Path there;

    @BeforeEach
    void makeBoth() throws IOException {
        here = Files.createDirectory(folder.resolve("here"));
        there = Files.createDirectory(root.resolve("there"));
        for (Path side : List.of(here, there)) {
            Files.writeString(side.resolve("same"), "same");
            Files.writeString(side.resolve("other"), side.toString());
        }
    }

    @Test
    void whatCannotBeReadHereIsUnreadable() throws Exception {
        try (LoopbackSite site = openSsh();
                AutoCloseable _ = Unreadable.make(here.resolve("same"))) {
            assertThat(run(to(site)).entriesVerified()).as("the folder").isEqualTo(1);
            assertFindings("same UNREADABLE", "other MISMATCHED");
        }
    }

    @Test
    void whatCannotBeReadAtTheSiteIsUnproven() throws Exception {
        try (LoopbackSite site = openSsh();
                AutoCloseable _ = Unreadable.make(there.resolve("same"))) {
            run(from(site));
            assertFindings("same UNPROVEN", "other MISMATCHED");
        }
    }

    @Test
    void whatCannotBeLookedAtIsUnreadable() throws Exception {
        try (LoopbackSite site = closing("same", new AtomicBoolean(true))) {
            run(to(site));
        }
        assertFindings("same UNREADABLE", "other MISMATCHED");
        assertThat(findings)
                .anySatisfy(finding -> assertThat(finding.message()).contains("cannot be read at the site: "));
    }

    @Test
    void whatIsClosedMeanwhileHasChanged() throws Exception {
        try (LoopbackSite site = closing("other", new AtomicBoolean())) {
            assertThat(run(to(site)).entriesVerified()).isEqualTo(2);
        }
        assertFindings("other CHANGED");
    }

    @Test
    void whatChangesMeanwhileHasChanged() throws Exception {
        Files.writeString(here.resolve("gone"), "here");
        Files.writeString(there.resolve("gone"), "there");
        LyingTools tools = new LyingTools(folder);
        Path openssl = Files.writeString(folder.resolve("bin/openssl"), """
                #!/bin/sh
                shift 3
                sha256sum "$@"
                case "$*" in
                *./other*) cd %s && echo more >> other && rm -f gone ;;
                esac
                """.formatted(there));
        Files.setPosixFilePermissions(openssl, PosixFilePermissions.fromString("rwxr-xr-x"));
        try (LoopbackSite site = tools.serve(root)) {
            run(to(site));
        }
        assertFindings("other CHANGED", "gone CHANGED");
    }

    @Test
    void aSiteWithoutCommandsIsReadBack() throws Exception {
        try (LoopbackSite site = LoopbackSite.embedded(folder.resolve("sshd"), root, 0)) {
            assertThat(run(to(site)).bytesVerified()).isEqualTo(4);
            assertFindings("other MISMATCHED");
            findings.clear();
            assertThat(run(from(site)).bytesVerified()).isEqualTo(4);
            assertFindings("other MISMATCHED");
        }
    }

    @Test
    void whatIsGoneFromTheSourceHasVanished() throws Exception {
        for (boolean toSite : List.of(true, false)) {
            Tally tally = new Tally(Copy.Proofs.NONE);
            tally.tell(findings::add);
            FilePath gone = FilePath.of("gone");
            try (LoopbackSite site = openSsh();
                    Lanes lanes = Lanes.to(site.address(), 1);
                    Comparison comparison = new Comparison(lanes, toSite, tally)) {
                comparison.add(new Comparison.Pair(gone, gone, here.resolve("gone"), gone, 0));
                comparison.end();
            }
        }
        assertFindings("gone VANISHED", "gone VANISHED");
    }

    @Test
    void anInterruptedReadIsNoFinding() throws Exception {
        try (RandomAccessFile endless =
                new RandomAccessFile(here.resolve("same").toFile(), "rw")) {
            endless.setLength(1L << 40);
        }
        FutureTask<Progress> run;
        try (LoopbackSite site = openSsh();
                Copy comparison = to(site)) {
            run = new FutureTask<>(() -> comparison.run(findings::add));
            Thread thread = Thread.ofPlatform().start(run);
            await().atMost(LIMIT).until(() -> isOpenHere(here.resolve("same")));
            thread.interrupt();
            assertThat(thread.join(LIMIT)).isTrue();
        }
        assertThatThrownBy(run::get).hasCauseInstanceOf(InterruptedException.class);
        // Another unit, with the other files, may have been compared before.
        assertThat(findings).extracting(Copy.Finding::path).doesNotContain(FilePath.of("same"));
    }

    private static boolean isOpenHere(Path file) throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.anyMatch(each -> {
                try {
                    return Files.readSymbolicLink(each).equals(file);
                } catch (IOException closed) {
                    return false;
                }
            });
        }
    }

    private Copy to(LoopbackSite site) {
        return new CopyToSite(site.address(), List.of(here), FilePath.of("there"), false, COMPARING);
    }

    private Copy from(LoopbackSite site) {
        SiteAddress address = site.address();
        return new CopyFromSite(address, List.of(FilePath.of("there")), here, false, COMPARING);
    }

    /** Starts a server that closes the file of this name once it was opened, or is closed already. */
    private LoopbackSite closing(String name, AtomicBoolean closed) throws IOException {
        SftpSubsystemFactory factory = new SftpSubsystemFactory();
        factory.setFileSystemAccessor(new SftpFileSystemAccessor() {
            @Override
            public Path resolveLocalFilePath(SftpSubsystemProxy subsystem, Path root, String path) throws IOException {
                if (closed.get() && path.endsWith("/" + name)) {
                    throw new AccessDeniedException(path);
                }
                return SftpFileSystemAccessor.super.resolveLocalFilePath(subsystem, root, path);
            }

            @Override
            public SeekableByteChannel openFile(
                    SftpSubsystemProxy subsystem,
                    FileHandle handle,
                    Path file,
                    String text,
                    Set<? extends OpenOption> options,
                    FileAttribute<?>... attributes)
                    throws IOException {
                closed.compareAndSet(false, file.endsWith(name));
                return SftpFileSystemAccessor.super.openFile(subsystem, handle, file, text, options, attributes);
            }
        });
        return LoopbackSite.embedded(folder.resolve("sshd"), root, 0, factory);
    }
}
