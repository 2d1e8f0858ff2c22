package dozo.loopback;

import java.io.IOException;
import java.nio.file.CopyOption;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.text.Normalizer;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.sftp.server.SftpFileSystemAccessor;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;
import org.apache.sshd.sftp.server.SftpSubsystemProxy;

/**
 * A site whose file system takes names that differ only in case or in Unicode normal form for one, and keeps the first,
 * as APFS, NTFS and SMB do; like NTFS it also ignores a full stop at the end. It has no commands, so its files are also read through {@link #there}.
 */
public final class FoldingSite {

    private FoldingSite() {}

    public static LoopbackSite start(Path state, Path root) throws IOException {
        SftpSubsystemFactory factory = LoopbackSftp.factory();
        SftpFileSystemAccessor bytes = factory.getFileSystemAccessor();
        factory.setFileSystemAccessor(new SftpFileSystemAccessor() {
            @Override
            public Path resolveLocalFilePath(SftpSubsystemProxy subsystem, Path folder, String name)
                    throws IOException {
                return there(bytes.resolveLocalFilePath(subsystem, folder, name));
            }

            // What another request has created since the path was resolved has the name.
            @Override
            public synchronized void createDirectory(SftpSubsystemProxy subsystem, Path path) throws IOException {
                bytes.createDirectory(subsystem, there(path));
            }

            @Override
            public synchronized void renameFile(
                    SftpSubsystemProxy subsystem, Path from, Path to, Collection<CopyOption> options)
                    throws IOException {
                bytes.renameFile(subsystem, from, there(to), options);
            }

            @Override
            public synchronized void createLink(
                    SftpSubsystemProxy subsystem, Path link, Path existing, boolean symbolic) throws IOException {
                bytes.createLink(subsystem, there(link), existing, symbolic);
            }

            @Override
            public String resolveLinkTarget(SftpSubsystemProxy subsystem, Path link) throws IOException {
                return bytes.resolveLinkTarget(subsystem, link);
            }

            @Override
            public void putRemoteFileName(
                    SftpSubsystemProxy subsystem, Path path, Buffer reply, String name, boolean shortName)
                    throws IOException {
                bytes.putRemoteFileName(subsystem, path, reply, name, shortName);
            }
        });
        return LoopbackSite.embedded(state, root, 0, factory);
    }

    /** Returns the path that the file system takes this one for. */
    public static Path there(Path path) throws IOException {
        Path parent = path.getParent();
        if (parent == null || Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return path;
        }
        Path folder = there(parent);
        if (!Files.isDirectory(folder)) {
            return folder.resolve(path.getFileName());
        }
        String wanted = folded(path);
        try (Stream<Path> names = Files.list(folder)) {
            List<Path> same =
                    names.filter(each -> folded(each).equals(wanted)).limit(1).toList();
            return same.isEmpty() ? folder.resolve(path.getFileName()) : same.getFirst();
        }
    }

    private static String folded(Path path) {
        return Normalizer.normalize(path.getFileName().toString(), Normalizer.Form.NFC)
                .toLowerCase(Locale.ROOT)
                .replaceFirst("\\.$", "");
    }
}
