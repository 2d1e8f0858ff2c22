package dozo.source.xnat;

import dozo.file.Digest;
import dozo.source.delivery.Connections;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Trouble;
import dozo.source.delivery.Upload;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** What restores look up and write in an XNAT. Nothing is removed there. Safe for use by several threads. */
public final class Writes {

    private static final Upload NOTHING = Upload.of("", new byte[0]);

    private final Xnat xnat;

    public Writes(Xnat xnat) {
        this.xnat = xnat;
    }

    /** Returns the first item of the document at a path; empty if XNAT does not have it. */
    public Optional<JsonNode> find(String what, String path) throws IOException, InterruptedException {
        Optional<JsonNode> document = xnat.find(what, path + "?format=json");
        return document.isPresent() ? Optional.of(Xnat.item(what, document.get())) : Optional.empty();
    }

    /**
     * Creates a subject, session, scan, assessor or reconstruction, unless it is there. A lost answer is harmless: each retry
     * looks first.
     *
     * @param fields its type and values; of one that is there, nothing is changed
     * @return its item
     * @throws DeliveryException if it cannot be created, or is not there although XNAT reports success
     */
    public JsonNode ensure(String what, String path, Map<String, String> fields)
            throws IOException, InterruptedException {
        return xnat.persist(() -> {
            Optional<JsonNode> there = find(what, path);
            if (there.isEmpty()) {
                var _ = xnat.put(what, path + query(fields), NOTHING);
                there = find(what, path);
            }
            return there.orElseThrow(() -> unkept(what));
        });
    }

    /** Creates a resource, unless one with this label is there. */
    public void ensureResource(String what, String holder, String label, Map<String, String> fields)
            throws IOException, InterruptedException {
        boolean _ = xnat.persist(() -> {
            if (!hasResource(what, holder, label)) {
                var _ = xnat.put(
                        what,
                        "%s/resources/%s%s".formatted(holder, Connections.segment(label), query(fields)),
                        NOTHING);
                if (!hasResource(what, holder, label)) {
                    throw unkept(what);
                }
            }
            return true;
        });
    }

    private boolean hasResource(String what, String holder, String label) throws IOException, InterruptedException {
        return xnat.rows(what, holder + "/resources?format=json").stream()
                .anyMatch(row -> Resource.text(row, "label").equals(label));
    }

    private static DeliveryException unkept(String what) {
        return new DeliveryException(Trouble.GONE, what + ": XNAT reports success, but does not have it");
    }

    /** Returns the paths of the files that a resource's catalogue lists. */
    public Set<String> files(String what, String resource) throws IOException, InterruptedException {
        Set<String> files = new HashSet<>();
        for (JsonNode row : xnat.rows(what, resource + "/files?format=json")) {
            files.add(XnatFile.path(Resource.text(row, "cat_ID"), row));
        }
        return files;
    }

    /** Returns the address of a file. */
    public static String file(String resource, String path) {
        return resource + "/files"
                + XnatFile.segments(path).stream()
                        .map(segment -> "/" + Connections.segment(segment))
                        .collect(Collectors.joining());
    }

    /** Returns whether a file with this path can be requested. */
    public static boolean isPlain(String path) {
        return XnatFile.refusal(path) == null;
    }

    /**
     * Uploads a file. NB: a 200 does not mean that it was stored.
     *
     * @param fields more of the query, such as {@code overwrite}
     * @return whether XNAT does not say that it kept a file of this name instead
     */
    public boolean upload(String what, String file, Map<String, String> fields, Upload body)
            throws IOException, InterruptedException {
        JsonNode answer = xnat.persist(() -> xnat.put(what, file + query(fields), body));
        return answer.path("duplicates").isEmpty();
    }

    /** Returns the SHA-256 of a file's bytes as XNAT returns them; empty if it does not have it. */
    public Optional<Digest> digest(String what, String file) throws IOException, InterruptedException {
        try {
            return Optional.of(xnat.file(what, file, true, answer -> {
                MessageDigest digest = Digest.algorithm();
                try (InputStream body = answer.body(Xnat.FILE_BYTES_MAX)) {
                    new DigestInputStream(body, digest).transferTo(OutputStream.nullOutputStream());
                }
                return Digest.of(digest.digest());
            }));
        } catch (DeliveryException e) {
            if (e.trouble() == Trouble.GONE) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private static String query(Map<String, String> fields) {
        String query = fields.entrySet().stream()
                .filter(field -> !field.getValue().isEmpty())
                .map(field -> "%s=%s".formatted(field.getKey(), Connections.segment(field.getValue())))
                .sorted()
                .collect(Collectors.joining("&"));
        return query.isEmpty() ? "" : "?" + query;
    }
}
