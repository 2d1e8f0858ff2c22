package dozo.registry;

import dozo.ledger.Ledger;
import dozo.registry.Retirements.Asked;
import dozo.remote.SiteAddress;
import dozo.remote.Way;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** The DR sites: their addresses. */
@Component
public class Sites {

    /** The id of no site. While none is registered, nothing is safe at this id, which is correct. */
    public static final int NO_SITE = 0;

    private static final RowMapper<Site> SITE = (row, n) -> new Site(
            row.getInt("site_id"),
            row.getString("name"),
            row.getString("title"),
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
    private final Holds holds;

    /**
     * A place for the second copy.
     *
     * @param title by what people know it; empty: only by its name
     * @param changedAt when its address was last changed
     */
    public record Site(int id, String name, String title, SiteAddress address, Instant changedAt) {

        /** Returns its name for people, with its title. */
        public String label() {
            return title.isEmpty() ? name : "%s (%s)".formatted(name, title);
        }
    }

    public Sites(JdbcClient jdbc, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.clock = clock;
        this.holds = new Holds(jdbc, ledger, clock);
    }

    /**
     * Registers a new site.
     *
     * @throws Refusal if the name is malformed or taken
     */
    @Transactional
    public Site add(String name, SiteAddress address, String actor) {
        requireFree(name);
        return save(name, address, actor);
    }

    /**
     * Checks that a new site can get this name.
     *
     * @throws Refusal if not
     */
    public void requireFree(String name) {
        Code.checked("name", name);
        requireNotRemoved(name);
        if (find(name).isPresent()) {
            throw Refusal.conflict("name", "site %s exists already", name);
        }
    }

    private void requireNotRemoved(String name) {
        if (jdbc.sql("select exists (select from site where name = :name and removed_at is not null)")
                .param("name", name)
                .query(Boolean.class)
                .single()) {
            throw Refusal.conflict(
                    "name", "a site %s was removed, and evidence refers to it; choose another name", name);
        }
    }

    /**
     * Changes the address of a site that a user has loaded.
     *
     * @param seen the time of its last change when the user loaded it
     * @throws Refusal if it has been changed since
     */
    @Transactional
    public Site change(String name, Instant seen, SiteAddress address, String actor) {
        lock(name);
        if (!find(name).map(Site::changedAt).equals(Optional.of(seen))) {
            throw Refusal.conflict("seen", "the site was changed after you loaded the page; reload the page");
        }
        return save(name, address, actor);
    }

    /**
     * Sets the title, by which people know a site; its name, which is in addresses and evidence, stays.
     *
     * @return the changed site; empty if there is none with this name
     * @throws Refusal if it is too long or not one line
     */
    @Transactional
    public Optional<Site> setTitle(String name, String title, String actor) {
        String wanted = Code.checkedTitle(title.strip());
        lock(name);
        Optional<Site> before = find(name);
        if (before.isEmpty() || before.get().title.equals(wanted)) {
            return before;
        }
        jdbc.sql("update site set title = :title where site_id = :id")
                .params(Map.of("title", wanted, "id", before.get().id))
                .update();
        ledger.change(actor, "site.changed", name, "title " + before.get().title, "title " + wanted);
        return find(name);
    }

    /** Registers a site, or changes the address of an existing one. */
    @Transactional
    public Site save(String name, SiteAddress address, String actor) {
        Code.checked("name", name);
        requireNotRemoved(name);
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
                .params(Map.of("host", address.host(), "port", address.port(), "login", address.user()))
                .params(Map.of("root", address.root(), "hostKey", address.hostKey()))
                .params(Map.of("identity", address.identity().toString(), "now", Timestamp.from(clock.instant())))
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
        ledger.change(
                actor,
                before.isPresent() ? "site.changed" : "site.registered",
                name,
                before.map(site0 -> describe(site0.address())).orElse(""),
                describe(address));
        return site;
    }

    /**
     * Removes a site. Nothing is changed at the site itself. If runs have used it, it gets no more of them, its copies
     * no longer count, and its open findings are acknowledged; evidence still refers to it, so its name stays taken.
     *
     * @param withCopies whether copies may be there; they no longer count as safe
     * @return whether the site existed
     * @throws Refusal if copies are there and may not be, or of a held experiment; or if a run or a restore uses it now
     */
    @Transactional
    public boolean remove(String name, boolean withCopies, String actor) {
        Optional<Site> found = unused(name);
        if (found.isEmpty()) {
            return false;
        }
        Site site = found.get();
        if (!withCopies) {
            refuseIfCopiesAreThere(site);
        }
        // NB: coverage of experiments that were sealed before the site was added is counted without a run, and is
        // evidence.
        if (holds("""
                select exists (select from run where :site in (site_id, from_site_id))
                    or exists (select from coverage where site_id = :site)
                    or exists (select from erasure_site where site_id = :site)
                """, site)) {
            close(site, actor, null, null);
            acknowledge(site, actor);
        } else {
            for (String table : List.of(
                    "alert",
                    "site_capability",
                    "site_space",
                    "site_timetable",
                    "site_schedule",
                    "site_tuning",
                    "site")) {
                jdbc.sql("delete from " + table + " where site_id = :site")
                        .param("site", site.id())
                        .update();
            }
        }
        ledger.change(actor, "site.removed", name, describe(site.address()), "");
        return true;
    }

    /** Returns a site that is about to go; locked, so that no run or restore begins to use it. Refuses if it is needed. */
    private Optional<Site> unused(String name) {
        Optional<Site> found = jdbc.sql("select * from site where name = :name and removed_at is null for update")
                .param("name", name)
                .query(SITE)
                .optional();
        found.ifPresent(site -> {
            refuseIfInUse(site);
            holds.refuseIfHeldAt(site.id());
        });
        return found;
    }

    private void refuseIfInUse(Site site) {
        if (holds(
                "select exists (select from run where :site in (site_id, from_site_id) and ended_at is null)", site)) {
            throw Refusal.conflict("name", "a run is using site %s; stop it first", site.name());
        }
        if (holds("select exists (select from restore where site_id = :site and ended_at is null)", site)) {
            throw Refusal.conflict("name", "a restore is using site %s; wait for it, or stop it first", site.name());
        }
    }

    private void refuseIfCopiesAreThere(Site site) {
        long experiments = experimentsAt(site);
        if (experiments > 0) {
            throw Refusal.conflict(
                    "copies",
                    "site %s has copies (experiments: %d), which would no longer count as safe; remove it only if you do not need them",
                    site.name(),
                    experiments);
        }
    }

    /** Returns the number of experiments that have copies at a site, of their current or earlier manifests. */
    public long experimentsAt(Site site) {
        return jdbc.sql("""
                        select count(*) from experiment e
                        where exists (select from stored s
                                      where s.experiment_id = e.experiment_id and s.site_id = :site)
                        """).param("site", site.id()).query(Long.class).single();
    }

    /**
     * Retires a site: as {@link #remove}, but it can be undone. Its findings need nobody while it is retired.
     *
     * @param asked {@code evenUnsafe}: also if no other site has a complete copy of something
     * @return whether the site exists
     * @throws Refusal if it has the only copies and that was not accepted, or copies of a held experiment; or if a run or a
     *     restore uses it now
     */
    @Transactional
    public boolean retire(String name, Asked asked) {
        Reason why = Reason.of(asked.reason(), Retirements.REASON_LENGTH_MAX);
        Optional<Site> found = unused(name);
        if (found.isEmpty()) {
            return false;
        }
        long only = onlyHere(found.get());
        if (only > 0 && !asked.evenUnsafe()) {
            throw Refusal.conflict(
                    "evenUnsafe",
                    "no other site has a complete copy of %d experiments that site %s has copies of; say so explicitly if that is intended",
                    only,
                    name);
        }
        String unsafe = only == 0 ? null : "no other site had a complete copy of %,d experiments".formatted(only);
        close(found.get(), asked.actor(), why.text(), unsafe);
        ledger.append(
                asked.actor(),
                "site.retired",
                name,
                Map.of("reason_sha256", why.sha256(), "unsafe", unsafe == null ? "" : unsafe));
        return true;
    }

    /** Returns the number of experiments that have copies at a site, and are completely safe at no other. */
    private long onlyHere(Site site) {
        return jdbc.sql("""
                        select count(*) from protection t
                        where t.site_id = :site and t.files_stored > 0
                          and not exists (select from protection o join site s using (site_id)
                                          where o.experiment_id = t.experiment_id and o.site_id <> t.site_id
                                            and s.removed_at is null and o.entries = o.entries_safe)
                        """).param("site", site.id()).query(Long.class).single();
    }

    /**
     * Brings a site back that was retired or removed. What was sealed since is not safe there yet.
     *
     * @return whether there is such a site
     * @throws Refusal if it is not retired, or another site has its root
     */
    @Transactional
    public boolean unretire(String name, String actor) {
        lock(name);
        if (find(name).isPresent()) {
            throw Refusal.conflict("name", "%s is not retired", name);
        }
        Optional<Site> found = findEvenRemoved(name);
        found.ifPresent(site -> {
            if (all().stream().anyMatch(other -> isSameRoot(other.address(), site.address()))) {
                throw Refusal.conflict("name", "another site has the root of site %s now", name);
            }
            jdbc.sql("""
                            update site set removed_at = null, removed_by = null, removed_reason = null, removed_unsafe = null,
                                            updated_at = :now
                            where site_id = :site
                            """)
                    .params(Map.of("now", Timestamp.from(clock.instant()), "site", site.id()))
                    .update();
            ledger.append(actor, "site.unretired", name, Map.of());
        });
        return found.isPresent();
    }

    private static boolean isSameRoot(SiteAddress one, SiteAddress other) {
        return one.host().equals(other.host())
                && one.port() == other.port()
                && one.root().equals(other.root());
    }

    private void close(Site site, String actor, @Nullable String reason, @Nullable String unsafe) {
        jdbc.sql("""
                        update site set removed_at = :now, removed_by = :actor, removed_reason = :reason, removed_unsafe = :unsafe,
                                        updated_at = :now
                        where site_id = :site
                        """)
                .params(Map.of("now", Timestamp.from(clock.instant()), "actor", actor, "site", site.id()))
                .param("reason", reason)
                .param("unsafe", unsafe)
                .update();
    }

    private void acknowledge(Site site, String actor) {
        Timestamp now = Timestamp.from(clock.instant());
        jdbc.sql("""
                        insert into acknowledgement (finding_id, acknowledged_by, acknowledged_at, reason)
                        select f.finding_id, :actor, :now, :reason
                        from finding f join run r using (run_id)
                        where r.site_id = :site and f.superseded_by is null
                        on conflict (finding_id) do nothing
                        """)
                .params(Map.of("actor", actor, "now", now, "reason", "site %s was removed".formatted(site.name())))
                .param("site", site.id())
                .update();
    }

    private boolean holds(String question, Site site) {
        return jdbc.sql(question).param("site", site.id()).query(Boolean.class).single();
    }

    /** Gives a site, of a rebuilt catalogue, the mark that its root has. */
    public void keepMark(Site site, UUID mark) {
        jdbc.sql("update site set mark = :mark where site_id = :site")
                .params(Map.of("mark", mark, "site", site.id()))
                .update();
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
        return jdbc.sql("select * from site where name = :name and removed_at is null")
                .param("name", name)
                .query(SITE)
                .optional();
    }

    /** Returns a site by its name, also a removed one: its address and its copies may still be there. */
    public Optional<Site> findEvenRemoved(String name) {
        return jdbc.sql("select * from site where name = :name")
                .param("name", name)
                .query(SITE)
                .optional();
    }

    /** Returns a site by its id, also a removed one. */
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

    /**
     * Returns the site with this name; without a name, the only one.
     *
     * @throws Refusal if there is none, or a name is needed
     */
    public Site chosen(@Nullable String name) {
        return name == null
                ? only().orElseThrow(() -> new Refusal("site", "no site is registered; register one first"))
                : find(name).orElseThrow(() -> new Refusal("site", "site \"%s\" does not exist", name));
    }

    /** Returns all sites but removed ones, by name. */
    public List<Site> all() {
        return jdbc.sql("select * from site where removed_at is null order by name")
                .query(SITE)
                .list();
    }

    /** Returns the site that was registered first, of those that are not removed. */
    public Optional<Site> first() {
        return all().stream().min(Comparator.comparingInt(Site::id));
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
