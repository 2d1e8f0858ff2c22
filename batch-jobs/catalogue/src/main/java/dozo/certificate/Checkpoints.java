package dozo.certificate;

import dozo.file.Digest;
import dozo.ledger.Anchor;
import dozo.ledger.Ledger;
import dozo.ledger.LedgerTree;
import dozo.ledger.Rows;
import dozo.registry.Refusal;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Signs checkpoints of the ledger, and proves by them that it only grows (ADR 0113). A ledger that does not begin as before, because
 * an older database was restored, must be declared as a new log by a person.
 */
@Component
public class Checkpoints {

    private static final String DECLARED = "log.declared";
    private static final DateTimeFormatter NUMBER =
            DateTimeFormatter.ofPattern("uuuuMMddHHmmss").withZone(ZoneOffset.UTC);

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final LedgerTree tree;
    private final LogKeys keys;

    /** A signed checkpoint. {@code note} has only the log's own signature. */
    public record Made(String origin, long size, Digest root, String note, Instant madeAt) {

        Checkpoint checkpoint() {
            return new Checkpoint(origin, size, root);
        }
    }

    public Checkpoints(JdbcClient jdbc, Ledger ledger, LedgerTree tree, LogKeys keys) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.tree = tree;
        this.keys = keys;
    }

    /** Returns the name of the log that the ledger is now; the first call declares it. */
    @Transactional
    public String origin() {
        return declared("desc").orElseGet(() -> {
            ledger.append(Ledger.SYSTEM, DECLARED, keys.origin(), Map.of());
            return keys.origin();
        });
    }

    private Optional<String> declared(String order) {
        return jdbc.sql("select subject from ledger where action = :action order by seq %s limit 1".formatted(order))
                .param("action", DECLARED)
                .query((row, n) -> row.getString(1))
                .optional();
    }

    /**
     * Returns the key of the log.
     *
     * @throws Refusal if its file is missing, or is not a key pair
     */
    public NoteKey key() {
        return NoteKey.of(origin(), NoteKey.LOG, keys.log());
    }

    /**
     * Returns the key with which this Dozo cosigns checkpoints of others. Its name does not change with the machine, from the first
     * checkpoint or trusted log on.
     *
     * @throws Refusal if its file is missing, or is not a key pair
     */
    public NoteKey witnessKey() {
        return NoteKey.of(declared("asc").orElse(keys.origin()) + "/witness", NoteKey.COSIGNATURE, keys.witness());
    }

    /** Returns the line of a cosignature by this Dozo. */
    String cosigned(String text, Instant now) {
        return SignedNote.cosigned(text, now.getEpochSecond(), witnessKey(), keys.witness());
    }

    /**
     * Signs and keeps the checkpoint of a row. Repeating it changes nothing. Does not read the whole ledger, except the first time.
     *
     * @throws Refusal if the key's file is missing, or is not a key pair
     */
    @Transactional
    public Made make(Anchor last) {
        NoteKey key = key();
        tree.grow(last.seq());
        Checkpoint checkpoint = new Checkpoint(key.name(), last.seq(), tree.root(last.seq()));
        String text = checkpoint.text();
        Made made = new Made(
                key.name(),
                last.seq(),
                checkpoint.root(),
                SignedNote.note(text, List.of(SignedNote.signed(text, key, keys.log()))),
                ledger.now());
        jdbc.sql("""
                        insert into checkpoint (origin, size, root, note, made_at) values (:origin, :size, :root, :note, :at)
                        on conflict do nothing
                        """)
                .params(Map.of("origin", made.origin, "size", made.size, "note", made.note))
                .param("root", made.root.bytes())
                .param("at", Timestamp.from(made.madeAt))
                .update();
        return made;
    }

    /** Returns the last checkpoint of the log that the ledger is now. */
    public Optional<Made> latest() {
        return last("true");
    }

    /** Returns the last one of it that a witness has cosigned. */
    public Optional<Made> latestCosigned() {
        return last("exists (select from cosignature s where s.origin = c.origin and s.size = c.size)");
    }

    private Optional<Made> last(String which) {
        return jdbc.sql("""
                        select origin, size, root, note, made_at from checkpoint c
                        where origin = (select subject from ledger where action = :action order by seq desc limit 1) and %s
                        order by size desc limit 1
                        """.formatted(which))
                .param("action", DECLARED)
                .query(Rows.of(Made.class))
                .optional();
    }

    /** Returns the note of a checkpoint with the cosignatures of all witnesses. */
    public String withCosignatures(Made made) {
        List<String> lines = jdbc.sql(
                        "select line from cosignature where origin = :origin and size = :size order by witness")
                .params(Map.of("origin", made.origin, "size", made.size))
                .query((row, n) -> row.getString(1))
                .list();
        return made.note + String.join("", lines);
    }

    /** Returns all checkpoints, also of former logs. */
    public List<Made> all() {
        return jdbc.sql("select origin, size, root, note, made_at from checkpoint order by size")
                .query(Rows.of(Made.class))
                .list();
    }

    /**
     * Returns the proof that a tree of the ledger begins with an older one, in base64.
     *
     * @throws Refusal if there are not so many rows in checkpoints
     */
    public List<String> consistency(long from, long to) {
        if (from < 0 || from > to || to > latest().map(Made::size).orElse(0L)) {
            throw new Refusal("to", "expected sizes up to that of the last checkpoint, the smaller one first");
        }
        return tree.consistency(from, to).stream().map(Checkpoint::base64).toList();
    }

    /**
     * Returns the proof that a row is in the last cosigned checkpoint, or if there is none in the last one, as text that can be
     * checked without Dozo (C2SP tlog-proof).
     *
     * @throws Refusal if the row is not in it
     */
    public String proof(long seq) {
        Made made = latestCosigned()
                .or(this::latest)
                .filter(last -> seq >= 1 && seq <= last.size)
                .orElse(null);
        if (made == null) {
            throw Refusal.conflict("row", "row %d is not in a checkpoint yet; each run makes one", seq);
        }
        return proof(seq, made);
    }

    String proof(long seq, Made made) {
        StringBuilder text = new StringBuilder("c2sp.org/tlog-proof@v1\nindex %d\n".formatted(seq - 1));
        tree.inclusion(seq, made.size)
                .forEach(hash -> text.append(Checkpoint.base64(hash)).append('\n'));
        return text.append('\n').append(withCosignatures(made)).toString();
    }

    /** Returns whether this ledger begins with a checkpoint's tree; false also if it has fewer rows. */
    boolean contains(Checkpoint seen) {
        if (seen.size() > ledger.last()) {
            return false;
        }
        tree.grow(seen.size());
        return tree.root(seen.size()).equals(seen.root());
    }

    /**
     * Declares the ledger as a new log, whose name has the time as a number after it. The row names the last known checkpoint of the
     * former log, also one that only a witness still has. Nothing of the former log is forgotten.
     *
     * @return the name of the new log
     * @throws Refusal if there is no reason, or no checkpoint of a former log
     */
    @Transactional
    public String declare(String reason, String actor) {
        if (reason.isBlank() || reason.length() > 200) {
            throw new Refusal("reason", "expected a reason of at most 200 characters");
        }
        String former = origin();
        Checkpoint last = Stream.concat(latest().map(Made::checkpoint).stream(), seen(former))
                .max(Comparator.comparingLong(Checkpoint::size))
                .orElseThrow(() -> Refusal.conflict("reason", "the log has no checkpoint yet"));
        String next = "%s/%s".formatted(declared("asc").orElseThrow(), NUMBER.format(ledger.now()));
        ledger.append(
                actor,
                DECLARED,
                next,
                Map.of(
                        "after",
                        former,
                        "size",
                        last.size(),
                        "root",
                        last.root(),
                        "reason_sha256",
                        Digest.ofText(reason)));
        return next;
    }

    private Stream<Checkpoint> seen(String origin) {
        return jdbc
                .sql("select seen from witness where refused_origin = :origin and seen <> ''")
                .param("origin", origin)
                .query((row, n) -> row.getString(1))
                .list()
                .stream()
                .flatMap(note -> SignedNote.of(note).flatMap(read -> Checkpoint.of(read.text())).stream())
                .filter(checkpoint -> checkpoint.origin().equals(origin));
    }
}
