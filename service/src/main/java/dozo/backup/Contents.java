package dozo.backup;

import dozo.db.TableDump;
import dozo.start.StartFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * What is in a backup, and what must be found in it.
 *
 * @param form 1; a later program may write another one
 * @param version of the program that made it
 * @param schema the version of the database's schema
 * @param postgresql the version of the server
 * @param head the last row of the ledger when the backup began; null: it had none
 * @param files the files of the work folder
 */
public record Contents(
        int form,
        Instant madeAt,
        String version,
        String schema,
        String postgresql,
        @Nullable Head head,
        TableDump.Contents database,
        List<KeptFile> files) {

    static final String FILE = "backup.json";
    static final int FORM = 1;

    private static final JsonMapper JSON = JsonMapper.builder().build();

    /** The last row of the ledger, with its hash in hexadecimal. */
    public record Head(long row, String hash) {}

    /**
     * A file of the work folder.
     *
     * @param sha256 in hexadecimal
     */
    public record KeptFile(String name, String sha256) {}

    /**
     * Reads the description of a backup.
     *
     * @throws StartFailure if it is not the description of a backup that this program understands
     */
    static Contents read(Path folder) throws IOException {
        Path file = folder.resolve(FILE);
        if (!Files.isRegularFile(file)) {
            throw refused("%s is not a complete backup: it has no %s".formatted(folder, FILE));
        }
        try {
            Contents contents = JSON.readValue(Files.readAllBytes(file), Contents.class);
            if (contents.form != FORM) {
                throw refused(
                        "%s is of a later version of Dozo, %s: install that one".formatted(folder, contents.version));
            }
            // They become files in the work folder, and nowhere else.
            if (!contents.files.stream().allMatch(kept -> isPlain(kept.name))) {
                throw refused("%s is damaged: it names files of other folders".formatted(file));
            }
            return contents;
        } catch (JacksonException e) {
            throw refused("%s is damaged: %s".formatted(file, e.getOriginalMessage()));
        }
    }

    private static boolean isPlain(String name) {
        return !name.isEmpty() && !name.equals(".") && !name.equals("..") && name.indexOf('/') < 0;
    }

    private static StartFailure refused(String why) {
        return new StartFailure(StartFailure.UNAVAILABLE, why);
    }

    byte[] json() {
        return JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(this);
    }
}
