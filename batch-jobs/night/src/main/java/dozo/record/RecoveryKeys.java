package dozo.record;

import dozo.ledger.Ledger;
import dozo.registry.KeyFile;
import dozo.registry.Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The public keys that records are encrypted to. The ledger has a row for each key of the service. */
@Component
@EnableConfigurationProperties(RecoverySettings.class)
public class RecoveryKeys {

    private final RecoveryKey key;
    private final RecoverySettings settings;
    private final Ledger ledger;
    private final JdbcClient jdbc;

    /**
     * The public keys that the catalogue's records are encrypted to.
     *
     * @param publicKey the service's own, {@code age1…}
     * @param file where its private key is, on the service's machine
     * @param former the service's own key before this one, which can read the records until it is dropped; missing: none
     * @param others more public keys that can read the records, as configured
     */
    public record PublishedKeys(
            String publicKey, String file, @Nullable String former, List<String> others) {}

    public RecoveryKeys(RecoveryKey key, RecoverySettings settings, Ledger ledger, JdbcClient jdbc) {
        this.key = key;
        this.settings = settings;
        this.ledger = ledger;
        this.jdbc = jdbc;
    }

    /**
     * Returns the keys, and creates nothing.
     *
     * @throws Refusal if the file of the service's own is missing, or is not a key
     */
    public PublishedKeys published() {
        return new PublishedKeys(
                key.published(), key.file().toString(), key.former().orElse(null), settings.list());
    }

    /**
     * Returns the public keys to encrypt to. Ends a rotation that was interrupted.
     *
     * @throws Refusal if the file of the service's own is missing, or is not a key
     */
    synchronized List<String> recipients() {
        List<String> all = new ArrayList<>();
        all.add(introduced());
        // Until its successor is in the safe, too, the key in the safe must read what is written.
        key.former().ifPresent(all::add);
        all.addAll(settings.list());
        return all;
    }

    /**
     * Puts a new key in the place of the service's own. The next night writes every record of every site anew for both, because those
     * that are there are for the former one only.
     *
     * @return the new public key
     * @throws Refusal if a run is active, or the key before the present one is still there
     */
    public synchronized String replace(String actor) {
        // NB: a run that begins after this look asks for the keys after this call.
        requireNoRun();
        String before = introduced();
        KeyFile.checkAlone(key.file());
        RecoveryKey next = new RecoveryKey(KeyFile.next(key.file()));
        next.create();
        // Without a new key in the end, this costs some bytes and nothing else.
        jdbc.sql("update catalogue_base set renew = true").update();
        jdbc.sql("update catalogue_segment set manifest_no = 0, folder_no = 0, entry_no = 0, receipt_id = 0")
                .update();
        ledger.append(actor, KeyFile.INTRODUCED, next.published(), Map.of("purpose", "recovery", "after", before));
        settle();
        return key.published();
    }

    /**
     * Removes the service's key before its own.
     *
     * @param anyway also if it is needed for records
     * @throws Refusal if there is none, or a site has records that the present one cannot read
     */
    public synchronized void drop(boolean anyway, String actor) {
        String present = introduced();
        KeyFile.checkFormer(key.file());
        String former = key.former().orElseThrow();
        List<String> needed = jdbc.sql("""
                        select name from site s
                        where removed_at is null
                          and exists (select from (select site_id, written_at from catalogue_base
                                                   union all select site_id, written_at from catalogue_segment) r
                                      where r.site_id = s.site_id
                                        and r.written_at <= (select min(at) from ledger
                                                             where action = :introduced and subject = :present))
                        order by name
                        """)
                .params(Map.of("introduced", KeyFile.INTRODUCED, "present", present))
                .query((row, n) -> row.getString(1))
                .list();
        if (!anyway && !needed.isEmpty()) {
            throw Refusal.conflict(
                    "key",
                    "site %s has records that only the former key can read; the next complete night there writes them anew",
                    needed.getFirst());
        }
        // The row first: a key is never removed without one.
        ledger.append(actor, "key.dropped", former, Map.of("purpose", "recovery", "anyway", anyway));
        KeyFile.drop(key.file());
    }

    /**
     * Refuses while a run is active: it may be writing a record with the present keys.
     *
     * @throws Refusal if one is
     */
    public void requireNoRun() {
        if (jdbc.sql("select exists (select from run where ended_at is null)")
                .query(Boolean.class)
                .single()) {
            throw Refusal.conflict("key", "a run is active; replace the key after its end");
        }
    }

    private void settle() {
        KeyFile.settle(key.file(), ledger, file -> new RecoveryKey(file).published(), true);
    }

    /** Returns the service's own key. One that is not in the ledger yet gets a row there. */
    private String introduced() {
        settle();
        String recipient = key.published();
        if (!KeyFile.isIntroduced(ledger, recipient)) {
            ledger.append(Ledger.SYSTEM, KeyFile.INTRODUCED, recipient, Map.of("purpose", "recovery"));
        }
        return recipient;
    }
}
