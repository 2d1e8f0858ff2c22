package dozo.remote;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Tests whether a tar at a site creates files correctly, with their modes and times, and replaces a link of the same name
 * instead of following it. A failure is not a finding: files are then sent by SFTP.
 */
record TarProbe(Lane lane, Sftp sftp, ProbeFolder folder, Patience patience) {

    private static final int NOISE_BYTES = 65_537;

    /** A file that tar is to create. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Unpacked(String name, byte[] content, int mode, long modifiedSeconds) {}

    boolean works() throws RemoteException, InterruptedException {
        FilePath victim = folder.write(new byte[] {'v'}, new byte[] {1, 2, 3});
        FilePath below = folder.folder("tar");
        sftp.mkdir(below, 0700);
        sftp.symlink("../v".getBytes(StandardCharsets.US_ASCII), below.resolve("link"));
        folder.folder("tar/new");
        List<Unpacked> files = List.of(
                new Unpacked("tar/empty", new byte[0], 0400, 4_000_000_000L),
                new Unpacked("tar/new/odd", ProbeFolder.noise(NOISE_BYTES), 0754, 1_000_000_001L),
                new Unpacked("tar/link", ProbeFolder.noise(1), 0666, 0));
        AtomicInteger right = new AtomicInteger();
        List<Fanout.Try> looks = new ArrayList<>();
        for (Unpacked file : files) {
            FilePath path = folder.file(file.name);
            looks.add(() -> right.addAndGet(isThere(file, path) ? 1 : 0));
        }
        looks.add(() ->
                right.addAndGet(sftp.lstat(victim).map(RemoteFacts::sizeBytes).orElse(0L) == 3 ? 1 : 0));
        try (TarFeed tar = TarFeed.into(lane, folder.path(), patience, () -> {})) {
            for (Unpacked file : files) {
                tar.put(file.name.getBytes(StandardCharsets.US_ASCII), file.content, file.mode, file.modifiedSeconds);
            }
            tar.end();
            Fanout.all(looks);
            return right.get() == looks.size();
        } catch (RemoteException e) {
            if (e.isNoAnswer() && !lane.isOpen()) {
                throw e;
            }
            return false;
        }
    }

    private boolean isThere(Unpacked file, FilePath path) throws RemoteException, InterruptedException {
        boolean meant = sftp.lstat(path)
                .filter(there -> there.kind() == RemoteFacts.Kind.FILE
                        && there.mode() == file.mode
                        && there.modifiedSeconds() == file.modifiedSeconds)
                .isPresent();
        return meant
                && RemoteDigest.readBack()
                        .digests(lane, List.of(path), file.content.length)
                        .equals(Map.of(path, Digest.ofContent(file.content)));
    }
}
