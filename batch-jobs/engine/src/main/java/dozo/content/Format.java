package dozo.content;

import org.jspecify.annotations.Nullable;

/** A file format that says itself whether a file is whole. To add one, write it and name it in {@link Inspection}. */
interface Format {

    /** Returns a check of a file that begins like this; null: it is not of this format. */
    @Nullable
    Check check(Beginning file);
}
