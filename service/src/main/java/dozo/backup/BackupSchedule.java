package dozo.backup;

import dozo.alert.Condition;
import dozo.alert.Condition.Kind;
import dozo.alert.Watch;
import dozo.db.ActiveService;
import dozo.start.Given;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Backs up Dozo itself once a day, if that is set. People are told if it fails for two days. */
@Component
class BackupSchedule implements Watch {

    private static final Logger LOG = LoggerFactory.getLogger(BackupSchedule.class);

    private static final Duration EVERY = Duration.ofDays(1);
    private static final Duration LATE = Duration.ofDays(2);

    private final Given given;
    private final BackupSettings settings;
    private final InstantSource clock;
    private final ActiveService active;
    private final AtomicBoolean busy = new AtomicBoolean();

    /** Since when there is no later backup: the time of the newest one, or of the first look if there is none. */
    private volatile @Nullable Instant since;

    BackupSchedule(Given given, BackupSettings settings, InstantSource clock, ActiveService active) {
        this.given = given;
        this.settings = settings;
        this.clock = clock;
        this.active = active;
    }

    /** Begins a backup if it is due. It has its own thread, because a folder of another machine may not answer. */
    @Scheduled(initialDelay = 180_000, fixedDelay = 600_000)
    void look() {
        if (!settings.folder().isEmpty() && active.isHere() && busy.compareAndSet(false, true)) {
            Thread.ofVirtual().name("backup of Dozo").start(this::keepUp);
        }
    }

    private void keepUp() {
        try {
            if (backUpIfDue()) {
                LOG.info("Dozo itself is backed up in {}", settings.folder());
            }
        } catch (IOException | RuntimeException e) {
            LOG.warn("Dozo itself could not be backed up; the next try is in 10 minutes: {}", String.valueOf(e));
        } finally {
            busy.set(false);
        }
    }

    /** Makes a backup if the newest one is a day old, and removes those that are too many. Returns whether it has made one. */
    boolean backUpIfDue() throws IOException {
        Instant now = clock.instant();
        if (since == null) {
            since = now;
        }
        Path folder = Path.of(settings.folder());
        Optional<Instant> newest = KeptBackups.in(folder).newest();
        // One of the future is of a clock that was wrong.
        if (newest.isPresent()
                && !newest.get().isAfter(now)
                && newest.get().plus(EVERY).isAfter(now)) {
            since = newest.get();
            return false;
        }
        var _ = ServiceBackup.make(given, folder, clock);
        since = now;
        KeptBackups.in(folder).removeAllBut(settings.keep());
        return true;
    }

    @Override
    public List<Condition> now() {
        Instant last = since;
        return last != null && last.plus(LATE).isBefore(clock.instant())
                ? List.of(new Condition(Kind.NOT_BACKED_UP, null, null, 1, last.toString()))
                : List.of();
    }
}
