package dozo.record;

import dozo.file.FilePath;
import dozo.file.Spool;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts.Kind;
import dozo.remote.SiteAddress;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/** A site, read by SFTP. */
public final class RecordsAtSite implements RecordFiles, AutoCloseable {

    private final Lanes lanes;

    /** Creates it without opening a connection. */
    public RecordsAtSite(SiteAddress site) {
        this.lanes = Lanes.to(site, 1);
    }

    @Override
    public List<FilePath> in(FilePath folder) throws IOException, InterruptedException {
        List<FilePath> files = new ArrayList<>();
        try {
            lanes.next().sftp().listToKeep(folder, (file, facts) -> {
                if (facts.kind() == Kind.FILE) {
                    files.add(file);
                }
            });
        } catch (RemoteException e) {
            if (e.reason() != Reason.NO_SUCH_FILE) {
                throw e;
            }
        }
        return files;
    }

    /** The file comes whole before any of it is used, into memory or a temporary file. */
    @Override
    public InputStream open(FilePath file) throws IOException, InterruptedException {
        Spool content = lanes.next().sftp().content(file, Long.MAX_VALUE);
        return new FilterInputStream(content.read()) {
            @Override
            public void close() {
                content.close();
            }
        };
    }

    @Override
    public void close() {
        lanes.close();
    }
}
