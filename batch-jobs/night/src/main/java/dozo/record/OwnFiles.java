package dozo.record;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.sql.Types;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The digests of what Dozo wrote for itself at the sites: records of the catalogue, and tag files that were replaced. */
@Component
public class OwnFiles {

    private final JdbcClient jdbc;

    public OwnFiles(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns the files of an experiment at a site by their paths below its root; for null the base records. */
    public Map<FilePath, Digest> of(int siteId, @Nullable Integer experimentId) {
        Map<FilePath, Digest> files = new TreeMap<>();
        jdbc.sql("""
                        select path, digest from own_file
                        where site_id = :site and experiment_id is not distinct from :experiment::integer
                        """)
                .param("site", siteId)
                .param("experiment", experimentId, Types.INTEGER)
                .query(row -> {
                    files.put(FilePath.of(row.getBytes("path")), Digest.of(row.getBytes("digest")));
                });
        return files;
    }

    public void keep(int siteId, @Nullable Integer experimentId, FilePath path, Digest digest) {
        jdbc.sql("""
                        insert into own_file (site_id, path, experiment_id, digest) values (:site, :path, :experiment, :digest)
                        on conflict (site_id, path) do update set digest = excluded.digest
                        """)
                .param("site", siteId)
                .param("path", path.bytes())
                .param("experiment", experimentId, Types.INTEGER)
                .param("digest", digest.bytes())
                .update();
    }

    /** Forgets the records in a folder: no later record needs them. */
    void forget(int siteId, @Nullable Integer experimentId, FilePath folder) {
        jdbc.sql("""
                        delete from own_file
                        where site_id = :site and experiment_id is not distinct from :experiment::integer
                          and substring(path for octet_length(:folder::bytea)) = :folder
                        """)
                .param("site", siteId)
                .param("experiment", experimentId, Types.INTEGER)
                .param("folder", folder.bytes())
                .update();
    }
}
