package dozo.registry;

import dozo.file.Size;
import dozo.ledger.Ledger;
import dozo.registry.Sites.Site;
import dozo.remote.HostKey;
import dozo.remote.Identity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Centres that keep copies of ours, and whose copies we keep (ADR 0116). Each makes a file for the other, and accepts that of the
 * other, which registers its machine as a site. Only experiments with codes for names are sent to such a site.
 */
@Component
public class Partners {

    private static final RowMapper<Partner> PARTNER = (row, n) -> new Partner(
            row.getString("name"),
            Optional.ofNullable(row.getString("offered")).map(PartnerFile::of).orElse(null),
            Path.of(Optional.ofNullable(row.getString("count_file")).orElse("")),
            Optional.ofNullable(row.getString("accepted")).map(PartnerFile::of).orElse(null),
            row.getObject("site_id", Integer.class));

    private final JdbcClient jdbc;
    private final Sites sites;
    private final SiteTimetables timetables;
    private final SiteKey key;
    private final Ledger ledger;
    private final InstantSource clock;
    private final ZoneId zone;

    /**
     * A partner.
     *
     * @param offered our file for it; null: none was made
     * @param countFile in which the guard counts its copies; empty: no file was made for it
     * @param accepted its file; null: none was accepted
     * @param siteId its site; null: none was accepted, or the site was removed
     */
    public record Partner(
            String name,
            @Nullable PartnerFile offered,
            Path countFile,
            @Nullable PartnerFile accepted,
            @Nullable Integer siteId) {}

    /**
     * What we give a partner.
     *
     * @param host the name or address under which it reaches our machine
     * @param port default: 22
     * @param hostKey our machine's public host keys, one a line
     * @param account its account on our machine
     * @param root its folder on our machine
     * @param quota how much it may store, such as 20 TB
     * @param hours when it may use our machine, as in the timetable of a site; default: at any time
     * @param countFile the guard's count of what it stores, in a folder of its own; default: {@code
     *     /var/lib/dozo-partner/ACCOUNT/count}
     */
    public record Offer(
            @Nullable String host,
            @Nullable Integer port,
            @Nullable String hostKey,
            @Nullable String account,
            @Nullable String root,
            @Nullable String quota,
            @Nullable List<String> hours,
            @Nullable String countFile) {}

    Partners(
            JdbcClient jdbc,
            Sites sites,
            SiteTimetables timetables,
            SiteKey key,
            Ledger ledger,
            InstantSource clock,
            ZoneId zone) {
        this.jdbc = jdbc;
        this.sites = sites;
        this.timetables = timetables;
        this.key = key;
        this.ledger = ledger;
        this.clock = clock;
        this.zone = zone;
    }

    /** Returns all partners, by name. */
    public List<Partner> all() {
        return jdbc.sql("select * from partner order by name").query(PARTNER).list();
    }

    public Optional<Partner> find(String name) {
        return all().stream().filter(each -> each.name.equals(name)).findFirst();
    }

    /** Returns whether a site is that of a partner, which must not read names. */
    public boolean needsCodes(int siteId) {
        return jdbc.sql("select exists (select from partner where site_id = :site)")
                .param("site", siteId)
                .query(Boolean.class)
                .single();
    }

    /** Returns our present keys for logins at sites: while one is replaced, also the former one. */
    public List<String> ownKeys() {
        List<String> keys = new ArrayList<>(key.publicKey().lines().toList());
        Path former = Identity.former(key.file());
        try {
            keys.addAll(Files.exists(former) ? Identity.publicKeys(former) : List.of());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return keys;
    }

    /**
     * Makes our file for a partner, with our present keys. The same again returns the same file.
     *
     * @throws Refusal if something is not as expected
     */
    @Transactional
    public Partner offer(String name, Offer asked, String actor) {
        Partner before = locked(name);
        PartnerFile file = new PartnerFile(
                clock.instant().truncatedTo(ChronoUnit.SECONDS),
                ownKeys(),
                Objects.requireNonNullElse(asked.host, ""),
                Optional.ofNullable(asked.port).orElse(SiteTerms.PORT_USUAL),
                HostKey.all(Objects.requireNonNullElse(asked.hostKey, "")).stream()
                        .map(Partners::bare)
                        .toList(),
                Objects.requireNonNullElse(asked.account, ""),
                Objects.requireNonNullElse(asked.root, ""),
                Size.typed(Objects.requireNonNullElse(asked.quota, "")).orElse(0L),
                zone.getId(),
                Optional.ofNullable(asked.hours).orElse(List.of()));
        String count =
                Optional.ofNullable(asked.countFile).orElse("/var/lib/dozo-partner/%s/count".formatted(file.account()));
        if (!PartnerFile.isPlainPath(count) || count.lastIndexOf('/') == 0) {
            throw new Refusal("countFile", "expected an absolute path of A-Z a-z, digits, . _ and -");
        }
        PartnerFile last = before.offered;
        if (last != null
                && file.issued(last.issued()).equals(last)
                && Path.of(count).equals(before.countFile)) {
            return before;
        }
        jdbc.sql("update partner set offered = :file, count_file = :count where name = :name")
                .params(Map.of("file", file.text(), "count", count, "name", name))
                .update();
        ledger.change(actor, "partner.offered", name, described(last), described(file));
        return find(name).orElseThrow();
    }

    /** Returns a public key without the comment at its end. */
    private static String bare(HostKey key) {
        return key.line().replaceFirst("^(\\S+\\s+\\S+)\\s.*", "$1");
    }

    /**
     * Accepts a partner's file: registers its machine as a site with its name, its host key and its hours. The same again
     * changes nothing.
     *
     * @param fingerprint as the partner has said it; null: unknown
     * @param changed whether it may differ from the file that was accepted before
     * @throws Refusal if the fingerprint is another one, or the file is malformed, older than the accepted one, or cannot be used
     */
    @Transactional
    public Partner accept(String name, String text, @Nullable String fingerprint, boolean changed, String actor) {
        PartnerFile file = PartnerFile.of(text);
        if (fingerprint == null || !fingerprint.strip().equals(file.fingerprint())) {
            throw new Refusal(
                    "fingerprint",
                    "the file has the fingerprint %s; compare it with the partner by telephone, and give the one that you are told",
                    file.fingerprint());
        }
        Partner before = locked(name);
        if (file.equals(before.accepted) && before.siteId != null) {
            return before;
        }
        requireUsable(file, before, changed);
        SiteTerms terms = new SiteTerms(
                new SiteTerms.Host(file.host(), file.port(), file.account(), null, String.join("\n", file.hostKeys())),
                file.root(),
                null,
                null);
        Site site = sites.save(name, terms.address(key), actor);
        timetables.set(name, file.hours(), actor);
        jdbc.sql("update partner set accepted = :file, site_id = :site where name = :name")
                .params(Map.of("file", file.text(), "site", site.id(), "name", name))
                .update();
        ledger.change(actor, "partner.accepted", name, described(before.accepted), described(file));
        return find(name).orElseThrow();
    }

    private void requireUsable(PartnerFile file, Partner before, boolean changed) {
        PartnerFile accepted = before.accepted;
        if (accepted != null && file.issued().isBefore(accepted.issued())) {
            throw Refusal.conflict("file", "a later file of %s was accepted before", before.name);
        }
        if (accepted != null && !file.equals(accepted) && !changed) {
            throw Refusal.conflict(
                    "changed", "it differs from the file that was accepted before; say explicitly that it is a change");
        }
        if (!Collections.disjoint(file.keys(), ownKeys())) {
            throw new Refusal("file", "it has this service's own key; expected the partner's file");
        }
        if (before.siteId == null && sites.find(before.name).isPresent()) {
            throw Refusal.conflict("name", "site %s exists already, and is not that of a partner", before.name);
        }
        if (!file.hours().isEmpty() && !ZoneId.of(file.zone()).getRules().equals(zone.getRules())) {
            throw new Refusal(
                    "file",
                    "its hours are in the time zone %s, and this service is in %s; agree on a file without hours, and set them yourself",
                    file.zone(),
                    zone.getId());
        }
    }

    /**
     * Returns the script with which root creates the partner's account on our machine, or changes it.
     *
     * @return empty if there is no such partner
     * @throws Refusal if one of the two files is missing
     */
    public Optional<String> accountScript(String name) {
        return find(name).map(partner -> {
            if (partner.offered == null || partner.accepted == null) {
                throw Refusal.conflict(
                        "name", "both files are needed: make one for %s, and accept the one that it has made", name);
            }
            return PartnerAccount.script(name, partner.offered, partner.accepted, partner.countFile);
        });
    }

    private Partner locked(String name) {
        jdbc.sql("insert into partner (name) values (:name) on conflict do nothing")
                .param("name", Code.checked("name", name))
                .update();
        return jdbc.sql("select * from partner where name = :name for update")
                .param("name", name)
                .query(PARTNER)
                .single();
    }

    /** Returns what the ledger keeps of a file. */
    private static String described(@Nullable PartnerFile file) {
        return file == null ? "" : "%s\n%s".formatted(file.fingerprint(), file.text());
    }
}
