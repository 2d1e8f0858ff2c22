package dozo.api;

import dozo.alert.Outbox;
import dozo.alert.Outbox.Waiting;
import dozo.db.ActiveService;
import dozo.file.Size;
import dozo.file.Zoned;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.ledger.Verification;
import dozo.registry.OwnFolders;
import dozo.registry.Sites.Site;
import dozo.run.Headlines;
import dozo.run.Headlines.Headline;
import dozo.run.Headlines.Kind;
import dozo.run.Notices;
import dozo.run.RunTimes;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Services;
import dozo.run.Services.SeenService;
import dozo.run.Services.ServiceState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** What the service needs, and whether it has it. Nothing is asked that may hang: sites are as the last run found them. */
@RestController
record HealthApi(
        Headlines headlines,
        Services services,
        ActiveService active,
        Runs runs,
        RunTimes runTimes,
        Notices notices,
        Outbox outbox,
        Ledger ledger,
        OwnFolders folders,
        InstantSource clock) {

    private static final long FREE_BYTES_MIN = 1L << 30;

    private static final int RUNS_LOOKED_AT = 100;

    private static final Set<Kind> OF_SITES =
            EnumSet.of(Kind.SITE_KEY_CHANGED, Kind.SITE_FULL, Kind.SITE_UNREACHABLE, Kind.SITE_UNUSABLE);

    /** How something is; the last one is the worst. */
    public enum Standing {
        UP,
        /** Nobody has found out yet. */
        UNKNOWN,
        DOWN
    }

    /**
     * The health of the service.
     *
     * @param state the worst of its parts
     */
    public record ShownHealth(Standing state, List<Part> parts) {}

    /**
     * A part of the health.
     *
     * @param name database, service, run, site and its name, clock, disk, broker, messages or ledger
     * @param message for people
     */
    public record Part(String name, Standing state, String message) {}

    /**
     * Shows the health of the service by its parts. Answers 200 also if something is down; 503 if the database is away, because
     * then nothing else is known.
     */
    @GetMapping("/api/v1/health")
    ShownHealth show() {
        List<Part> parts = new ArrayList<>();
        List<SeenService> seen = services.all();
        parts.add(service(seen));
        // Everything above was read from it.
        parts.add(new Part("database", Standing.UP, "it answers"));
        parts.add(run(seen));
        Set<Integer> used = runs.page(Sight.EVERYTHING, Long.MAX_VALUE, RUNS_LOOKED_AT).stream()
                .filter(each -> !each.goesOn())
                .map(Run::siteId)
                .collect(Collectors.toSet());
        for (Headline headline : headlines.all(Sight.EVERYTHING)) {
            Site site = headline.site();
            if (site != null) {
                parts.add(site(headline, "site " + site.name(), used.contains(site.id())));
            }
        }
        parts.add(checkedClock());
        folders.folders().forEach(folder -> parts.add(disk(folder)));
        parts.add(
                notices.isAway()
                        ? new Part("broker", Standing.DOWN, "it does not answer; workers look from time to time")
                        : new Part("broker", Standing.UP, "it answers, or none is configured"));
        parts.add(messages());
        parts.add(checkedLedger());
        Standing worst =
                parts.stream().map(Part::state).max(Comparator.naturalOrder()).orElse(Standing.UNKNOWN);
        return new ShownHealth(worst, parts);
    }

    private Part service(List<SeenService> seen) {
        List<SeenService> missing = Services.missing(seen);
        String here = active.isHere() ? "this service is active" : "this service stands by";
        return missing.isEmpty()
                ? new Part("service", Standing.UP, here)
                : new Part(
                        "service",
                        Standing.DOWN,
                        "%s, and %s is missing"
                                .formatted(here, missing.getFirst().name()));
    }

    /** A run that nobody works on waits for a service that becomes active. */
    private Part run(List<SeenService> seen) {
        Optional<Run> run = runs.goingOn();
        boolean anybody = active.isHere() || seen.stream().anyMatch(each -> each.state() == ServiceState.ACTIVE);
        return run.map(each -> anybody
                        ? new Part("run", Standing.UP, "run %d is %s".formatted(each.id(), each.state()))
                        : new Part(
                                "run",
                                Standing.DOWN,
                                "run %d waits, because no service is active".formatted(each.id())))
                .orElseGet(() -> new Part("run", Standing.UP, "no run is in progress"));
    }

    private static Part site(Headline headline, String name, boolean used) {
        return headline.kinds().stream()
                .filter(OF_SITES::contains)
                .findFirst()
                .map(kind -> new Part(name, Standing.DOWN, kind.word()))
                .orElseGet(() -> used
                        ? new Part(name, Standing.UP, "the last run could use it")
                        : new Part(name, Standing.UNKNOWN, "no run has used it recently"));
    }

    private Part checkedClock() {
        return runTimes.ahead(clock.instant())
                .map(start -> new Part(
                        "clock",
                        Standing.DOWN,
                        "the last run is recorded as started at %s, in the future: the clock was ahead then, or is behind now; check it"
                                .formatted(Zoned.text(start))))
                .orElseGet(() -> new Part("clock", Standing.UP, "the last run did not start in the future"));
    }

    private static Part disk(Path folder) {
        try {
            long free = Files.getFileStore(folder).getUsableSpace();
            return new Part(
                    "disk",
                    free < FREE_BYTES_MIN ? Standing.DOWN : Standing.UP,
                    "%s are free for the work folder".formatted(Size.text(free)));
        } catch (IOException e) {
            return new Part("disk", Standing.DOWN, "the work folder cannot be read");
        }
    }

    private Part messages() {
        List<Waiting> failing =
                outbox.waiting().stream().filter(each -> each.error() != null).toList();
        return failing.isEmpty()
                ? new Part("messages", Standing.UP, "none waits for a server that failed")
                : new Part(
                        "messages",
                        Standing.DOWN,
                        "%d wait for %s"
                                .formatted(
                                        failing.getFirst().messages(),
                                        failing.getFirst().recipient()));
    }

    private Part checkedLedger() {
        return ledger.lastVerification()
                .map(check -> new Part(
                        "ledger",
                        check.verdict().equals(Verification.BROKEN) ? Standing.DOWN : Standing.UP,
                        "%s when it was verified last, %s%s"
                                .formatted(
                                        check.verdict(),
                                        check.beganAt(),
                                        check.sentence() == null ? "" : ": " + check.sentence())))
                .orElseGet(() -> new Part("ledger", Standing.UNKNOWN, "it was not verified yet"));
    }
}
