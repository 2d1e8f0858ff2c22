package dozo.db;

import dozo.db.EmbeddedDatabase.Access;
import java.io.IOException;
import java.nio.file.Path;

/** A server on data of any major version of PostgreSQL whose programs are still in the folder. It is started to be read. */
public final class KeptServer implements AutoCloseable {

    private final Path control;
    private final Path data;
    private final Access owner;

    private KeptServer(Path control, Path data, Access owner) {
        this.control = control;
        this.data = data;
        this.owner = owner;
    }

    /** Starts it. */
    public static KeptServer start(EmbeddedFolder folder, Path data) throws IOException {
        Path control = folder.server(EmbeddedFolder.major(data)).resolve("bin/pg_ctl");
        int port = ServerPort.choose();
        try {
            ServerProcesses.stopLeftBehind(data);
            ServerControl.run(
                    control,
                    data,
                    "start",
                    "-o",
                    "-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories=".formatted(port));
        } catch (InterruptedException e) {
            throw ServerProcesses.interrupted(e);
        } catch (IOException e) {
            throw new IOException("cannot start PostgreSQL on %s: %s".formatted(data, e.getMessage()), e);
        }
        return new KeptServer(control, data, EmbeddedDatabase.owner(folder, port));
    }

    /** Returns how the owner of the schema logs in. */
    public Access owner() {
        return owner;
    }

    /** Stops the server. */
    @Override
    public void close() throws IOException {
        try {
            ServerControl.run(control, data, "stop", "-m", "fast");
        } catch (InterruptedException e) {
            throw ServerProcesses.interrupted(e);
        }
    }
}
