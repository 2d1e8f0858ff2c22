package dozo.transfer;

import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channel;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.file.virtualfs.VirtualFileSystemFactory;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.common.util.security.SecurityUtils;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.sftp.server.FileHandle;
import org.apache.sshd.sftp.server.SftpFileSystemAccessor;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;
import org.apache.sshd.sftp.server.SftpSubsystemProxy;

/** An SFTP server on loopback whose disk goes wrong as planned. A test asks afterwards whether the fault was hit. */
final class FaultySite implements AutoCloseable {

    private final SshServer server;
    private final SiteAddress address;
    private final AtomicInteger hits = new AtomicInteger();
    private final AtomicInteger left;
    private final Predicate<String> where;

    /** Flips one bit of each of the next {@code times} files with a matching name as soon as they are written. */
    static FaultySite flipping(Path state, Path root, int times, Predicate<String> where) throws Exception {
        return new FaultySite(state, root, times, where);
    }

    private FaultySite(Path state, Path root, int times, Predicate<String> where) throws Exception {
        this.left = new AtomicInteger(times);
        this.where = where;
        Files.createDirectories(state);
        var hostKey = SecurityUtils.getKeyPairGenerator("EC");
        hostKey.initialize(256);
        var host = hostKey.generateKeyPair();
        Path identity = state.resolve("identity");
        if (!Files.exists(identity)) {
            Process keygen = new ProcessBuilder(
                            "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", identity.toString())
                    .inheritIO()
                    .start();
            if (keygen.waitFor() != 0) {
                throw new IOException("no key");
            }
        }
        server = SshServer.setUpDefaultServer();
        server.setHost("127.0.0.1");
        server.setKeyPairProvider(KeyPairProvider.wrap(host));
        server.setPublickeyAuthenticator((user, key, session) -> true);
        server.setFileSystemFactory(new VirtualFileSystemFactory(Path.of("/")));
        SftpSubsystemFactory sftp = new SftpSubsystemFactory.Builder()
                .withFileSystemAccessor(new SftpFileSystemAccessor() {
                    @Override
                    public void closeFile(
                            SftpSubsystemProxy subsystem,
                            FileHandle handle,
                            Path file,
                            String name,
                            Channel channel,
                            Set<? extends OpenOption> options)
                            throws IOException {
                        SftpFileSystemAccessor.DEFAULT.closeFile(subsystem, handle, file, name, channel, options);
                        if (options.contains(StandardOpenOption.WRITE)
                                && where.test(file.getFileName().toString())) {
                            flipABit(file);
                        }
                    }
                })
                .build();
        server.setSubsystemFactories(List.of(sftp));
        server.start();
        address = new SiteAddress(
                "127.0.0.1",
                server.getPort(),
                "dozo",
                root.toString(),
                identity,
                PublicKeyEntry.toString(host.getPublic()));
    }

    SiteAddress address() {
        return address;
    }

    /** How often the fault was hit. */
    int hits() {
        return hits.get();
    }

    private void flipABit(Path file) throws IOException {
        if (left.getAndDecrement() <= 0) {
            return;
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer first = ByteBuffer.allocate(1);
            if (channel.read(first, 0) == 1) {
                first.put(0, (byte) (first.get(0) ^ 1)).flip();
                channel.write(first, 0);
                hits.incrementAndGet();
            }
        }
    }

    @Override
    public void close() throws IOException {
        server.stop(true);
    }
}
