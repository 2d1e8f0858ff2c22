package dozo.send;

import dozo.file.Entry;
import java.util.List;

/** What is sent, verified and retried as one. */
public sealed interface Unit {

    /** Entries that are sent whole, many at a time. */
    record Bundle(List<Entry> entries) implements Unit {}

    /** A large file, sent as ranges over all lanes at once. */
    record Large(Entry entry) implements Unit {}
}
