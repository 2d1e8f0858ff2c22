package dozo;

import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.ServicesStarted;
import dozo.db.SessionEnd;
import dozo.db.TestDatabase;
import dozo.restore.RestoreQueue;
import dozo.run.Operations;
import dozo.run.Runs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.util.FileSystemUtils;

/** Running services that no test uses now. The next test with the same settings gets one of them, with its first state. */
final class IdleServices {

    /** Each needs some 60 MB. */
    private static final int IDLE_MAX = 4;

    private static final Duration REST_LIMIT = Duration.ofMinutes(1);

    /** Those used last come first. */
    private static final Deque<Shared> IDLE = new ArrayDeque<>();

    private static boolean closes;

    /** A service that tests share one after the other. */
    record Shared(Map<String, String> settings, RunningService service, HikariDataSource database, FirstState first) {

        private void close() {
            service.end();
            database.close();
            try {
                FileSystemUtils.deleteRecursively(service.work());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private IdleServices() {}

    /** Returns a service with these settings that has the state of a first start. */
    static synchronized RunningService take(Map<String, String> settings) {
        Optional<Shared> idle =
                IDLE.stream().filter(each -> each.settings.equals(settings)).findFirst();
        if (idle.isEmpty()) {
            return start(settings);
        }
        Shared shared = idle.get();
        IDLE.remove(shared);
        try {
            if (shared.first.putBack()) {
                // The limits of sites that are gone.
                shared.service.bean(Operations.class).keepHours();
                return shared.service;
            }
            System.out.println("a test has changed the schema of a shared service, which is closed");
        } catch (IOException | DataAccessException e) {
            System.out.println("a shared service cannot have its first state again: " + e);
        }
        shared.close();
        ServicesStarted.allowAnother();
        return start(settings);
    }

    private static RunningService start(Map<String, String> settings) {
        try {
            HikariDataSource database = TestDatabase.lasting();
            Path work = Files.createTempDirectory("dozo-work");
            RunningService service = RunningService.start(work, database, settings);
            service.share(new Shared(settings, service, database, new FirstState(database, work)));
            return service;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Keeps a service for the next test if it comes to rest, otherwise closes it. */
    static synchronized void giveBack(Shared shared) {
        if (!rests(shared.service)) {
            shared.close();
            ServicesStarted.allowAnother();
            return;
        }
        IDLE.push(shared);
        if (IDLE.size() > IDLE_MAX) {
            IDLE.removeLast().close();
        }
        if (!closes) {
            closes = true;
            SessionEnd.close(IdleServices::closeAll);
        }
    }

    private static synchronized void closeAll() {
        while (!IDLE.isEmpty()) {
            IDLE.pop().close();
        }
        closes = false;
    }

    /** Stops runs and restores, as the end of the service would, and returns whether they have ended. */
    private static boolean rests(RunningService service) {
        Operations operations = service.bean(Operations.class);
        JdbcClient jdbc = service.bean(JdbcClient.class);
        if (!service.bean(RestoreQueue.class).isRunning()) {
            // A test has stopped it.
            return false;
        }
        try {
            if (operations.isWorking()) {
                service.bean(Runs.class)
                        .goingOn()
                        .filter(run -> !run.stops())
                        .ifPresent(run -> operations.stop(run.id(), "test"));
            }
            for (long restore : jdbc.sql("select restore_id from restore where ended_at is null")
                    .query(Long.class)
                    .list()) {
                service.bean(RestoreQueue.class).stop(restore, "test");
            }
            await().atMost(REST_LIMIT)
                    .until(() -> !operations.isWorking()
                            && jdbc.sql("select count(*) from restore where ended_at is null")
                                            .query(Integer.class)
                                            .single()
                                    == 0);
            return true;
        } catch (RuntimeException e) {
            System.out.println("a service does not come to rest and is closed: " + e);
            return false;
        }
    }
}
