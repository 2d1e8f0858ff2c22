package dozo.registry;

import org.springframework.jdbc.core.simple.JdbcClient;

/** The registrations that every experiment's rows need. */
public final class RegisteredRows {

    private RegisteredRows() {}

    /**
     * Inserts project {@code p} with experiment {@code E1}, site {@code dr}, and an active run; all have the number 1.
     */
    public static void insert(JdbcClient jdbc) {
        jdbc.sql("""
                insert into project (code, created_at) values ('p', now());
                insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                values (1, 'E1', 'filesystem', '/data', now(), 'test');
                insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                values ('dr', 'dr.example', 22, 'dozo', '/dr', 'ssh-ed25519 AAAA', '/key', now());
                insert into run (kind, site_id, state, requested_by, started_at)
                values ('nightlyBackup', 1, 'RUNNING', 'test', now());
                """).update();
    }

    /** Ends the entry of experiment 1 with a name in a folder, if there is one, as a later manifest does. */
    public static void endEntry(JdbcClient jdbc, int manifest, int directory, byte[] name) {
        jdbc.sql("""
                        with ended as (
                            delete from entry where experiment_id = 1 and directory_no = :directory and name = :name returning *
                        )
                        insert into ended_entry select *, greatest(since_manifest + 1, :manifest) from ended
                        """)
                .param("manifest", manifest)
                .param("directory", directory)
                .param("name", name)
                .update();
    }
}
