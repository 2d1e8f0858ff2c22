package dozo.transfer;

import dozo.file.Entry;
import java.util.List;

/** What is sent, verified and retried as one. */
public sealed interface Unit {

    /** Entries that are sent whole. */
    record Bundle(List<Entry> entries) implements Unit {}

    /** The bytes {@code offsetBytes} to {@code offsetBytes + lengthBytes} of a large file. */
    record Range(Entry entry, long offsetBytes, long lengthBytes) implements Unit {}

    /** A large file whose ranges are all at the site: to be proven, and given its final name. */
    record Whole(Entry entry) implements Unit {}
}
