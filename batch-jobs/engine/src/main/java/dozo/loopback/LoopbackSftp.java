package dozo.loopback;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.common.util.buffer.ByteArrayBuffer;
import org.apache.sshd.server.channel.ChannelSession;
import org.apache.sshd.server.command.Command;
import org.apache.sshd.sftp.server.SftpFileSystemAccessor;
import org.apache.sshd.sftp.server.SftpSubsystem;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;
import org.apache.sshd.sftp.server.SftpSubsystemProxy;

/**
 * MINA's SFTP server with names as bytes. MINA decodes names as UTF-8 and loses all others; here each byte of a name is
 * one character (ISO 8859-1) inside MINA, and a byte again on the wire and in the file system.
 */
final class LoopbackSftp extends SftpSubsystem {

    /**
     * The length of handles. MINA 2.19.0 numbers handles of its usual 4 bytes, and after an open that failed gives the
     * number of a file that is still open to the next one. Longer handles are random.
     */
    static final int HANDLE_BYTES = 16;

    private static final SftpFileSystemAccessor BYTES = new SftpFileSystemAccessor() {

        @Override
        public Path resolveLocalFilePath(SftpSubsystemProxy subsystem, Path folder, String name) {
            return folder.resolve(FilePath.pathOfText(bytes(name)));
        }

        @Override
        public String resolveLinkTarget(SftpSubsystemProxy subsystem, Path link) throws IOException {
            return text(FilePath.rawText(Files.readSymbolicLink(link)));
        }

        @Override
        public void putRemoteFileName(
                SftpSubsystemProxy subsystem, Path path, Buffer reply, String name, boolean shortName) {
            // MINA uses Path.toString(), which may have lost bytes, only in the answer to REALPATH.
            boolean realPath = path.isAbsolute() && name.equals(path.toString());
            reply.putBytes(realPath ? FilePath.rawBytes(path) : bytes(name));
        }
    };

    /** A request whose strings are read byte by byte. MINA writes the reply into the same buffer. */
    private static final class Request extends ByteArrayBuffer {

        Request(Buffer received) {
            super(received.array(), received.rpos(), received.available());
        }

        @Override
        public String getString() {
            return getString(StandardCharsets.ISO_8859_1);
        }
    }

    private LoopbackSftp(ChannelSession channel, SftpSubsystemFactory factory) {
        super(channel, factory);
    }

    static SftpSubsystemFactory factory() {
        SftpSubsystemFactory factory = new SftpSubsystemFactory() {
            @Override
            public Command createSubsystem(ChannelSession channel) {
                return new LoopbackSftp(channel, this);
            }
        };
        factory.setFileSystemAccessor(BYTES);
        return factory;
    }

    @Override
    protected void process(Buffer received) throws IOException {
        super.process(new Request(received));
    }

    @Override
    protected void createLink(int id, String existing, String link, boolean symbolic) throws IOException {
        Path target = FilePath.pathOfText(bytes(existing));
        getFileSystemAccessor().createLink(this, resolveFile(link), target, symbolic);
    }

    @Override
    protected String getShortName(Path path) {
        return text(FilePath.rawText(path.getFileName() == null ? path : path.getFileName()));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
