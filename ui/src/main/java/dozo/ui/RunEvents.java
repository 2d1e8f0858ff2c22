package dozo.ui;

import dozo.db.LostDatabase;
import dozo.file.Message;
import dozo.ledger.Sight;
import dozo.people.Admission;
import dozo.run.Runs;
import dozo.transfer.TransferUnits.PartitionProgress;
import dozo.ui.PageProblems.NotThere;
import dozo.ui.RunSample.Lane;
import dozo.ui.RunWatch.NoPlace;
import dozo.ui.RunWatch.Viewing;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;

/**
 * Sends the progress of a run as server-sent events. Every viewer has a thread, which waits for the samples of {@link
 * RunWatch}. Every few seconds the thread checks whether its viewer would still be admitted.
 */
@Controller
record RunEvents(Runs runs, RunWatch watch, InstantSource clock, ZoneId zone) {

    /** How long a viewer whose login has expired may still watch. */
    private static final Duration ADMITTED_FOR = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger(RunEvents.class);

    /** Sends events until the run ends. If the stream ends earlier, the browser reconnects. */
    @GetMapping("/runs/{id}/events")
    void events(
            @PathVariable long id,
            Principal viewer,
            Sight sight,
            Admission admission,
            Locale locale,
            HttpServletRequest request,
            HttpServletResponse response)
            throws IOException {
        var run = runs.find(sight, id).orElseThrow(() -> new NotThere("run %d does not exist", id));
        if (!run.goesOn()) {
            begin(response);
            write(response, "ended", "run=" + id);
            return;
        }
        // NB: behind a TLS proxy, this is the address that the proxy reports.
        switch (watch.watch(viewer.getName(), request.getRemoteAddr(), id, sight)) {
            case NoPlace none -> refuse(refused(none), locale, response);
            case Viewing viewing -> follow(id, viewing, locale, admission, response);
        }
    }

    /** Why a viewer may not watch. */
    private record Refused(HttpStatus status, Message why) {}

    private static Refused refused(NoPlace none) {
        return switch (none) {
            case SERVICE ->
                new Refused(
                        HttpStatus.SERVICE_UNAVAILABLE,
                        Message.of("Too many live pages are open. Try again in a minute."));
            case USER ->
                new Refused(
                        HttpStatus.TOO_MANY_REQUESTS,
                        Message.of("You have too many live pages open. Close some and try again in a minute."));
            case ADDRESS ->
                new Refused(
                        HttpStatus.TOO_MANY_REQUESTS,
                        Message.of("Too many live pages are open from your address. Try again in a minute."));
        };
    }

    private static void refuse(Refused refused, Locale locale, HttpServletResponse response) throws IOException {
        response.setStatus(refused.status.value());
        response.setHeader(HttpHeaders.RETRY_AFTER, "60");
        response.setContentType("text/plain");
        response.setCharacterEncoding(StandardCharsets.UTF_8.name());
        response.getWriter().write(Translations.in(locale, refused.why).orElseGet(refused.why::toString));
    }

    private void follow(long id, Viewing viewing, Locale locale, Admission admission, HttpServletResponse response) {
        try {
            begin(response);
            follow(viewing, new Format(zone, locale), admission, response);
        } catch (IOException gone) {
            LOG.debug("a viewer of run {} is gone", id, gone);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            watch.leave(viewing);
        }
    }

    /** Sends the headers at once. While a run is in progress, other requests wait until then (ADR 0058). */
    private static void begin(HttpServletResponse response) throws IOException {
        response.setContentType("text/event-stream");
        response.setCharacterEncoding(StandardCharsets.UTF_8.name());
        // For a proxy in front of the service, which would otherwise buffer the events.
        response.setHeader("X-Accel-Buffering", "no");
        response.flushBuffer();
    }

    private void follow(Viewing viewing, Format format, Admission admission, HttpServletResponse response)
            throws IOException, InterruptedException {
        Instant askAgain = clock.instant().plus(ADMITTED_FOR);
        while (!viewing.isDropped()) {
            RunSample sample = viewing.next(1);
            if (clock.instant().isAfter(askAgain)) {
                try {
                    Optional<Sight> now = admission.now();
                    if (now.isEmpty() || !viewing.sees(now.get())) {
                        return;
                    }
                    askAgain = clock.instant().plus(ADMITTED_FOR);
                } catch (RuntimeException away) {
                    if (!LostDatabase.isBehind(away)) {
                        throw away;
                    }
                    // Shows nothing until it is known again who is admitted: a stream that ended now would not start
                    // again by itself.
                    continue;
                }
            }
            if (sample != null) {
                boolean ended = !sample.run().goesOn();
                write(response, ended ? "ended" : "sample", lines(sample, format));
                if (ended) {
                    return;
                }
            }
        }
    }

    /** Writes an event. NB: a writer hides that the client is gone until it is asked for errors. */
    private static void write(HttpServletResponse response, String event, String lines) throws IOException {
        PrintWriter writer = response.getWriter();
        writer.write("event: %s\n%s\n\n"
                .formatted(event, lines.lines().map(line -> "data: " + line).collect(Collectors.joining("\n"))));
        if (writer.checkError()) {
            throw new IOException("the viewer has disconnected");
        }
    }

    /** Returns a name and a value a line, formatted for the page. The last ones are for the chart and the bars. */
    private String lines(RunSample sample, Format format) {
        RunSample.Rate rate = sample.rate();
        return """
                state=%s
                bytes=%s
                of-bytes=%s
                units=%s
                of-units=%s
                failed=%d
                entries=%s
                findings=%s
                share=%d
                share-moved=%d
                bytes-moved=%s
                lanes=%s
                limit=%s
                byte-rate=%s
                entry-rate=%s
                left=%s
                partitions-done=%s
                of-partitions=%s
                time=%s
                chart=%s
                partition-rows=%s
                lane-rows=%s
                """.formatted(
                        sample.run().state(),
                        format.size(sample.bytesDone()),
                        format.size(sample.bytes()),
                        format.number(sample.unitsDone()),
                        format.number(sample.units()),
                        sample.unitsFailed(),
                        format.number(sample.entriesDone()),
                        format.counted(sample.run().findings()),
                        sample.share(),
                        sample.shareMoved(),
                        format.size(sample.bytesMoved()),
                        sample.lanes() == null ? "–" : sample.lanes().size(),
                        sample.limit() == null ? "" : sample.limit(),
                        rate == null ? "–" : format.rate(rate.bytesPerSecond()),
                        rate == null ? "–" : format.perSecond(rate.entriesPerSecond()),
                        left(sample, format),
                        format.number(sample.partitionsDone()),
                        format.number(sample.partitions().size()),
                        format.clock(clock.instant()),
                        chart(rate),
                        rows(sample.unfinished(), each -> partition(sample, each)),
                        rows(sample.lanes() == null ? List.of() : sample.lanes(), each -> lane(sample, each, format)));
    }

    static String left(RunSample sample, Format format) {
        return sample.left()
                .map(left -> format.duration(Instant.EPOCH, Instant.EPOCH.plus(left)))
                .orElse("–");
    }

    private static String chart(RunSample.@Nullable Rate rate) {
        return rate == null
                ? ""
                : String.format(Locale.ROOT, "%.3f %.1f", rate.bytesPerSecond() / 1_000_000, rate.entriesPerSecond());
    }

    private static <T> String rows(List<T> all, Function<T, String> row) {
        return all.stream().map(row).collect(Collectors.joining(";"));
    }

    /** Returns a row: its number, its bar in percent, and the other cells. */
    private static String partition(RunSample sample, PartitionProgress of) {
        return "%d:%d:%d / %d:%d"
                .formatted(of.number(), sample.shareOf(of), of.unitsDone(), of.units(), of.unitsFailed());
    }

    private static String lane(RunSample sample, Lane of, Format format) {
        Double rate = of.bytesPerSecond();
        return "%d:%d:%s:%s"
                .formatted(
                        of.number(),
                        sample.shareOf(of),
                        rate == null ? "–" : format.rate(rate),
                        format.size(of.bytes()));
    }
}
