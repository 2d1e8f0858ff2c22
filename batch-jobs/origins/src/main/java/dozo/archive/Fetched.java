package dozo.archive;

import dozo.file.Entry;
import dozo.source.dicomweb.Archive.Proof;

/**
 * An instance in a batch, whose bytes have the manifest's digest.
 *
 * @param offset of its first byte in the batch
 */
record Fetched(Entry entry, long offset, Proof proof) {

    String sopUid() {
        return proof.identity().sopUid();
    }

    long sizeBytes() {
        return entry.facts().sizeBytes();
    }
}
