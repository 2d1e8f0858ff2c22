package dozo.registry;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/**
 * The file list that says what a source holds, in place of a walk. It is read anew at every run; nothing makes it here.
 *
 * @param file where it lies on the service's machine
 * @param bound whether it lies below a root of the project, without a link on the way
 */
public record SourceList(Path file, Form form, boolean bound) {

    /** One of which nothing is known yet but its path. */
    public SourceList(Path file, Form form) {
        this(file, form, false);
    }

    /** The path to open it by, without following a link: see {@link Experiments.Experiment#opened()}. */
    public Path opened() {
        return bound ? file : Experiments.withoutLinks(file);
    }

    /** What wrote it. */
    public enum Form {
        /** GNU find. */
        FIND,
        /** A policy of IBM Storage Scale. */
        POLICY;

        /** Its word in the database and in REST. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        /**
         * The form of this word.
         *
         * @throws Refusal when there is none
         */
        public static Form of(String word) {
            return Arrays.stream(values())
                    .filter(form -> form.word().equals(word))
                    .findFirst()
                    .orElseThrow(() -> new Refusal("listForm", "\"%s\": expected find or policy", word));
        }
    }
}
