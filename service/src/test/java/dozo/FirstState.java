package dozo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * What a service had in its database and its work folder when it had started. The service goes on while it is put back;
 * it must be at rest.
 */
final class FirstState {

    /** The lease is renewed all the time. */
    private static final String KEPT = "('service_lease', 'flyway_schema_history')";

    /** Whatever a test may change about the schema. */
    private static final String SCHEMA = """
        with found as (
            select oid, 'class', relnatts::text from pg_class where relnamespace = 'public'::regnamespace
            union all
            select oid, 'function', xmin::text from pg_proc where pronamespace = 'public'::regnamespace
            union all
            select oid, 'constraint', '' from pg_constraint where connamespace = 'public'::regnamespace
            union all
            select t.oid, 'trigger', t.tgenabled::text from pg_trigger t join pg_class c on c.oid = tgrelid
            where relnamespace = 'public'::regnamespace
        )
        select md5(string_agg(found::text, ' ' order by found::text)) from found
        """;

    private final JdbcClient jdbc;
    private final Path work;
    private final String schema;
    private final Map<Path, byte[]> files;
    private final Map<Path, Set<PosixFilePermission>> permissions = new HashMap<>();

    /** Remembers what is there now. */
    FirstState(DataSource database, Path work) throws IOException {
        this.jdbc = JdbcClient.create(database);
        this.work = work;
        jdbc.sql("""
            create schema first_state;
            create table first_state.number as
            select sequencename as name, last_value from pg_sequences where schemaname = 'public';
            do $$
            declare
                kept name;
                filled boolean;
            begin
                for kept in select relname from pg_class
                            where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not in %s
                loop
                    execute format('select exists (select from public.%%I)', kept) into filled;
                    if filled then
                        execute format('create table first_state.%%I as table public.%%I', kept, kept);
                    end if;
                end loop;
            end
            $$
            """.formatted(KEPT)).update();
        schema = schema();
        files = files().stream()
                .filter(Files::isRegularFile)
                .collect(Collectors.toMap(file -> file, FirstState::content));
        for (Path file : files.keySet()) {
            permissions.put(file, Files.getPosixFilePermissions(file));
        }
    }

    /**
     * Puts all back.
     *
     * @return false if it is not possible, because a test has changed the schema
     */
    boolean putBack() throws IOException {
        if (!schema().equals(schema)) {
            return false;
        }
        putBackRows();
        putBackFiles();
        return true;
    }

    private String schema() {
        return jdbc.sql(SCHEMA).query(String.class).single();
    }

    /**
     * In one transaction, without triggers and foreign keys. NB: numbers of users and restores are not used again, because
     * the service remembers the latest of them by their numbers.
     */
    private void putBackRows() {
        jdbc.sql("""
            do $$
            declare
                kept name;
                columns text;
            begin
                set local session_replication_role = replica;
                set local lock_timeout = '10s';
                for kept in select relname from pg_class
                            where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not in %s
                loop
                    execute format('delete from public.%%I', kept);
                end loop;
                for kept in select relname from pg_class
                            where relnamespace = 'first_state'::regnamespace and relname <> 'number'
                loop
                    select string_agg(quote_ident(attname), ', ') into columns from pg_attribute
                    where attrelid = format('public.%%I', kept)::regclass and attnum > 0 and not attisdropped
                      and attgenerated = '';
                    execute format('insert into public.%%I (%%s) overriding system value select %%s from first_state.%%I',
                                   kept, columns, columns, kept);
                end loop;
                perform setval(format('public.%%I', name)::regclass, coalesce(last_value, 1), last_value is not null)
                from first_state.number
                where name not like 'batch_%%' and name not in ('dozo_user_user_id_seq', 'restore_restore_id_seq');
            end
            $$
            """.formatted(KEPT)).update();
    }

    private void putBackFiles() throws IOException {
        for (Path file : files()) {
            if (!files.containsKey(file) && !isParent(file)) {
                Files.delete(file);
            }
        }
        for (Map.Entry<Path, byte[]> file : files.entrySet()) {
            if (!Files.isRegularFile(file.getKey())
                    || !java.util.Arrays.equals(file.getValue(), content(file.getKey()))) {
                Files.write(file.getKey(), file.getValue());
            }
            // A key that a test removed would come back readable by all, and then is not used.
            Files.setPosixFilePermissions(file.getKey(), permissions.get(file.getKey()));
        }
    }

    private boolean isParent(Path folder) {
        return files.keySet().stream().anyMatch(file -> file.startsWith(folder));
    }

    /** Returns everything in the work folder, what is in a folder before it. */
    private List<Path> files() {
        try (Stream<Path> all = Files.walk(work)) {
            return all.filter(file -> !file.equals(work))
                    .sorted(Comparator.reverseOrder())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] content(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
