package dozo.archive;

import dozo.copy.Inventory.StoredCopy;
import dozo.copy.ProvenRead;
import dozo.file.Digest;
import dozo.send.Throttle;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Trouble;
import dozo.source.flywheel.Writes;
import java.io.IOException;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Restores one file: reads it from the site, looks what Flywheel has under its name, sends it if that is nothing, and looks
 * again. It is verified if Flywheel's hash is the SHA-384 of the proven bytes, or, without a hash, if the bytes that
 * Flywheel returns have the manifest's digest.
 */
final class FileRestore {

    /** What a client may state of a file that it uploads. */
    private static final List<String> STATED =
            List.of("type", "mimetype", "modality", "classification", "tags", "info", "zip_member_count");

    /** What of this is changed by changing the file. */
    private static final List<String> CHANGED = List.of("type", "modality");

    private final Writes writes;
    private final ProvenRead site;
    private final boolean replaces;
    private final Throttle throttle;

    /** What Flywheel has of a file. */
    private enum There {
        ABSENT,
        EQUAL,
        OTHER
    }

    /** What came of a file. */
    sealed interface Outcome {

        /**
         * Flywheel has its bytes.
         *
         * @param differing the names of what describes it otherwise, and stays
         */
        record Verified(boolean sent, Set<String> differing) implements Outcome {}

        /** Flywheel has other bytes. */
        record Differs(boolean afterSending) implements Outcome {}
    }

    FileRestore(Writes writes, ProvenRead site, boolean replaces, Throttle throttle) {
        this.writes = writes;
        this.site = site;
        this.replaces = replaces;
        this.throttle = throttle;
    }

    /**
     * Restores a file.
     *
     * @param container its path below {@code /api}
     * @param sealed what Flywheel stated of it
     * @throws ProvenRead.Differs if the copy at the site is damaged
     */
    Outcome bring(String container, JsonNode sealed, StoredCopy copy) throws IOException, InterruptedException {
        String name = sealed.path("name").asString("");
        if (name.isEmpty()) {
            throw new NotRestored("flywheel.json does not state its name");
        }
        try (Batch bytes = new Batch()) {
            DigestOutputStream digested = new DigestOutputStream(bytes.append(), sha384());
            site.into(new Throttled(digested, throttle), copy.place(), copy.digest());
            byte[] sha384 = digested.getMessageDigest().digest();
            long sizeBytes = bytes.sizeBytes();
            String path = "%s/files/%s".formatted(container, Writes.segment(name));
            There there = there(path, sizeBytes, sha384, copy.digest());
            if (there == There.OTHER && !replaces) {
                return new Outcome.Differs(false);
            }
            boolean sends = there != There.EQUAL;
            if (sends) {
                ObjectNode metadata = metadata(sealed, name, sizeBytes);
                Upload upload = new Upload();
                there = writes.ensure(
                        "the file",
                        () -> {
                            There now = there(path, sizeBytes, sha384, copy.digest());
                            boolean ended = now == There.EQUAL || (now == There.OTHER && upload.done);
                            return ended ? Optional.of(now) : Optional.empty();
                        },
                        () -> {
                            writes.upload(container, metadata, bytes::read);
                            upload.done = true;
                            return true;
                        });
            }
            if (there == There.OTHER) {
                return new Outcome.Differs(true);
            }
            Description description =
                    new Description(writes, path, sealed, CHANGED, () -> entry(path), replaces || sends);
            return new Outcome.Verified(sends, description.bring());
        }
    }

    private static final class Upload {
        private boolean done;
    }

    private static ObjectNode metadata(JsonNode sealed, String name, long sizeBytes) {
        ObjectNode metadata = JsonNodeFactory.instance.objectNode();
        metadata.put("name", name).put("size", sizeBytes);
        for (String field : STATED) {
            JsonNode value = sealed.path(field);
            if (!value.isMissingNode() && !value.isNull()) {
                metadata.set(field, value);
            }
        }
        return metadata;
    }

    private There there(String path, long sizeBytes, byte[] sha384, Digest sha256)
            throws IOException, InterruptedException {
        Optional<JsonNode> entry = writes.find(path + "/info")
                .filter(found -> !found.path("deleted").isString());
        if (entry.isEmpty()) {
            return There.ABSENT;
        }
        JsonNode size = entry.get().path("size");
        if (size.isIntegralNumber() && size.asLong() != sizeBytes) {
            return There.OTHER;
        }
        Optional<Boolean> byHash = Writes.isHashOf(entry.get().path("hash").asString(""), sha384);
        boolean equal = byHash.isPresent() ? byHash.get() : writes.digest(path).equals(sha256);
        return equal ? There.EQUAL : There.OTHER;
    }

    private JsonNode entry(String path) throws IOException, InterruptedException {
        return writes.find(path + "/info")
                .orElseThrow(() -> new DeliveryException(Trouble.GONE, "Flywheel has the file no more"));
    }

    private static MessageDigest sha384() {
        try {
            return MessageDigest.getInstance("SHA-384");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-384", e);
        }
    }
}
