package dozo.start;

import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/**
 * What a database's server says about itself and the user of a connection.
 *
 * @param schema where Dozo's tables are or will be; null: nowhere
 * @param superuser whether the user is one
 * @param ownsLedger whether the user may do with the ledger's table what its owner may; false if there is none
 * @param admitted whether the user may do what the service does at run time
 * @param foreignTables tables there that belong to other users
 * @param ourLimit the least limit of connections of the user and of the database; -1: none
 */
public record DatabaseServer(
        int version,
        String fullVersion,
        String encoding,
        boolean recovering,
        boolean readOnly,
        @Nullable String schema,
        boolean mayCreate,
        boolean mayCreateTemporary,
        boolean superuser,
        boolean ownsLedger,
        boolean admitted,
        long foreignTables,
        boolean findsWords,
        int connectionsMax,
        int ourLimit,
        boolean fsync,
        boolean fullPageWrites,
        String synchronousCommit,
        double pageCost) {

    /** The schema uses {@code storage} in {@code create table}, which came with it. */
    public static final int VERSION_OLDEST = 16;

    public static final int VERSION_TESTED = 18;

    /**
     * Why Dozo cannot use it.
     *
     * @param cure what to do, in one sentence
     * @param passing whether it may end without a person, as after a failover
     */
    public record Unfit(String message, String cure, boolean passing) {

        Unfit(String message, String cure) {
            this(message, cure, false);
        }
    }

    /** Asks the server of this connection. */
    public static DatabaseServer of(Connection connection) {
        return JdbcClient.create(new SingleConnectionDataSource(connection, true))
                .sql("""
                        select current_setting('server_version_num')::int / 10000 as version,
                               split_part(current_setting('server_version'), ' ', 1) as full_version,
                               pg_encoding_to_char(d.encoding) as encoding,
                               pg_is_in_recovery() as recovering,
                               current_setting('default_transaction_read_only')::boolean as read_only,
                               current_schema() as schema,
                               coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create,
                               has_database_privilege(d.oid, 'temporary') as may_create_temporary,
                               r.rolsuper as superuser,
                               coalesce((select pg_has_role(c.relowner, 'usage') from pg_class c
                                         where c.oid = to_regclass('ledger')), false) as owns_ledger,
                               coalesce(has_table_privilege(to_regclass('service_lease'), 'update'), false) as admitted,
                               (select count(*) from pg_class c
                                where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
                                  and not pg_has_role(c.relowner, 'usage')) as foreign_tables,
                               exists (select from pg_extension where extname = 'pg_trgm')
                               or exists (select from pg_available_extension_versions
                                          where name = 'pg_trgm' and trusted
                                            and has_database_privilege(d.oid, 'create')) as finds_words,
                               current_setting('max_connections')::int
                               - current_setting('superuser_reserved_connections')::int
                               - coalesce(current_setting('reserved_connections', true), '0')::int as connections_max,
                               coalesce(least(nullif(d.datconnlimit, -1), nullif(r.rolconnlimit, -1)), -1) as our_limit,
                               current_setting('fsync')::boolean as fsync,
                               current_setting('full_page_writes')::boolean as full_page_writes,
                               current_setting('synchronous_commit') as synchronous_commit,
                               current_setting('random_page_cost')::double precision as page_cost
                        from pg_database d, pg_roles r
                        where d.datname = current_database() and r.rolname = current_user
                        """)
                .query(DatabaseServer.class)
                .single();
    }

    /** Returns why no service can use it; empty: it can. */
    public List<Unfit> unfit() {
        return Stream.of(release(), writable(), place(), temporary())
                .flatMap(Optional::stream)
                .toList();
    }

    /** Returns why its release or encoding is none that Dozo works with. */
    public Optional<Unfit> release() {
        if (version < VERSION_OLDEST) {
            return Optional.of(new Unfit(
                    "PostgreSQL %s is too old".formatted(fullVersion),
                    "Use PostgreSQL %d, or %d at least.".formatted(VERSION_TESTED, VERSION_OLDEST)));
        }
        return encoding.equals("UTF8")
                ? Optional.empty()
                : Optional.of(new Unfit(
                        "the encoding of the database is %s".formatted(encoding),
                        "Create another database with --encoding UTF8 --template template0."));
    }

    private Optional<Unfit> writable() {
        return recovering || readOnly
                ? Optional.of(new Unfit(
                        recovering ? "the server is a standby, which is read-only" : "transactions are read-only",
                        "Name all servers in DOZO_DB_URL with ?targetServerType=primary, or set default_transaction_read_only to off.",
                        recovering))
                : Optional.empty();
    }

    private Optional<Unfit> place() {
        return schema == null
                ? Optional.of(new Unfit(
                        "no schema of the user's search_path exists",
                        "Create a schema for Dozo's user: create schema authorization USER."))
                : Optional.empty();
    }

    private Optional<Unfit> temporary() {
        return mayCreateTemporary
                ? Optional.empty()
                : Optional.of(new Unfit(
                        "the user may not create temporary tables",
                        "Run as the database's owner: grant temporary on database NAME to USER."));
    }

    /**
     * Returns why its user cannot create and upgrade the tables; empty: it can.
     *
     * @param who the user or the owner, for people
     */
    public List<Unfit> unfitForTables(String who) {
        List<Unfit> unfit = new ArrayList<>();
        String name = who.toUpperCase(Locale.ROOT);
        if (schema != null && !mayCreate) {
            unfit.add(new Unfit(
                    "the %s may not create tables in schema %s".formatted(who, schema),
                    "Run as the database's owner: grant create on schema %s to %s.".formatted(schema, name)));
        }
        if (foreignTables > 0) {
            unfit.add(new Unfit(
                    "%,d tables in schema %s belong to other users, so upgrades fail".formatted(foreignTables, schema),
                    "Run as a superuser: reassign owned by OTHER to %s; or use an empty database.".formatted(name)));
        }
        return unfit;
    }
}
