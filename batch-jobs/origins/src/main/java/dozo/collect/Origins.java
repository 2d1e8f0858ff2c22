package dozo.collect;

import static java.util.Objects.requireNonNull;

import dozo.collect.Terms.Tree;
import dozo.file.FilePath;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.registry.Code;
import dozo.registry.GivenPaths;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.Relocations.Relocation;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** The systems that experiments are collected from. */
@Component
public class Origins {

    private static final int ADDRESS_LENGTH_MAX = 500;
    private static final String SELECT = """
            select o.*, p.code as project,
                   array(select m.theirs from origin_project m where m.origin_id = o.origin_id order by m.theirs) as theirs,
                   array(select mp.code from origin_project m join project mp using (project_id)
                         where m.origin_id = o.origin_id order by m.theirs) as ours,
                   (select min(checked_at) from origin_checked c where c.origin_id = o.origin_id) as oldest_check_at
            from origin o left join project p using (project_id)
            """;

    private static final RowMapper<Origin> ORIGIN = (row, n) -> new Origin(
            row.getInt("origin_id"),
            row.getString("name"),
            terms(row),
            row.getString("newest"),
            Rows.instant(row, "looked_at"),
            Rows.instant(row, "oldest_check_at"),
            requireNonNull(Rows.instant(row, "updated_at")));

    private final JdbcClient jdbc;
    private final Projects projects;
    private final Map<OriginKind, Collector> collectors;
    private final Ledger ledger;
    private final InstantSource clock;

    /**
     * An origin.
     *
     * @param newest where the next look starts, in the origin's own terms; null if everything counts as changed
     * @param lookedAt when its items were last listed
     * @param oldestCheckAt when the delivered file was checked in the origin whose last check is the oldest; null: there is none
     */
    public record Origin(
            int id,
            String name,
            Terms terms,
            @Nullable String newest,
            @Nullable Instant lookedAt,
            @Nullable Instant oldestCheckAt,
            Instant updatedAt) {}

    public Origins(JdbcClient jdbc, Projects projects, List<Collector> collectors, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.projects = projects;
        this.collectors = collectors.stream().collect(Collectors.toMap(Collector::kind, each -> each));
        this.ledger = ledger;
        this.clock = clock;
    }

    Collector collector(OriginKind kind) {
        return requireNonNull(collectors.get(kind));
    }

    /**
     * Registers an origin, or changes the one with this name.
     *
     * @throws Refusal if a value is malformed or does not exist, another origin has its spool, or its kind or spool
     * would change although something was collected into it
     */
    @Transactional
    public Origin save(String name, Terms wanted, String actor) {
        Code.checked("name", name);
        lock(name);
        Optional<Origin> before = find(name);
        Terms terms = wanted.checked();
        collector(terms.kind()).check(terms);
        if (before.isPresent() && before.get().terms().equals(terms)) {
            return before.get();
        }
        refuseForeignSpool(name, terms);
        before.ifPresent(origin -> refuseOther(origin, terms));
        int id = write(name, terms);
        map(id, terms.projects());
        place(id, terms.automatic());
        ledger.change(
                actor,
                before.isPresent() ? "origin.changed" : "origin.registered",
                name,
                before.map(origin -> origin.terms().text()).orElse(""),
                terms.text());
        return find(name).orElseThrow();
    }

    /**
     * Registers an origin with a new name.
     *
     * @throws Refusal as {@link #save}, and if the name exists
     */
    @Transactional
    public Origin register(String name, Terms wanted, String actor) {
        if (find(name).isPresent()) {
            throw Refusal.conflict("name", "origin %s already exists; change it, or choose another name", name);
        }
        return save(name, wanted, actor);
    }

    /**
     * Changes an origin that a user has loaded.
     *
     * @param seen the time of its last change when the user loaded it
     * @throws Refusal as {@link #save}, and if it has been changed since
     */
    @Transactional
    public Origin change(String name, Instant seen, Terms wanted, String actor) {
        lock(name);
        if (!find(name).map(Origin::updatedAt).equals(Optional.of(seen))) {
            throw Refusal.conflict("seen", "the origin was changed after you loaded the page; reload the page");
        }
        return save(name, wanted, actor);
    }

    /**
     * Moves the folders of origins that are at or below a moved folder; what is known of their items stays. Without the sight
     * of everything, no origin moves. Retired experiments stay until a tree finds them.
     *
     * @param moved the experiments whose sources have moved
     * @throws Refusal if another origin has the new folder, or an experiment would be outside of its origin's folder
     */
    @Transactional(propagation = Propagation.MANDATORY)
    public void move(Relocation wanted, int[] moved, String actor) {
        List<Integer> ids = new ArrayList<>();
        for (Origin each : jdbc.sql(SELECT).query(ORIGIN).list()) {
            Path now = wanted.after(each.terms().spool());
            if (wanted.sight().ofEverything() && !now.equals(each.terms().spool())) {
                Terms after = each.terms().at(now).checked();
                refuseForeignSpool(each.name(), after);
                write(each.name(), after);
                ledger.change(actor, "origin.changed", each.name(), each.terms().text(), after.text());
                ids.add(each.id());
            }
        }
        jdbc.sql("""
                        select p.code || '/' || e.code as experiment, o.name, o.spool
                        from arrival a
                        join origin o using (origin_id)
                        join experiment e using (experiment_id)
                        join project p on p.project_id = e.project_id
                        left join tree_folder f using (origin_id, item)
                        where a.state <> 'GONE' and e.source_kind <> 'none' and e.retired_at is null
                          and (e.experiment_id = any(:moved) or o.origin_id = any(:origins))
                          and case when f.item is null
                                   then substring(e.source_root for octet_length(o.spool) + 1) <> o.spool || '/'::bytea
                                   else e.source_root <> o.spool || '/'::bytea || f.path end
                        order by e.experiment_id limit 1
                        """)
                .param("moved", moved)
                .param("origins", ids.stream().mapToInt(Integer::intValue).toArray())
                .query((row, n) -> Refusal.conflict(
                        "from",
                        "experiment %s comes from origin %s: the whole folder %s must move, with all its experiments",
                        row.getString("experiment"),
                        row.getString("name"),
                        GivenPaths.shown(FilePath.pathOf(row.getBytes("spool")))))
                .optional()
                .ifPresent(refusal -> {
                    throw refusal;
                });
    }

    /**
     * Parses an address.
     *
     * @throws Refusal if it is not valid, or contains a user name or password
     */
    public static URI address(String text) {
        try {
            URI uri = new URI(text);
            if (List.of("http", "https").contains(uri.getScheme())
                    && uri.getHost() != null
                    && uri.getRawUserInfo() == null
                    && text.length() <= ADDRESS_LENGTH_MAX) {
                return uri;
            }
        } catch (URISyntaxException e) {
            // Refused below.
        }
        throw new Refusal(
                "address", "expected an address such as https://flywheel.example.org, without user name and password");
    }

    /** Locks the origin until the end of the transaction. */
    @Transactional(propagation = Propagation.MANDATORY)
    public void lock(String name) {
        jdbc.sql("select from origin where name = :name for no key update")
                .param("name", name)
                .query()
                .listOfRows();
    }

    public Optional<Origin> find(String name) {
        return jdbc.sql(SELECT + "where o.name = :name")
                .param("name", name)
                .query(ORIGIN)
                .optional();
    }

    public Optional<Origin> find(int id) {
        return jdbc.sql(SELECT + "where o.origin_id = :id")
                .param("id", id)
                .query(ORIGIN)
                .optional();
    }

    /** Returns at most {@code limit} origins whose name comes after {@code after}, by name. */
    public List<Origin> page(String after, int limit) {
        return jdbc.sql(SELECT + "where o.name > :after order by o.name limit :limit")
                .param("after", after)
                .param("limit", limit)
                .query(ORIGIN)
                .list();
    }

    /** Returns the origins that nights look at, by name. */
    static List<Origin> active(JdbcClient jdbc) {
        return jdbc.sql(SELECT + "where o.active order by o.name").query(ORIGIN).list();
    }

    private void refuseForeignSpool(String name, Terms terms) {
        Path spool = terms.spool();
        List<Origin> others = jdbc.sql(SELECT + "where o.name <> :name")
                .param("name", name)
                .query(ORIGIN)
                .list();
        for (Origin other : others) {
            Path theirs = other.terms().spool();
            if (spool.startsWith(theirs) || theirs.startsWith(spool)) {
                throw new Refusal(
                        terms.folderField(),
                        "origin %s already uses this folder as its %s; choose another one",
                        other.name(),
                        other.terms().folderField());
            }
        }
    }

    private void refuseOther(Origin before, Terms terms) {
        boolean same =
                before.terms().kind() == terms.kind() && before.terms().spool().equals(terms.spool());
        if (!same && any(before.id())) {
            throw new Refusal(
                    before.terms().kind() != terms.kind() ? "kind" : terms.folderField(),
                    "the collected data is in %s and stays there; register another origin",
                    before.terms().folder());
        }
    }

    private boolean any(int id) {
        return jdbc.sql("select exists (select from arrival where origin_id = :id)")
                .param("id", id)
                .query((row, n) -> row.getBoolean(1))
                .single();
    }

    private int write(String name, Terms terms) {
        Path secret = terms.secretFile();
        return jdbc.sql("""
                        insert into origin (name, kind, address, secret_file, storage_hosts, spool, project_id, automatic, active,
                                            patterns, ready, updated_at)
                        values (:name, :kind, :address, :secret, :hosts, :spool, :project, :automatic, :active,
                                :patterns, :ready, :now)
                        on conflict (name) do update
                            set kind = :kind, address = :address, secret_file = :secret, storage_hosts = :hosts, spool = :spool,
                                project_id = :project, automatic = :automatic, active = :active, patterns = :patterns,
                                ready = :ready, updated_at = :now
                        returning origin_id
                        """)
                .param("name", name)
                .param("kind", terms.kind().word())
                .param("address", terms.address().toString())
                .param("secret", secret == null ? null : FilePath.rawBytes(secret), Types.BINARY)
                .param("hosts", terms.storageHosts().toArray(String[]::new))
                .param("spool", FilePath.rawBytes(terms.spool()))
                .param("project", terms.project() == null ? null : project("project", terms.project()), Types.INTEGER)
                .param("automatic", terms.automatic())
                .param("active", terms.active())
                .param("patterns", texts(terms.tree(), Tree::patternTexts))
                .param("ready", texts(terms.tree(), Tree::readyTexts))
                .param("now", Timestamp.from(clock.instant()))
                .query((row, n) -> row.getInt(1))
                .single();
    }

    private void map(int id, Map<String, String> theirs) {
        jdbc.sql("delete from origin_project where origin_id = :id")
                .param("id", id)
                .update();
        theirs.forEach((their, ours) -> jdbc.sql(
                        "insert into origin_project (origin_id, theirs, project_id) values (:id, :theirs, :project)")
                .param("id", id)
                .param("theirs", their)
                .param("project", project("projects", ours))
                .update());
    }

    /** Updates the projects of proposals; if acceptance is automatic, the next night looks at them. */
    private void place(int id, boolean automatic) {
        jdbc.sql("""
                        update arrival a
                        set project_id = coalesce(
                                (select m.project_id from origin_project m where m.origin_id = o.origin_id and m.theirs = a.theirs),
                                o.project_id),
                            waiting = a.waiting or (:automatic and a.state = 'OFFERED' and a.dismissed_at is null)
                        from origin o
                        where o.origin_id = :id and a.origin_id = o.origin_id and a.experiment_id is null
                        """).param("id", id).param("automatic", automatic).update();
    }

    private int project(String field, String code) {
        return projects.find(code)
                .orElseThrow(() -> new Refusal(field, "project \"%s\" does not exist; create it first", code))
                .living(field)
                .id();
    }

    private static Terms terms(ResultSet row) throws SQLException {
        byte[] secret = row.getBytes("secret_file");
        return new Terms(
                OriginKind.of(row.getString("kind")).orElseThrow(),
                URI.create(row.getString("address")),
                secret == null ? null : FilePath.pathOf(secret),
                List.of(texts(row.getArray("storage_hosts"))),
                FilePath.pathOf(row.getBytes("spool")),
                row.getString("project"),
                mapping(texts(row.getArray("theirs")), texts(row.getArray("ours"))),
                row.getBoolean("automatic"),
                row.getBoolean("active"),
                tree(row));
    }

    private static @Nullable Tree tree(ResultSet row) throws SQLException {
        List<String> patterns = List.of(texts(row.getArray("patterns")));
        return patterns.isEmpty() ? null : Tree.of(patterns, List.of(texts(row.getArray("ready"))));
    }

    private static String[] texts(@Nullable Tree tree, Function<Tree, List<String>> texts) {
        return tree == null ? new String[0] : texts.apply(tree).toArray(String[]::new);
    }

    private static Map<String, String> mapping(String[] theirs, String[] ours) {
        Map<String, String> mapping = new TreeMap<>();
        for (int i = 0; i < theirs.length; i++) {
            mapping.put(theirs[i], ours[i]);
        }
        return mapping;
    }

    private static String[] texts(Array column) throws SQLException {
        return (String[]) column.getArray();
    }
}
