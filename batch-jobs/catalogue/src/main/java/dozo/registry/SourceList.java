package dozo.registry;

import dozo.ledger.Worded;
import java.nio.file.Path;

/**
 * The file list that replaces the walk of a source. Every run reads it again; Dozo does not create it.
 *
 * @param file its path on the service's machine
 * @param bound whether it is below a root of the project, without a link on its path
 */
public record SourceList(Path file, Form form, boolean bound) {

    /** Creates a list of which only the path is known. */
    public SourceList(Path file, Form form) {
        this(file, form, false);
    }

    /** Returns the path for opening it without following a link: see {@link Experiments.Experiment#opened()}. */
    public Path opened() {
        return bound ? file : GivenPaths.withoutLinks(file);
    }

    /** The program that wrote it. */
    public enum Form implements Worded {
        /** GNU find. */
        FIND,
        /** A policy of IBM Storage Scale. */
        POLICY;

        /**
         * Returns the form with this word.
         *
         * @throws Refusal if there is none
         */
        public static Form of(String word) {
            return Worded.of(Form.class, word)
                    .orElseThrow(() -> new Refusal("listForm", "\"%s\": expected find or policy", word));
        }
    }
}
