package dozo.certificate;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.ledger.Ledger;
import dozo.ledger.Merkle;
import dozo.ledger.Rows;
import dozo.registry.Refusal;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The logs of others that this Dozo is a witness for (C2SP tlog-witness). It cosigns a checkpoint only if its tree contains all that it
 * cosigned before of the same log, and keeps a signed one that does not, as evidence.
 */
@Component
public class TrustedLogs {

    /** The longest request: 63 hashes, and a checkpoint with its signatures. */
    public static final int REQUEST_BYTES_MAX = 16 << 10;

    private static final int PROOF_LINES_MAX = 63;
    private static final int EVIDENCE_MAX = 1_000;
    private static final Pattern OLD = Pattern.compile("old (0|[1-9][0-9]{0,17})");

    /** What follows the name of a log that its owner has declared anew. */
    private static final String NUMBER = "/[0-9]{14}";

    private final JdbcClient jdbc;
    private final TransactionTemplate transaction;
    private final Ledger ledger;
    private final Checkpoints own;

    /**
     * A log that this Dozo is a witness for.
     *
     * @param active whether it is cosigned
     * @param last the name of the log by now: its owner may have declared a new one; missing: nothing was cosigned yet
     * @param size the rows in the last cosigned checkpoint
     * @param refused the number of signed checkpoints that contradict what was cosigned, since the log was trusted; without those
     * that were cosigned later
     */
    public record TrustedLog(
            String origin,
            String vkey,
            Instant trustedAt,
            boolean active,
            @Nullable String last,
            @Nullable Long size,
            @Nullable Instant cosignedAt,
            long refused) {}

    /**
     * An answer of the witness protocol.
     *
     * @param status of HTTP
     */
    public record Answer(int status, String type, String body) {

        private static final String TEXT = "text/plain; charset=utf-8";

        static Answer refused(int status, String why) {
            return new Answer(status, TEXT, why + "\n");
        }

        static Answer text(String body) {
            return new Answer(200, TEXT, body);
        }
    }

    /** A request to cosign. */
    private record Asked(long old, List<byte[]> proof, SignedNote note, Checkpoint checkpoint) {

        static Optional<Asked> of(String body) {
            int end = body.indexOf("\n\n");
            if (end < 0) {
                return Optional.empty();
            }
            List<String> lines = List.of(body.substring(0, end).split("\n", -1));
            var old = OLD.matcher(lines.getFirst());
            List<byte[]> proof = new ArrayList<>();
            lines.stream().skip(1).forEach(line -> Checkpoint.hash(line).ifPresent(proof::add));
            Optional<SignedNote> note = SignedNote.of(body.substring(end + 2));
            Optional<Checkpoint> checkpoint = note.flatMap(read -> Checkpoint.of(read.text()));
            return old.matches()
                            && lines.size() <= 1 + PROOF_LINES_MAX
                            && proof.size() == lines.size() - 1
                            && checkpoint.isPresent()
                    ? Optional.of(new Asked(Long.parseLong(old.group(1)), proof, note.get(), checkpoint.get()))
                    : Optional.empty();
        }
    }

    private record Trusted(String origin, String vkey) {}

    /** The last checkpoint that was cosigned. */
    private record Last(long size, Digest root) {}

    public TrustedLogs(JdbcClient jdbc, TransactionTemplate transaction, Ledger ledger, Checkpoints own) {
        this.jdbc = jdbc;
        this.transaction = transaction;
        this.ledger = ledger;
        this.own = own;
    }

    public List<TrustedLog> all() {
        return jdbc.sql("""
                        select t.origin, t.vkey, t.trusted_at, t.active, c.origin as last, c.size, c.cosigned_at,
                               (select count(*) from refused_checkpoint r
                                where r.log = t.origin and r.refused_at > t.trusted_at
                                  and not exists (select from cosigned_checkpoint o
                                                  where o.origin = r.origin and o.size = r.size and o.root = r.root)) as refused
                        from trusted_log t
                        left join lateral (select * from cosigned_checkpoint where log = t.origin
                                           order by cosigned_at desc, size desc limit 1) c on true
                        order by t.origin
                        """).query(Rows.of(TrustedLog.class)).list();
    }

    /**
     * Has this Dozo be a witness for a log, also for later ones of the same owner: the same key, and the name with a number after it. If
     * it is trusted already, what was refused so far counts as settled; what was cosigned stays known.
     *
     * @param origin the log's name; empty: that of the key
     * @throws Refusal if the key has the wrong form
     */
    @Transactional
    public void trust(String origin, String vkey, String actor) {
        NoteKey key = NoteKey.of(vkey, NoteKey.LOG)
                .orElseThrow(() ->
                        new Refusal("vkey", "expected the verifier key of an Ed25519 log, as NAME+12345678+BASE64"));
        String name = origin.isEmpty() ? key.name() : origin;
        if (!name.matches("[!-*,-~]{1,200}")) {
            throw new Refusal("origin", "expected a name of at most 200 visible ASCII characters without +");
        }
        jdbc.sql("""
                        insert into trusted_log (origin, vkey, trusted_at, active) values (:origin, :vkey, :at, true)
                        on conflict (origin) do update set vkey = excluded.vkey, trusted_at = excluded.trusted_at, active = true
                        """)
                .params(Map.of("origin", name, "vkey", vkey, "at", Timestamp.from(ledger.now())))
                .update();
        // The name of this Dozo as a witness is fixed from now on.
        own.origin();
        ledger.append(actor, "log.trusted", name, Map.of("vkey", vkey));
    }

    /** Ends being a witness for a log. Returns whether it was one. */
    @Transactional
    public boolean distrust(String origin, String actor) {
        boolean was = jdbc.sql("update trusted_log set active = false where origin = :origin and active")
                        .param("origin", origin)
                        .update()
                == 1;
        if (was) {
            ledger.append(actor, "log.distrusted", origin, Map.of());
        }
        return was;
    }

    /** Returns the last cosigned checkpoint of a log with the cosignature of now; 404 if there is none. */
    public Answer latest(String originSha256) {
        return jdbc.sql("""
                        select note from cosigned_checkpoint where encode(sha256(convert_to(origin, 'UTF8')), 'hex') = :hex
                        order by size desc limit 1
                        """)
                .param("hex", originSha256)
                .query((row, n) -> row.getString(1))
                .optional()
                .map(Answer::text)
                .orElseGet(() -> Answer.refused(404, "nothing was cosigned of this log"));
    }

    /** Answers {@code add-checkpoint}, by the protocol's checks in their order. What it answers with is committed. */
    public Answer add(byte[] body) {
        Asked asked = Asked.of(new String(body, StandardCharsets.UTF_8)).orElse(null);
        if (asked == null) {
            return Answer.refused(400, "expected old size, proof lines, an empty line and a checkpoint");
        }
        String origin = asked.checkpoint.origin();
        Trusted log = log(origin).orElse(null);
        if (log == null) {
            return Answer.refused(404, "unknown log");
        }
        NoteKey key = NoteKey.of(log.vkey, NoteKey.LOG).orElseThrow();
        List<String> signed = asked.note.by(origin.equals(log.origin) ? key : key.named(origin));
        if (signed.isEmpty()) {
            return Answer.refused(403, "no valid signature by the log's key");
        }
        // Lines by others are not kept: anybody can add some.
        SignedNote note = new SignedNote(asked.note.text(), signed);
        return requireNonNull(
                transaction.execute(_ -> judged(new Asked(asked.old, asked.proof, note, asked.checkpoint), log)));
    }

    private Optional<Trusted> log(String origin) {
        return jdbc
                .sql("select origin, vkey from trusted_log where active")
                .query(Rows.of(Trusted.class))
                .list()
                .stream()
                .filter(log -> origin.equals(log.origin) || origin.matches(Pattern.quote(log.origin) + NUMBER))
                .findFirst();
    }

    private Answer judged(Asked asked, Trusted log) {
        Checkpoint next = asked.checkpoint;
        // One request for a log at a time: this is the compare-and-set on the old size.
        jdbc.sql("select 1 from trusted_log where origin = :origin for update")
                .param("origin", log.origin)
                .query(Integer.class)
                .single();
        Last last = jdbc.sql(
                        "select size, root from cosigned_checkpoint where origin = :origin order by size desc limit 1")
                .param("origin", next.origin())
                .query(Rows.of(Last.class))
                .optional()
                .orElse(new Last(0, Digest.OF_NOTHING));
        if (asked.old > next.size()) {
            return refused(asked, log, Answer.refused(400, "the old size is larger than the new one"));
        }
        if (asked.old != last.size) {
            return refused(asked, log, new Answer(409, "text/x.tlog.size", last.size + "\n"));
        }
        if (next.size() == 0 && !next.root().equals(Digest.OF_NOTHING)) {
            return refused(asked, log, Answer.refused(422, "an empty tree has another root"));
        }
        if (!isConsistent(asked, last)) {
            return refused(asked, log, Answer.refused(422, "the tree does not begin with the one that was cosigned"));
        }
        return cosigned(asked, log);
    }

    /** NB: a first tree needs no proof, and a tree of the same size only the same root. */
    private static boolean isConsistent(Asked asked, Last last) {
        Checkpoint next = asked.checkpoint;
        if (last.size == 0 && next.size() > 0) {
            return asked.proof.isEmpty();
        }
        return Merkle.provesConsistency(
                last.size,
                last.root.bytes(),
                next.size(),
                asked.proof,
                next.root().bytes());
    }

    private Answer cosigned(Asked asked, Trusted log) {
        Checkpoint next = asked.checkpoint;
        Instant now = ledger.now();
        String line = own.cosigned(asked.note.text(), now);
        boolean first = jdbc.sql("select not exists (select from cosigned_checkpoint where origin = :origin)")
                .param("origin", next.origin())
                .query(Boolean.class)
                .single();
        jdbc.sql("""
                        insert into cosigned_checkpoint (origin, size, log, root, note, cosigned_at)
                        values (:origin, :size, :log, :root, :note, :at)
                        on conflict (origin, size) do update set note = excluded.note, cosigned_at = excluded.cosigned_at
                        """)
                .params(Map.of("origin", next.origin(), "size", next.size(), "log", log.origin))
                .param("root", next.root().bytes())
                .param("note", SignedNote.note(asked.note.text(), withOwn(asked.note, line)))
                .param("at", Timestamp.from(now))
                .update();
        if (first) {
            ledger.append(Ledger.SYSTEM, "log.begun", next.origin(), Map.of("size", next.size(), "root", next.root()));
        }
        return Answer.text(line);
    }

    private static List<String> withOwn(SignedNote note, String line) {
        List<String> lines = new ArrayList<>(note.signatures());
        lines.add(line);
        return lines;
    }

    /**
     * Keeps a checkpoint as evidence if it contradicts what was cosigned: the same size with another root, or a larger tree that is not
     * shown to contain it. An older one that is sent again is none, nor is an outdated old size.
     */
    private Answer refused(Asked asked, Trusted log, Answer answer) {
        Checkpoint next = asked.checkpoint;
        Optional<byte[]> known = jdbc.sql(
                        "select root from cosigned_checkpoint where origin = :origin and size = :size")
                .params(Map.of("origin", next.origin(), "size", next.size()))
                .query((row, n) -> row.getBytes(1))
                .optional();
        boolean contradicts = known.map(root -> !next.hasRoot(root)).orElse(answer.status == 422);
        if (!contradicts) {
            return answer;
        }
        int kept = jdbc.sql("""
                        insert into refused_checkpoint (origin, size, root, log, note, reason, refused_at)
                        select :origin, :size, :root, :log, :note, :reason, :at
                        where (select count(*) from refused_checkpoint where log = :log) < :most
                        on conflict do nothing
                        """)
                .params(Map.of("origin", next.origin(), "size", next.size(), "log", log.origin, "most", EVIDENCE_MAX))
                .params(Map.of("note", SignedNote.note(asked.note.text(), asked.note.signatures())))
                .params(Map.of("root", next.root().bytes(), "reason", answer.body.strip()))
                .param("at", Timestamp.from(ledger.now()))
                .update();
        if (kept == 1) {
            ledger.append(
                    Ledger.SYSTEM,
                    "checkpoint.refused",
                    next.origin(),
                    Map.of("size", next.size(), "root", next.root()));
        }
        return answer;
    }

    /** Returns the logs of which signed checkpoints contradict what was cosigned. */
    public List<String> contradicting() {
        return all().stream()
                .filter(log -> log.active && log.refused > 0)
                .map(TrustedLog::origin)
                .toList();
    }

    /** Returns the logs of which nothing was cosigned for this time. */
    public List<String> late(Duration after) {
        Instant since = ledger.now().minus(after);
        return all().stream()
                .filter(log -> log.active
                        && log.trustedAt.isBefore(since)
                        && (log.cosignedAt == null || log.cosignedAt.isBefore(since)))
                .map(TrustedLog::origin)
                .toList();
    }
}
