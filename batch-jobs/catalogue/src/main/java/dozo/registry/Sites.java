package dozo.registry;

import dozo.ledger.Ledger;
import dozo.remote.SiteAddress;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** The DR sites. */
@Component
public class Sites {

    private static final RowMapper<Site> SITE = (row, n) -> new Site(
            row.getInt("site_id"),
            row.getString("name"),
            new SiteAddress(
                    row.getString("host"),
                    row.getInt("port"),
                    row.getString("login"),
                    row.getString("root"),
                    Path.of(row.getString("identity_file")),
                    row.getString("host_key")),
            row.getTimestamp("updated_at").toInstant());

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final InstantSource clock;

    /** A DR destination. */
    public record Site(int id, String name, SiteAddress address, Instant changedAt) {}

    public Sites(JdbcClient jdbc, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.clock = clock;
    }

    /** Registers a site, or changes the address of the one with this name. */
    @Transactional
    public Site save(String name, SiteAddress address, String actor) {
        Code.checked("name", name);
        Optional<Site> before = find(name);
        if (before.isPresent() && before.get().address().equals(address)) {
            return before.get();
        }
        Site site = jdbc.sql("""
                        insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                        values (:name, :host, :port, :login, :root, :hostKey, :identity, :now)
                        on conflict (name) do update
                            set host = :host, port = :port, login = :login, root = :root, host_key = :hostKey,
                                identity_file = :identity, updated_at = :now
                        returning *
                        """)
                .param("name", name)
                .param("host", address.host())
                .param("port", address.port())
                .param("login", address.user())
                .param("root", address.root())
                .param("hostKey", address.hostKey())
                .param("identity", address.identity().toString())
                .param("now", Timestamp.from(clock.instant()))
                .query(SITE)
                .single();
        ledger.append(
                actor,
                before.isPresent() ? "site.changed" : "site.registered",
                name,
                Map.of(
                        "before", before.map(site0 -> describe(site0.address())).orElse(""),
                        "after", describe(address)));
        return site;
    }

    /**
     * Removes a site that no run has used, with what checks have found there. Nothing is done at the site.
     *
     * @return whether there was such a site
     * @throws Refusal when a run has used it: its evidence needs the site
     */
    @Transactional
    public boolean remove(String name, String actor) {
        Optional<Site> found = jdbc.sql("select * from site where name = :name for update")
                .param("name", name)
                .query(SITE)
                .optional();
        if (found.isEmpty()) {
            return false;
        }
        int id = found.get().id();
        if (jdbc.sql("select exists (select from run where site_id = :site)")
                .param("site", id)
                .query(Boolean.class)
                .single()) {
            throw Refusal.conflict(
                    "name", "site %s has been used by runs and cannot be removed: their evidence refers to it", name);
        }
        jdbc.sql("delete from site_capability where site_id = :site")
                .param("site", id)
                .update();
        jdbc.sql("delete from site_space where site_id = :site")
                .param("site", id)
                .update();
        jdbc.sql("delete from site where site_id = :site").param("site", id).update();
        ledger.append(
                actor,
                "site.removed",
                name,
                Map.of("before", describe(found.get().address()), "after", ""));
        return true;
    }

    /** Has others wait who would change the site, until the transaction is over. */
    @Transactional(propagation = Propagation.MANDATORY)
    public void lock(String name) {
        jdbc.sql("select from site where name = :name for no key update")
                .param("name", name)
                .query()
                .listOfRows();
    }

    public Optional<Site> find(String name) {
        return jdbc.sql("select * from site where name = :name")
                .param("name", name)
                .query(SITE)
                .optional();
    }

    public Optional<Site> find(int id) {
        return jdbc.sql("select * from site where site_id = :id")
                .param("id", id)
                .query(SITE)
                .optional();
    }

    /** For whoever names none: the only site; empty while there is none, refused where there are several. */
    public Optional<Site> only() {
        List<Site> all = all();
        if (all.size() > 1) {
            throw new Refusal("site", "there are %d sites; choose one", all.size());
        }
        return all.stream().findFirst();
    }

    public List<Site> all() {
        return jdbc.sql("select * from site order by name").query(SITE).list();
    }

    private static String describe(SiteAddress address) {
        return "%s@%s:%d:%s, host key %s"
                .formatted(address.user(), address.host(), address.port(), address.root(), address.hostKey());
    }
}
