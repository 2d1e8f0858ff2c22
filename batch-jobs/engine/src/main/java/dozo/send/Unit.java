package dozo.send;

import dozo.file.Entry;
import java.util.List;

/** What is sent, verified and retried as one. */
public sealed interface Unit {

    List<Entry> entries();

    /** Entries that are sent whole, many at a time. */
    record Bundle(List<Entry> entries) implements Unit {}

    /**
     * Further names of files. They are linked at the site, if it can and their file is there; otherwise they are sent.
     *
     * @param copies verified files that they may be linked to
     */
    record Links(List<Entry> entries, List<Outcome.Verified> copies) implements Unit {}

    /** A large file, sent as ranges over all lanes at once. */
    record Large(Entry entry) implements Unit {

        @Override
        public List<Entry> entries() {
            return List.of(entry);
        }
    }
}
