package dozo.certificate;

import dozo.certificate.Checkpoints.Made;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.registry.Refusal;
import java.net.URI;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** Who is asked to cosign checkpoints of this ledger, what they have cosigned, and what they have refused. */
@Component
public class Witnesses {

    private static final int ADDRESS_LENGTH_MAX = 500;

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final Checkpoints checkpoints;

    /**
     * A witness.
     *
     * @param address the prefix of its addresses, such as https://witness.example.org/witness
     * @param vkey its verifier key
     * @param origin the log of the last checkpoint that it cosigned; missing: none yet
     * @param size the rows in that
     * @param trouble why the last request brought no cosignature; empty: it did, or there was none
     * @param refusedOrigin the log that contradicts what the witness has seen; missing: none does
     */
    public record Witness(
            String name,
            String address,
            String vkey,
            Instant registeredAt,
            @Nullable String origin,
            @Nullable Long size,
            @Nullable Instant cosignedAt,
            String trouble,
            @Nullable String refusedOrigin) {

        /** Returns the rows that it has cosigned of this log. */
        public long sizeOf(String log) {
            return size != null && log.equals(origin) ? size : 0;
        }
    }

    public Witnesses(JdbcClient jdbc, Ledger ledger, Checkpoints checkpoints) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.checkpoints = checkpoints;
    }

    public List<Witness> all() {
        return jdbc.sql("select * from witness order by name")
                .query(Rows.of(Witness.class))
                .list();
    }

    public Optional<Witness> find(String name) {
        return all().stream().filter(witness -> witness.name().equals(name)).findFirst();
    }

    /**
     * Registers a witness, or replaces address and key of an existing one. With another key, it has cosigned nothing yet.
     *
     * @throws Refusal if something has the wrong form
     */
    @Transactional
    public Witness save(String name, String address, String vkey, String actor) {
        if (!name.matches("[A-Za-z0-9._-]{1,100}")) {
            throw new Refusal("name", "expected 1 to 100 letters, digits, dots, - and _");
        }
        if (!isAddress(address)) {
            throw new Refusal("address", "expected an address such as https://witness.example.org/witness");
        }
        if (NoteKey.of(vkey, NoteKey.COSIGNATURE).isEmpty()) {
            throw new Refusal("vkey", "expected the verifier key of an Ed25519 cosigner, as NAME+12345678+BASE64");
        }
        jdbc.sql("""
                        insert into witness (name, address, vkey, registered_at) values (:name, :address, :vkey, :at)
                        on conflict (name) do update set
                            address = excluded.address, vkey = excluded.vkey, trouble = '', refused_origin = null, seen = '',
                            origin = case when witness.vkey = excluded.vkey then witness.origin end,
                            size = case when witness.vkey = excluded.vkey then witness.size end,
                            cosigned_at = case when witness.vkey = excluded.vkey then witness.cosigned_at end
                        """)
                .params(Map.of("name", name, "address", address.replaceAll("/+$", ""), "vkey", vkey))
                .param("at", Timestamp.from(ledger.now()))
                .update();
        ledger.append(actor, "witness.saved", name, Map.of("address", address, "vkey", vkey));
        return find(name).orElseThrow();
    }

    private static boolean isAddress(String address) {
        try {
            URI uri = URI.create(address);
            return address.length() <= ADDRESS_LENGTH_MAX
                    && uri.getHost() != null
                    && uri.getUserInfo() == null
                    && uri.getRawQuery() == null
                    && uri.getRawFragment() == null
                    && String.valueOf(uri.getScheme()).matches("https?");
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Removes a witness; what it has cosigned stays. Returns whether there was one. */
    @Transactional
    public boolean remove(String name, String actor) {
        boolean removed = jdbc.sql("delete from witness where name = :name")
                        .param("name", name)
                        .update()
                == 1;
        if (removed) {
            ledger.append(actor, "witness.removed", name, Map.of());
        }
        return removed;
    }

    /**
     * Keeps cosignatures that a witness has answered with. Lines by other keys are ignored.
     *
     * @return false: none of them is a right one by its key
     */
    @Transactional
    public boolean keep(Witness witness, Made made, String lines) {
        SignedNote note = new SignedNote(made.checkpoint().text(), SignedNote.lines(lines));
        List<String> right =
                note.by(NoteKey.of(witness.vkey(), NoteKey.COSIGNATURE).orElseThrow());
        if (right.isEmpty()) {
            return false;
        }
        jdbc.sql("""
                        insert into cosignature (origin, size, witness, line) values (:origin, :size, :witness, :line)
                        on conflict (origin, size, witness) do update set line = excluded.line
                        """)
                .params(Map.of("origin", made.origin(), "size", made.size(), "witness", witness.name()))
                .param("line", right.getFirst())
                .update();
        jdbc.sql("""
                        update witness set origin = :origin, size = :size, cosigned_at = :at, trouble = '', refused_origin = null, seen = ''
                        where name = :name and vkey = :vkey
                        """)
                .params(Map.of("origin", made.origin(), "size", made.size(), "name", witness.name()))
                .param("vkey", witness.vkey())
                .param("at", Timestamp.from(ledger.now()))
                .update();
        return true;
    }

    /** Keeps why a witness has not cosigned: it is late, and nothing contradicts the ledger. */
    public void late(Witness witness, String trouble) {
        jdbc.sql("update witness set trouble = :trouble where name = :name")
                .params(Map.of("name", witness.name(), "trouble", trouble))
                .update();
    }

    /**
     * Judges a refusal by the checkpoint that the witness has, if it shows one: if the ledger begins with it, the witness is only
     * late; otherwise rows that it has seen are missing or were changed.
     *
     * @param shown the note that the witness shows; empty: none
     * @return whether the ledger contradicts the witness
     */
    @Transactional
    public boolean refused(Witness witness, Made made, String why, String shown) {
        Optional<Checkpoint> seen = SignedNote.of(shown)
                .filter(note -> !note.by(checkpoints.key()).isEmpty())
                .flatMap(note -> Checkpoint.of(note.text()))
                .filter(checkpoint -> checkpoint.origin().equals(made.origin()));
        if (seen.filter(checkpoints::contains).isPresent()) {
            late(witness, why);
            return false;
        }
        jdbc.sql("update witness set trouble = :why, refused_origin = :origin, seen = :seen where name = :name")
                .params(Map.of("name", witness.name(), "why", why, "origin", made.origin()))
                .param("seen", seen.isPresent() ? shown : "")
                .update();
        return true;
    }

    /** Returns the names of witnesses whose refusal shows that the present log is not as they have seen it. */
    public List<String> contradicting() {
        return jdbc.sql("""
                        select name from witness
                        where refused_origin = (select subject from ledger where action = 'log.declared' order by seq desc limit 1)
                        order by name
                        """).query((row, n) -> row.getString(1)).list();
    }

    /** Returns the names of witnesses that have not cosigned a checkpoint which is older than this. */
    public List<String> late(Duration after) {
        return jdbc.sql("""
                        select name from witness w
                        where refused_origin is null and w.registered_at < :since and exists (
                            select from checkpoint c
                            where c.origin = (select subject from ledger where action = 'log.declared' order by seq desc limit 1)
                              and c.made_at < :since and c.size > case when w.origin = c.origin then w.size else 0 end)
                        order by name
                        """)
                .param("since", Timestamp.from(ledger.now().minus(after)))
                .query((row, n) -> row.getString(1))
                .list();
    }
}
