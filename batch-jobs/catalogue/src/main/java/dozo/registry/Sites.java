package dozo.registry;

import dozo.ledger.Ledger;
import dozo.remote.SiteAddress;
import dozo.remote.Way;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
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

@Component
public class Sites {

    /** The id of no site. While none is registered, nothing is safe at this id, which is correct. */
    public static final int NO_SITE = 0;

    private static final RowMapper<Site> SITE = (row, n) -> new Site(
            row.getInt("site_id"),
            row.getString("name"),
            new SiteAddress(
                            row.getString("host"),
                            row.getInt("port"),
                            row.getString("login"),
                            row.getString("root"),
                            Path.of(row.getString("identity_file")),
                            row.getString("host_key"))
                    .by(new Way(jump(row), row.getInt("dscp"))),
            row.getTimestamp("updated_at").toInstant());

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final InstantSource clock;

    /** A place for the second copy. */
    public record Site(int id, String name, SiteAddress address, Instant changedAt) {}

    public Sites(JdbcClient jdbc, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.clock = clock;
    }

    /** Registers a site, or changes the address of an existing one. */
    @Transactional
    public Site save(String name, SiteAddress address, String actor) {
        Code.checked("name", name);
        Optional<Site> before = find(name);
        if (before.isPresent() && before.get().address().equals(address)) {
            return before.get();
        }
        Optional<SiteAddress> jump = address.way().jump();
        Site site = jdbc.sql("""
                        insert into site (name, host, port, login, root, host_key, identity_file, updated_at,
                            jump_host, jump_port, jump_login, jump_host_key, jump_identity_file, dscp)
                        values (:name, :host, :port, :login, :root, :hostKey, :identity, :now,
                            :jumpHost, :jumpPort, :jumpLogin, :jumpHostKey, :jumpIdentity, :dscp)
                        on conflict (name) do update
                            set host = :host, port = :port, login = :login, root = :root, host_key = :hostKey,
                                identity_file = :identity, updated_at = :now, jump_host = :jumpHost,
                                jump_port = :jumpPort, jump_login = :jumpLogin, jump_host_key = :jumpHostKey,
                                jump_identity_file = :jumpIdentity, dscp = :dscp
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
                .param("jumpHost", jump.map(SiteAddress::host).orElse(null))
                .param("jumpPort", jump.map(SiteAddress::port).orElse(null))
                .param("jumpLogin", jump.map(SiteAddress::user).orElse(null))
                .param("jumpHostKey", jump.map(SiteAddress::hostKey).orElse(null))
                .param(
                        "jumpIdentity",
                        jump.map(SiteAddress::identity).map(Path::toString).orElse(null))
                .param("dscp", address.way().dscp())
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
     * Removes a site that no run has used, with the results of its checks. Nothing is changed at the site.
     *
     * @return whether the site existed
     * @throws Refusal if a run has used it: its evidence needs the site
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

    /** Locks a site against other changes until the end of the transaction. */
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

    /** Returns the only site, for a user who names none; empty if there is none. Refuses if there are several. */
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

    private static Optional<SiteAddress> jump(ResultSet row) throws SQLException {
        String host = row.getString("jump_host");
        return host == null
                ? Optional.empty()
                : Optional.of(new SiteAddress(
                        host,
                        row.getInt("jump_port"),
                        row.getString("jump_login"),
                        "/",
                        Path.of(row.getString("jump_identity_file")),
                        row.getString("jump_host_key")));
    }

    private static String describe(SiteAddress address) {
        String through = address.way()
                .jump()
                .map(jump -> ", through %s, host key %s".formatted(jump, jump.hostKey()))
                .orElse("");
        String mark = address.way().dscp() == 0 ? "" : ", DSCP " + address.way().dscp();
        return "%s:%s, host key %s%s%s".formatted(address, address.root(), address.hostKey(), through, mark);
    }
}
