package dozo.remote;

import dozo.file.FilePath;
import java.security.SecureRandom;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The temporary folder of a site check, and what is written there. Used by the threads of all its tests.
 *
 * @param folders children before parents
 */
record ProbeFolder(Lane lane, Sftp sftp, FilePath path, List<FilePath> files, List<FilePath> folders) {

    private static final SecureRandom RANDOM = new SecureRandom();

    static ProbeFolder in(FilePath parent, Lane lane, Sftp sftp) {
        FilePath path = parent.resolve(SiteCheck.scratchName("probe-"));
        return new ProbeFolder(
                lane, sftp, path, new CopyOnWriteArrayList<>(), new CopyOnWriteArrayList<>(List.of(path)));
    }

    /** Returns the path of a file that will be here. */
    FilePath file(String name) {
        FilePath file = path.resolve(name);
        files.add(file);
        return file;
    }

    /** Returns the path of a folder that will be here. Parents come first. */
    FilePath folder(String name) {
        FilePath folder = path.resolve(name);
        folders.addFirst(folder);
        return folder;
    }

    FilePath write(byte[] name, byte[] content) throws RemoteException, InterruptedException {
        FilePath written = path.resolve(name);
        files.add(written);
        try (RemoteFile file = sftp.create(written)) {
            file.write(0, content, 0, content.length);
            file.finish(true);
        }
        return written;
    }

    /** Returns unpredictable content, so that an earlier answer cannot be right again. */
    static byte[] noise(int bytes) {
        byte[] noise = new byte[bytes];
        new SplittableRandom(RANDOM.nextLong()).nextBytes(noise);
        return noise;
    }

    /** Removes everything. */
    void sweep() throws RemoteException, InterruptedException {
        if (!sftp.removeAll(files, folders)) {
            SiteCheck.removeScratch(lane, path);
        }
    }
}
