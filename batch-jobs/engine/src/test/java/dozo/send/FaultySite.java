package dozo.send;

import dozo.db.Program;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channel;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.CopyOption;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.file.virtualfs.VirtualFileSystemFactory;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.common.util.security.SecurityUtils;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.session.ServerSession;
import org.apache.sshd.sftp.SftpModuleProperties;
import org.apache.sshd.sftp.common.SftpConstants;
import org.apache.sshd.sftp.server.FileHandle;
import org.apache.sshd.sftp.server.SftpEventListener;
import org.apache.sshd.sftp.server.SftpFileSystemAccessor;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;
import org.apache.sshd.sftp.server.SftpSubsystemProxy;

/** An SFTP server on loopback with planned disk faults. Tests check afterwards that the fault occurred. */
public final class FaultySite implements AutoCloseable {

    private final SshServer server;
    private final SiteAddress address;
    private final AtomicInteger hits = new AtomicInteger();
    private final Map<String, Integer> requests = new ConcurrentSkipListMap<>();
    private final AtomicInteger left;
    private final Predicate<String> where;

    /** Code to run at a moment that a test chooses. */
    public interface Hook {
        void at(Path file) throws IOException;
    }

    /** Changes the bytes between the end of a file and a write beyond it. */
    public interface Gap {
        void at(Path file, long end, long offset) throws IOException;
    }

    /** Flips one bit of each of the next {@code times} files with a matching name as soon as they are written. */
    public static FaultySite flipping(Path state, Path root, int times, Predicate<String> where) throws Exception {
        return new FaultySite(state, root, times, where, file -> {}, file -> {});
    }

    /**
     * Calls the first hook before it creates a file, and the second before it renames one; their exceptions are faults.
     */
    public static FaultySite hooked(Path state, Path root, Hook making, Hook naming) throws Exception {
        return new FaultySite(state, root, 0, name -> false, making, naming);
    }

    /** Calls this before a write beyond the end of a file; its exceptions are faults. */
    public static FaultySite gapped(Path state, Path root, Gap gap) throws Exception {
        return new FaultySite(state, root, 0, name -> false, file -> {}, file -> {}, gap, file -> {});
    }

    /** Calls this before it opens a file to be read; its exceptions are faults. */
    public static FaultySite reading(Path state, Path root, Hook reading) throws Exception {
        return new FaultySite(
                state, root, 0, name -> false, file -> {}, file -> {}, (file, end, offset) -> {}, reading);
    }

    private FaultySite(Path state, Path root, int times, Predicate<String> where, Hook making, Hook naming)
            throws Exception {
        this(state, root, times, where, making, naming, (file, end, offset) -> {}, file -> {});
    }

    private FaultySite(
            Path state, Path root, int times, Predicate<String> where, Hook making, Hook naming, Gap gap, Hook reading)
            throws Exception {
        this.left = new AtomicInteger(times);
        this.where = where;
        Files.createDirectories(state);
        var hostKey = SecurityUtils.getKeyPairGenerator("EC");
        hostKey.initialize(256);
        var host = hostKey.generateKeyPair();
        Path identity = state.resolve("identity");
        if (!Files.exists(identity)) {
            Program.succeed("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", identity.toString());
        }
        server = SshServer.setUpDefaultServer();
        server.setHost("127.0.0.1");
        server.setKeyPairProvider(KeyPairProvider.wrap(host));
        server.setPublickeyAuthenticator((user, key, session) -> true);
        server.setFileSystemFactory(new VirtualFileSystemFactory(Path.of("/")));
        SftpSubsystemFactory sftp = new SftpSubsystemFactory.Builder()
                .withFileSystemAccessor(new SftpFileSystemAccessor() {
                    @Override
                    public SeekableByteChannel openFile(
                            SftpSubsystemProxy subsystem,
                            FileHandle handle,
                            Path file,
                            String name,
                            Set<? extends OpenOption> options,
                            FileAttribute<?>... attributes)
                            throws IOException {
                        if (options.contains(StandardOpenOption.WRITE)) {
                            making.at(file);
                        } else {
                            reading.at(file);
                        }
                        return SftpFileSystemAccessor.DEFAULT.openFile(
                                subsystem, handle, file, name, options, attributes);
                    }

                    @Override
                    public void renameFile(
                            SftpSubsystemProxy subsystem, Path from, Path to, Collection<CopyOption> options)
                            throws IOException {
                        naming.at(to);
                        SftpFileSystemAccessor.DEFAULT.renameFile(subsystem, from, to, options);
                    }

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
                        if (options.contains(StandardOpenOption.WRITE)) {
                            flipABit(file);
                        }
                    }
                })
                .build();
        sftp.addSftpEventListener(new SftpEventListener() {
            @Override
            public void received(ServerSession session, int type, int id) {
                requests.merge(SftpConstants.getCommandMessageName(type), 1, Integer::sum);
            }

            @Override
            public void writing(
                    ServerSession session,
                    String handle,
                    FileHandle file,
                    long offset,
                    byte[] data,
                    int from,
                    int length)
                    throws IOException {
                long end = Files.size(file.getFile());
                if (offset > end) {
                    hits.incrementAndGet();
                    gap.at(file.getFile(), end, offset);
                }
            }

            @Override
            public void receivedExtension(ServerSession session, String extension, int id) {
                requests.merge(extension, 1, Integer::sum);
            }
        });
        server.setSubsystemFactories(List.of(sftp));
        // See LoopbackSftp: with shorter ones two open files can get the same handle.
        SftpModuleProperties.FILE_HANDLE_SIZE.set(server, 16);
        server.start();
        address = new SiteAddress(
                "127.0.0.1",
                server.getPort(),
                "dozo",
                root.toString(),
                identity,
                PublicKeyEntry.toString(host.getPublic()));
    }

    public SiteAddress address() {
        return address;
    }

    /** Returns the number of requests by type, with the names of SFTP's draft; extensions by their own names. */
    public Map<String, Integer> requests() {
        return requests;
    }

    /** Returns how often the fault occurred. */
    public int hits() {
        return hits.get();
    }

    /** One after the other: two flips of a file that both found it right would cancel out. */
    private synchronized void flipABit(Path file) throws IOException {
        if (!where.test(file.getFileName().toString()) || left.getAndDecrement() <= 0) {
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
