package dozo.witness;

import dozo.alert.Condition;
import dozo.alert.Condition.Kind;
import dozo.alert.Watch;
import dozo.certificate.Checkpoints;
import dozo.certificate.Checkpoints.Made;
import dozo.certificate.TrustedLogs;
import dozo.certificate.Witnesses;
import dozo.certificate.Witnesses.Witness;
import dozo.db.ActiveService;
import dozo.file.Digest;
import dozo.source.delivery.Connections;
import dozo.source.delivery.Connections.Request;
import dozo.source.delivery.Limits;
import dozo.source.delivery.Pause;
import dozo.source.delivery.Upload;
import dozo.start.WitnessSettings;
import jakarta.annotation.PreDestroy;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Asks every witness to cosign the last checkpoint, every 10 minutes until it has. No run waits for a witness; people are told if one
 * is late for too long, or contradicts the ledger.
 */
@Component
public class WitnessSchedule implements Watch {

    private static final Logger LOG = LoggerFactory.getLogger(WitnessSchedule.class);

    private static final Limits LIMITS = new Limits(
            Duration.ofSeconds(10),
            Duration.ofSeconds(20),
            Duration.ofSeconds(20),
            1,
            Duration.ofSeconds(1),
            Duration.ofSeconds(1));

    private static final int ANSWER_BYTES_MAX = 16 << 10;

    /** The first request may not know the size that the witness has; another process may ask meanwhile. */
    private static final int TRIES = 3;

    private final Checkpoints checkpoints;
    private final Witnesses witnesses;
    private final TrustedLogs logs;
    private final WitnessSettings settings;
    private final ActiveService active;
    private final Connections http;
    private final AtomicBoolean busy = new AtomicBoolean();

    private record Answered(int status, String body) {}

    WitnessSchedule(
            Checkpoints checkpoints,
            Witnesses witnesses,
            TrustedLogs logs,
            WitnessSettings settings,
            ActiveService active,
            InstantSource clock) {
        this.checkpoints = checkpoints;
        this.witnesses = witnesses;
        this.logs = logs;
        this.settings = settings;
        this.active = active;
        this.http = new Connections(LIMITS, Pause.REAL, clock);
    }

    @PreDestroy
    void close() {
        http.close();
    }

    /** Asks on a thread of its own, because a witness that does not answer takes its time. */
    @Scheduled(initialDelay = 240_000, fixedDelay = 600_000)
    void look() {
        if (active.isHere() && busy.compareAndSet(false, true)) {
            Thread.ofVirtual().name("ask witnesses").start(() -> {
                try {
                    askAll();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                } catch (RuntimeException e) {
                    LOG.warn("the witnesses could not be asked; the next try is in 10 minutes: {}", e.getMessage());
                } finally {
                    busy.set(false);
                }
            });
        }
    }

    /** Asks every witness that has not cosigned the last checkpoint. */
    public void askAll() throws InterruptedException {
        Made made = checkpoints.latest().orElse(null);
        if (made == null) {
            return;
        }
        for (Witness witness : witnesses.all()) {
            if (witness.sizeOf(made.origin()) != made.size()) {
                ask(witness, made);
            }
        }
    }

    private void ask(Witness witness, Made made) throws InterruptedException {
        try {
            long old = witness.sizeOf(made.origin());
            for (int tried = 1; ; tried++) {
                Answered answer = add(witness, made, Math.min(old, made.size()));
                Long has = answer.status == 409 ? size(answer.body) : null;
                if (answer.status == 200) {
                    if (!witnesses.keep(witness, made, answer.body)) {
                        witnesses.late(witness, "its answer has no cosignature by its key");
                    }
                    return;
                }
                if (has == null || has > made.size() || tried == TRIES) {
                    judge(witness, made, answer);
                    return;
                }
                old = has;
            }
        } catch (IOException | IllegalStateException e) {
            // NB: a ledger that lacks rows of its own tree is what its verification finds.
            witnesses.late(witness, String.valueOf(e.getMessage()));
        }
    }

    private void judge(Witness witness, Made made, Answered answer) throws IOException, InterruptedException {
        String why = "HTTP %d".formatted(answer.status);
        if (answer.status != 409 && answer.status != 422) {
            witnesses.late(witness, why);
            return;
        }
        Answered shown = send(witness, "/%s/checkpoint".formatted(Digest.ofText(made.origin())), null);
        if (witnesses.refused(witness, made, why, shown.status == 200 ? shown.body : "")) {
            LOG.error(
                    "witness {} has seen another ledger than this one: run dozo ledger verify; after a restore of an older database, dozo checkpoint declare",
                    witness.name());
        }
    }

    private Answered add(Witness witness, Made made, long old) throws IOException, InterruptedException {
        List<String> lines = new ArrayList<>(List.of("old " + old));
        lines.addAll(checkpoints.consistency(old, made.size()));
        return send(witness, "/add-checkpoint", String.join("\n", lines) + "\n\n" + made.note());
    }

    private Answered send(Witness witness, String path, @Nullable String body)
            throws IOException, InterruptedException {
        Request request = new Request(
                "witness " + witness.name(),
                URI.create(witness.address() + path),
                Map.of(),
                body == null ? null : Upload.of(body));
        return http.exchange(
                request,
                answer -> new Answered(
                        answer.status(),
                        new String(answer.body(ANSWER_BYTES_MAX).readAllBytes(), StandardCharsets.UTF_8)));
    }

    private static @Nullable Long size(String body) {
        return body.matches("(0|[1-9][0-9]{0,17})\n") ? Long.valueOf(body.strip()) : null;
    }

    @Override
    public List<Condition> now() {
        List<Condition> now = new ArrayList<>();
        add(now, Kind.WITNESS_REFUSED, witnesses.contradicting(), logs.contradicting());
        add(now, Kind.WITNESS_LATE, witnesses.late(settings.late()), logs.late(settings.late()));
        return now;
    }

    private static void add(List<Condition> now, Kind kind, List<String> asked, List<String> trusted) {
        List<String> names = Stream.concat(asked.stream(), trusted.stream()).toList();
        if (!names.isEmpty()) {
            now.add(new Condition(kind, null, null, names.size(), names.getFirst() + (names.size() > 1 ? ", …" : "")));
        }
    }
}
