package dozo.run;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a service or worker has of that which processes with one database need to have in common. Contains fingerprints and never
 * secrets (ADR 0081).
 *
 * @param version version and commit of the program
 * @param keys by name, such as {@code site-key}
 * @param settings digests of values, by environment variable
 */
public record Equipment(String version, SortedMap<String, Key> keys, SortedMap<String, String> settings) {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    /**
     * A key, or a file with a password.
     *
     * @param file where this process reads it
     * @param print its fingerprint, {@code set} for a password; empty: it is missing or cannot be used
     */
    public record Key(String file, String print) {}

    public enum Kind {
        /** A key is missing or cannot be used, so this process could not take over. */
        KEY_MISSING,
        /** A key differs. */
        KEY_DIFFERS,
        /** A setting has another value. */
        SETTING_DIFFERS,
        /** Version or commit of the program differ. */
        VERSION_DIFFERS
    }

    /**
     * How a service or worker differs from the active service.
     *
     * @param name of the key; the environment variable of the setting; the version of the active service
     * @param file where it looks for the key; empty unless it is a key
     * @param source where the active service has the key, on its machine; empty unless it is a key
     */
    public record Difference(Kind kind, String name, String file, String source) {

        /** Returns whether it could not do the work of the active service. */
        public boolean grave() {
            return kind == Kind.KEY_MISSING || kind == Kind.KEY_DIFFERS;
        }

        /** Describes the difference for the log and the terminal. */
        public String words() {
            return switch (kind) {
                case KEY_MISSING -> "the key %s is missing or not usable in %s".formatted(name, file);
                case KEY_DIFFERS -> "the key %s in %s differs".formatted(name, file);
                case SETTING_DIFFERS -> "%s differs".formatted(name);
                case VERSION_DIFFERS -> "the active service has version %s".formatted(name);
            };
        }
    }

    /** Returns the differences from the active service, first the grave ones. Only what both need is compared. */
    public List<Difference> differences(Equipment active) {
        List<Difference> differences = new ArrayList<>();
        keys.forEach((name, own) -> {
            Key theirs = active.keys.get(name);
            if (theirs != null && !theirs.print.isEmpty() && !theirs.print.equals(own.print)) {
                Kind kind = own.print.isEmpty() ? Kind.KEY_MISSING : Kind.KEY_DIFFERS;
                differences.add(new Difference(kind, name, own.file, theirs.file));
            }
        });
        settings.forEach((name, own) -> {
            if (!own.equals(active.settings.getOrDefault(name, own))) {
                differences.add(new Difference(Kind.SETTING_DIFFERS, name, "", ""));
            }
        });
        if (!version.equals(active.version)) {
            differences.add(new Difference(Kind.VERSION_DIFFERS, active.version, "", ""));
        }
        return differences;
    }

    public String json() {
        return JSON.writeValueAsString(this);
    }

    static Equipment of(String json) {
        return JSON.readValue(json, Equipment.class);
    }
}
