package dozo.start;

import dozo.db.EmbeddedDatabase;
import java.io.IOException;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A database for a command that reads or fills all tables: at the configured address, as their owner if the settings name one; or
 * the embedded one, which is started unless a service has done so.
 */
public final class OpenDatabase implements AutoCloseable {

    private final DataSource login;
    private final @Nullable EmbeddedDatabase started;

    private OpenDatabase(DataSource login, @Nullable EmbeddedDatabase started) {
        this.login = login;
        this.started = started;
    }

    /**
     * Opens the database of these settings.
     *
     * @throws StartFailure if a password file is wrong, or the embedded one cannot be started
     */
    public static OpenDatabase of(Settings settings) {
        try {
            Optional<DatabaseLogin> owner = DatabaseLogin.owner(settings.db());
            Optional<DatabaseLogin> login = owner.isPresent() ? owner : DatabaseLogin.beside(settings);
            if (login.isPresent()) {
                return new OpenDatabase(login.get(), null);
            }
            EmbeddedDatabase embedded = start(settings);
            return new OpenDatabase(new DatabaseLogin(embedded.owner()), embedded);
        } catch (IllegalArgumentException e) {
            throw new StartFailure(StartFailure.CONFIGURATION, "the password file " + e.getMessage(), e);
        } catch (IOException e) {
            throw new StartFailure(StartFailure.UNAVAILABLE, String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * Starts the embedded database of these settings.
     *
     * @throws StartFailure if it is in use or of another major version of PostgreSQL, for example
     */
    static EmbeddedDatabase start(Settings settings) {
        try {
            return EmbeddedDatabase.start(settings.embedded());
        } catch (EmbeddedDatabase.OtherMajor e) {
            throw new StartFailure(StartFailure.CONFIGURATION, String.valueOf(e.getMessage()), e);
        } catch (IOException e) {
            throw new StartFailure(StartFailure.UNAVAILABLE, String.valueOf(e.getMessage()), e);
        }
    }

    public DataSource login() {
        return login;
    }

    /** Stops the embedded database if this has started it. */
    @Override
    public void close() throws IOException {
        if (started != null) {
            started.close();
        }
    }
}
