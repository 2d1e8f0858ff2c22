package dozo.source.flywheel;

import dozo.file.Digest;
import dozo.source.delivery.Connections;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Trouble;
import dozo.source.delivery.Upload;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * What restores look up and write in a Flywheel, as its own client does. Nothing is removed there. The key goes only to
 * its own host; storage hosts get signed requests without it. Safe for use by several threads.
 */
public final class Writes {

    private static final JsonMapper JSON = new JsonMapper();
    private static final Upload NOTHING = Upload.of("", new byte[0]);
    private static final Pattern UPLOAD_ID = Pattern.compile("[?&]uploadId=([^&]*)");
    private static final long FILE_BYTES_MAX = 1L << 44;
    private static final int COPY_BYTES = 1 << 16;

    /** Google's storage takes parts of a multiple of this size; Flywheel's own client aligns all parts to it. */
    private static final long PART_UNIT_BYTES = 256 << 10;

    private static final int PART_STORED = 308;

    private final Flywheel flywheel;
    private @Nullable Boolean signs;

    /** The bytes of a file, which are read again if a request is repeated. */
    @FunctionalInterface
    public interface Content {
        InputStream read(long offset, long lengthBytes) throws IOException;
    }

    public Writes(Flywheel flywheel) {
        this.flywheel = flywheel;
    }

    /** Returns the JSON at this path below {@code /api}; empty if Flywheel says that there is nothing. */
    public Optional<JsonNode> find(String path) throws IOException, InterruptedException {
        try {
            return Optional.of(flywheel.get(path));
        } catch (DeliveryException e) {
            if (e.trouble() == Trouble.GONE) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** Returns those entries of a list that are wanted. */
    public List<JsonNode> list(String path, Predicate<JsonNode> wanted) throws IOException, InterruptedException {
        List<JsonNode> found = new ArrayList<>();
        flywheel.all(path, null, entry -> {
            if (wanted.test(entry)) {
                found.add(entry);
            }
        });
        return found;
    }

    /**
     * Writes something, unless it is there. A write whose answer is lost may have worked, so that each retry looks
     * first; nothing is written twice.
     *
     * @throws DeliveryException if it cannot be written, or is not there although Flywheel reports success
     */
    public <T> T ensure(String what, Connections.Attempt<Optional<T>> look, Connections.Attempt<?> write)
            throws IOException, InterruptedException {
        return flywheel.persist(() -> {
            Optional<T> there = look.once();
            if (there.isPresent()) {
                return there.get();
            }
            write.once();
            return look.once()
                    .orElseThrow(() -> new DeliveryException(
                            Trouble.GONE, what + ": Flywheel reports success, but does not have it"));
        });
    }

    /**
     * Sends one writing request, without a retry.
     *
     * @throws DeliveryException if it is refused; a 403 says what is missing
     */
    public JsonNode send(String method, String path, JsonNode body) throws IOException, InterruptedException {
        return send(method, path, Upload.of("application/json", body.toString().getBytes(StandardCharsets.UTF_8)));
    }

    /** Sends a writing request that may be repeated, with retries. */
    public void repeat(String method, String path, JsonNode body) throws IOException, InterruptedException {
        JsonNode _ = flywheel.persist(() -> send(method, path, body));
    }

    private JsonNode send(String method, String path, Upload body) throws IOException, InterruptedException {
        try {
            return flywheel.write(method, path, body);
        } catch (DeliveryException e) {
            if (e.trouble() == Trouble.DENIED) {
                throw new DeliveryException(
                        Trouble.DENIED,
                        "Flywheel does not let this API key write (%s); give its user a role that may create and change this"
                                .formatted(e.getMessage()),
                        e);
            }
            throw e;
        }
    }

    /** Returns the SHA-256 of a file's bytes as Flywheel returns them. */
    public Digest digest(String file) throws IOException, InterruptedException {
        return flywheel.persist(() -> flywheel.exchange(file, null, answer -> {
            MessageDigest digest = Digest.algorithm();
            try (InputStream body = answer.body(FILE_BYTES_MAX)) {
                new DigestInputStream(body, digest).transferTo(OutputStream.nullOutputStream());
            }
            return Digest.of(digest.digest());
        }));
    }

    /** Returns whether a hash is of these bytes; empty if it has none, or in an unknown form. */
    public static Optional<Boolean> isHashOf(String hash, byte[] sha384) {
        return TheirHash.of(hash)
                .filter(theirs -> theirs.algorithm().equals("SHA-384"))
                .map(theirs -> theirs.is(sha384));
    }

    /** Encodes any text as a segment of a request's path. */
    public static String segment(String text) {
        return Connections.segment(text);
    }

    /**
     * Uploads a file, by signed addresses if Flywheel has them. Without a retry.
     *
     * @param container its path below {@code /api}
     * @param metadata with the file's {@code name} and {@code size}
     */
    public void upload(String container, ObjectNode metadata, Content content)
            throws IOException, InterruptedException {
        String files = container + "/files";
        String name = metadata.path("name").asString();
        long sizeBytes = metadata.path("size").asLong();
        if (signs()) {
            ObjectNode wanted = JsonNodeFactory.instance.objectNode();
            // NB: as Flywheel's own client does it.
            wanted.set("metadata", container.startsWith("/analyses/") ? array(metadata) : metadata);
            wanted.set("filenames", JsonNodeFactory.instance.arrayNode().add(name));
            JsonNode ticket = send("POST", files + "?ticket=", wanted);
            List<URI> addresses = addresses(ticket.path("urls").path(name));
            if (!addresses.isEmpty()) {
                String close = "%s?ticket=%s"
                        .formatted(files, segment(ticket.path("ticket").asString("")));
                send("POST", close, stored(addresses, headers(ticket), sizeBytes, content));
                return;
            }
        }
        send("POST", files, form(metadata, name, sizeBytes, content));
    }

    private synchronized boolean signs() throws IOException, InterruptedException {
        Boolean known = signs;
        if (known == null) {
            JsonNode config = flywheel.get("/config");
            known = config.path("signed_url").asBoolean(false)
                    || config.path("features").path("signed_url").asBoolean(false);
            signs = known;
        }
        return known;
    }

    private static ArrayNode array(JsonNode one) {
        return JsonNodeFactory.instance.arrayNode().add(one);
    }

    private static List<URI> addresses(JsonNode told) throws DeliveryException {
        List<URI> addresses = new ArrayList<>();
        try {
            for (JsonNode each : told.isArray() ? told : array(told)) {
                if (!each.asString("").isEmpty()) {
                    addresses.add(URI.create(each.asString()));
                }
            }
        } catch (IllegalArgumentException e) {
            // NB: without the cause, whose text contains the address.
            throw new DeliveryException(Trouble.UNPARSED, "Flywheel returned a signed address that is not valid");
        }
        return addresses;
    }

    private static Map<String, String> headers(JsonNode ticket) {
        Map<String, String> headers = new HashMap<>();
        ticket.path("headers")
                .properties()
                .forEach(each -> headers.put(each.getKey(), each.getValue().asString("")));
        return headers;
    }

    /**
     * Stores all parts. NB: a ticket is closed only if this succeeds.
     *
     * @return the body of the request that closes the ticket
     */
    private Upload stored(List<URI> addresses, Map<String, String> headers, long sizeBytes, Content content)
            throws IOException, InterruptedException {
        long even = Math.ceilDiv(sizeBytes, (long) addresses.size());
        long partBytes = even + PART_UNIT_BYTES - even % PART_UNIT_BYTES;
        ArrayNode tags = JsonNodeFactory.instance.arrayNode();
        String upload = null;
        for (int i = 0; i < addresses.size(); i++) {
            long from = Math.min(sizeBytes, i * partBytes);
            long length = Math.min(partBytes, sizeBytes - from);
            URI address = addresses.get(i);
            Map<String, String> sent = new HashMap<>(headers);
            if (String.valueOf(address.getHost()).contains(".googleapis.")) {
                sent.put("Content-Range", "bytes %d-%d/%d".formatted(from, from + length - 1, sizeBytes));
            }
            String tag = flywheel.store(address, sent, part(content, from, length), answer -> {
                if (answer.status() / 100 != 2 && answer.status() != PART_STORED) {
                    // NB: also a 403, if the signature has expired: the next try gets another one.
                    throw new DeliveryException(
                            Trouble.SERVER_FAULT,
                            "storage host %s: HTTP status %d".formatted(address.getHost(), answer.status()));
                }
                return answer.header("ETag").orElse("");
            });
            Matcher id = UPLOAD_ID.matcher("?" + String.valueOf(address.getRawQuery()));
            if (id.find()) {
                upload = URLDecoder.decode(id.group(1), StandardCharsets.UTF_8);
                tags.add(tag.replace("\"", ""));
            }
        }
        if (upload == null) {
            return NOTHING;
        }
        ObjectNode closing = JsonNodeFactory.instance.objectNode();
        closing.putObject("multipart").put("upload_id", upload).set("e_tags", tags);
        return Upload.of("application/json", closing.toString().getBytes(StandardCharsets.UTF_8));
    }

    private static Upload part(Content content, long from, long lengthBytes) {
        return body("", new byte[0], content, from, lengthBytes, new byte[0]);
    }

    private static Upload form(ObjectNode metadata, String name, long sizeBytes, Content content) {
        String boundary = UUID.randomUUID().toString();
        // NB: escaped as browsers do it, and as Flywheel's own client does.
        String shown = name.replace("\"", "%22").replace("\r", "%0D").replace("\n", "%0A");
        byte[] head = """
                --%s\r
                Content-Disposition: form-data; name="metadata"\r
                \r
                %s\r
                --%1$s\r
                Content-Disposition: form-data; name="file"; filename="%s"\r
                Content-Type: application/octet-stream\r
                \r
                """.formatted(boundary, JSON.writeValueAsString(metadata), shown)
                .getBytes(StandardCharsets.UTF_8);
        return body(
                "multipart/form-data; boundary=" + boundary,
                head,
                content,
                0,
                sizeBytes,
                "\r\n--%s--\r\n".formatted(boundary).getBytes(StandardCharsets.US_ASCII));
    }

    private static Upload body(String type, byte[] head, Content content, long from, long contentBytes, byte[] end) {
        return new Upload() {
            @Override
            public String type() {
                return type;
            }

            @Override
            public long lengthBytes() {
                return head.length + contentBytes + end.length;
            }

            @Override
            public void writeTo(OutputStream out) throws IOException {
                out.write(head);
                byte[] buffer = new byte[COPY_BYTES];
                try (InputStream in = content.read(from, contentBytes)) {
                    for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                        out.write(buffer, 0, n);
                    }
                }
                out.write(end);
            }
        };
    }
}
