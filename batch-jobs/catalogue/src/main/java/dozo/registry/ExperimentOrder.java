package dozo.registry;

import dozo.ledger.Worded;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Base64;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A sort key of experiments and its direction. Experiments with equal keys are sorted by id, in the same direction.
 */
public record ExperimentOrder(Sort by, boolean descending) {

    /** The order of registration. */
    public static final ExperimentOrder REGISTERED = new ExperimentOrder(Sort.REGISTERED, false);

    /**
     * Returns the order with this word.
     *
     * @throws Refusal if there is none
     */
    public static ExperimentOrder of(String word) {
        boolean descending = word.startsWith("-");
        String by = descending ? word.substring(1) : word;
        return Worded.of(Sort.class, by)
                .map(each -> new ExperimentOrder(each, descending))
                .orElseThrow(() -> new Refusal(
                        "sort",
                        "\"%s\": expected one of %s; with - before it for descending order",
                        word,
                        Arrays.stream(Sort.values()).map(Sort::word).collect(Collectors.joining(", "))));
    }

    /** Returns the order that a choice of a key leads to: the reversed one, or for a new key the usual one. */
    public ExperimentOrder chosen(Sort key) {
        return by == key ? reversed() : new ExperimentOrder(key, key == Sort.FILES || key == Sort.SIZE);
    }

    public ExperimentOrder reversed() {
        return new ExperimentOrder(by, !descending);
    }

    /** Returns its word in addresses: the sort key, with - before it if descending. */
    public String word() {
        return (descending ? "-" : "") + by.word();
    }

    /**
     * What experiments can be sorted by. Each key is never null: an unknown value is the smallest, and so is that of an
     * experiment of which nothing was sealed.
     */
    public enum Sort implements Worded {
        /** The order of registration. */
        REGISTERED(true, "e.experiment_id"),
        /** {@code PROJECT/CODE}. */
        NAME(false, "lower(e.project || '/' || e.code) collate \"C\""),
        TITLE(false, "lower(e.title)"),
        MODALITY(false, "coalesce(e.modality, '')"),
        SCANNER(false, "coalesce(e.scanner, '')"),
        ACQUIRED(false, "coalesce(to_char(e.acquired_on, 'YYYY-MM-DD'), '')"),
        /** The gravest state first. */
        STATE(true, "array_position(:all, e.state)"),
        FILES(true, "coalesce(e.files, -1)"),
        SIZE(true, "coalesce(e.bytes, -1)"),
        /** The share of the bytes that is safe; 100 % only if every entry is safe. */
        SAFE(true, """
                case when e.entries is null then -1
                     when e.entries = e.entries_safe then 2
                     else coalesce(e.bytes_safe::float8 / nullif(e.bytes, 0), 0) end""");

        private final boolean number;
        private final String key;

        Sort(boolean number, String key) {
            this.number = number;
            // One type for all numbers, so that a key can be compared with the one in an address.
            this.key = number ? "(" + key + ")::float8" : key;
        }

        /** Returns the SQL expression of the key. */
        String key() {
            return key;
        }

        /** Returns whether the values differ between sites. */
        public boolean atSite() {
            return compareTo(STATE) >= 0;
        }

        @Nullable
        Object keyOf(ResultSet row) throws SQLException {
            if (this == REGISTERED) {
                return null;
            }
            return number ? (Object) row.getDouble("key") : row.getString("key");
        }

        /** Returns the condition that a row comes after the last one of the page before, if there is one. */
        String beyond(String compared) {
            String type = number ? "float8" : "text";
            return "where (:id::integer is null or (" + key + ", e.experiment_id) " + compared + " (:key::" + type
                    + ", :id::integer))\n";
        }
    }

    /**
     * The place of an experiment in an order, as the key of a page in addresses: its id, and after a full stop its sort
     * key in URL-safe base64, except in the order of registration.
     *
     * @param key a {@code Double} or a {@code String}; null in the order of registration
     */
    public record Place(int id, @Nullable Object key) {

        /**
         * Returns the place that an address names.
         *
         * @throws Refusal if it does not name a place in this order
         */
        public static Place of(Sort by, String text) {
            try {
                int dot = text.indexOf('.');
                int id = Integer.parseInt(dot < 0 ? text : text.substring(0, dot));
                if (by == Sort.REGISTERED && dot < 0) {
                    return new Place(id, null);
                }
                if (by != Sort.REGISTERED && dot > 0) {
                    String key =
                            new String(Base64.getUrlDecoder().decode(text.substring(dot + 1)), StandardCharsets.UTF_8);
                    // PostgreSQL's text cannot contain NUL.
                    return new Place(id, by.number ? (Object) Double.valueOf(key) : key.replace("\0", ""));
                }
            } catch (IllegalArgumentException e) {
                // Refused below, whatever is wrong with it.
            }
            throw new Refusal("after", "\"%s\": expected the end of a page in this order", text);
        }

        @Override
        public String toString() {
            String place = String.valueOf(id);
            return key == null
                    ? place
                    : place
                            + '.'
                            + Base64.getUrlEncoder()
                                    .withoutPadding()
                                    .encodeToString(key.toString().getBytes(StandardCharsets.UTF_8));
        }
    }
}
