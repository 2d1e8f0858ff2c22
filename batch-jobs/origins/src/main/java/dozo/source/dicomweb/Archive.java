package dozo.source.dicomweb;

import dozo.file.Digest;
import dozo.source.delivery.Answer;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Limits;
import dozo.source.delivery.Pause;
import dozo.source.delivery.Server;
import dozo.source.delivery.Trouble;
import dozo.source.delivery.Upload;
import dozo.source.dicom.DataSet;
import dozo.source.dicom.HeaderReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * An archive that instances are sent to: by DICOMweb's STOW-RS, and compared with what it has then. Of an Orthanc, the
 * MD5 of the file on its disk is compared; of other archives, the file as WADO-RS returns it. Nothing is removed there. Safe
 * for use by several threads.
 */
public final class Archive implements AutoCloseable {

    private static final String INSTANCES = "00081199";
    private static final String FAILED = "00081198";
    private static final String INSTANCE_UID = "00081155";
    private static final String REASON = "00081197";

    private final Requests requests;
    private final boolean isOrthanc;
    private final String dicomweb;

    /** The UIDs of an instance, which may be any text. */
    public record Identity(String studyUid, String seriesUid, String sopUid) {

        private boolean isPlain() {
            return Uid.isPlain(studyUid) && Uid.isPlain(seriesUid) && Uid.isPlain(sopUid);
        }
    }

    /**
     * An instance and what proves its bytes.
     *
     * @param md5 in hexadecimal digits
     */
    public record Proof(Identity identity, String md5, Digest sha256) {}

    /** What an archive has of an instance. */
    public enum There {
        ABSENT,
        /** The same bytes. */
        EQUAL,
        /** Other bytes under the same SOPInstanceUID. */
        OTHER
    }

    /** What came of sending instances. */
    public sealed interface Sent {

        /**
         * The archive has answered. What is in neither list was not stored, as far as anybody knows.
         *
         * @param stored the UIDs that it calls stored
         * @param refused reasons by UID
         */
        record Judged(int status, Set<String> stored, Map<String, Integer> refused) implements Sent {}

        /** There is no answer about these instances together; fewer of them may be accepted. */
        record TooMuch(String why) implements Sent {}
    }

    /**
     * Opens an archive, and asks whether it is an Orthanc.
     *
     * @param server an Orthanc, or the root of another archive's DICOMweb services
     * @throws DeliveryException if it cannot be used
     */
    public static Archive open(Server server, Limits limits, Pause pause, InstantSource clock)
            throws IOException, InterruptedException {
        Requests requests = new Requests(server, limits, pause, clock);
        try {
            return new Archive(requests, isOrthanc(requests));
        } catch (IOException | InterruptedException | RuntimeException e) {
            requests.close();
            throw e;
        }
    }

    private Archive(Requests requests, boolean isOrthanc) {
        this.requests = requests;
        this.isOrthanc = isOrthanc;
        this.dicomweb = isOrthanc ? "/dicom-web" : "";
    }

    private static boolean isOrthanc(Requests requests) throws IOException, InterruptedException {
        try {
            String system = requests.text("the question for an Orthanc", "/system", Requests.JSON_BYTES_MAX);
            return Requests.JSON.readTree(system).has("DatabaseVersion");
        } catch (JacksonException e) {
            return false;
        } catch (DeliveryException e) {
            if (e.trouble() == Trouble.GONE || e.trouble() == Trouble.REJECTED) {
                return false;
            }
            throw e;
        }
    }

    @Override
    public void close() {
        requests.close();
    }

    /** Returns whether an instance can be looked up. By WADO-RS one with other text in place of UIDs cannot. */
    public boolean finds(Identity identity) {
        return isOrthanc || identity.isPlain();
    }

    /**
     * Looks what the archive has of an instance.
     *
     * @throws DeliveryException if that is unknown
     */
    public There find(Proof wanted) throws IOException, InterruptedException {
        return isOrthanc ? findInOrthanc(wanted) : findByWado(wanted);
    }

    private There findInOrthanc(Proof wanted) throws IOException, InterruptedException {
        There there = There.ABSENT;
        for (String id : ids(wanted.identity())) {
            There one = compared(() -> isEqualInOrthanc(id, wanted));
            if (one == There.EQUAL) {
                return one;
            }
            there = one == There.OTHER ? one : there;
        }
        return there;
    }

    /** NB: of several patients or series there may be several. */
    private List<String> ids(Identity identity) throws IOException, InterruptedException {
        List<String> ids = new ArrayList<>();
        for (JsonNode found : requests.tree("the look-up of an instance", "/tools/lookup", identity.sopUid())) {
            if (found.path("Type").asString("").equals("Instance")) {
                ids.add(Orthanc.id(found.path("ID")));
            }
        }
        return ids;
    }

    /** NB: reads its disk: an MD5 that it stored when the file arrived says nothing of the bytes now. */
    private boolean isEqualInOrthanc(String id, Proof wanted) throws IOException, InterruptedException {
        StoredFile stored = new StoredFile(requests, "an instance", id);
        String md5 = stored.md5();
        boolean states = StoredFile.isMd5(md5);
        if (states && !md5.equals(wanted.md5())) {
            return false;
        }
        return (states && stored.verifies())
                || stored.read(-1, wanted.sha256()).sha256().equals(wanted.sha256());
    }

    private There findByWado(Proof wanted) throws IOException, InterruptedException {
        return compared(() -> wado(wanted.identity(), body -> digest(body).equals(wanted.sha256())));
    }

    private interface Comparing {
        boolean isEqual() throws IOException, InterruptedException;
    }

    private static There compared(Comparing comparing) throws IOException, InterruptedException {
        try {
            return comparing.isEqual() ? There.EQUAL : There.OTHER;
        } catch (DeliveryException e) {
            if (e.trouble() == Trouble.GONE) {
                return There.ABSENT;
            }
            throw e;
        }
    }

    private static Digest digest(InputStream body) throws IOException {
        MessageDigest digest = Digest.algorithm();
        new DigestInputStream(body, digest).transferTo(OutputStream.nullOutputStream());
        return Digest.of(digest.digest());
    }

    private interface Reading<T> {
        T of(InputStream file) throws IOException;
    }

    private <T> T file(String id, Reading<T> reading) throws IOException, InterruptedException {
        return requests.ask(
                "an instance",
                "/instances/%s/file".formatted(id),
                "*/*",
                null,
                Requests.INSTANCE_BYTES_MAX,
                (answer, body) -> reading.of(body));
    }

    private <T> T wado(Identity identity, Reading<T> reading) throws IOException, InterruptedException {
        String path = "%s/studies/%s/series/%s/instances/%s"
                .formatted(dicomweb, identity.studyUid(), identity.seriesUid(), identity.sopUid());
        return requests.ask("an instance", path, Requests.PARTS, null, Requests.INSTANCE_BYTES_MAX, (answer, body) -> {
            Multipart parts = Multipart.of(answer.header("Content-Type").orElse(""), body);
            if (!parts.next()) {
                throw new DeliveryException(Trouble.UNPARSED, "an answer without any part");
            }
            return reading.of(parts);
        });
    }

    /** Returns the attributes of an instance that the archive has; empty if they cannot be read. */
    public Optional<DataSet> dataSet(Identity identity) throws IOException, InterruptedException {
        Reading<Optional<DataSet>> reading = file -> new HeaderReader().dataSet(file);
        try {
            if (!isOrthanc) {
                return wado(identity, reading);
            }
            List<String> ids = ids(identity);
            return ids.isEmpty() ? Optional.empty() : file(ids.getFirst(), reading);
        } catch (DeliveryException e) {
            if (Orthanc.ENDS_ALL.contains(e.trouble())) {
                throw e;
            }
            return Optional.empty();
        }
    }

    /**
     * Sends instances by STOW-RS. One alone is tried again after a temporary failure; several are not, because fewer of
     * them may be accepted.
     *
     * @param parts the multipart body
     * @param count the number of instances in it
     * @throws DeliveryException if the archive does not accept requests, or gives no answer about one alone
     */
    public Sent send(Upload parts, int count) throws IOException, InterruptedException {
        return requests.persist(() -> {
            try {
                return requests.once(
                        "the storing of instances", dicomweb + "/studies", Requests.DICOM_JSON, parts, this::judged);
            } catch (DeliveryException e) {
                if (e.trouble().mayConcernOne() && count > 1) {
                    return new Sent.TooMuch(String.valueOf(e.getMessage()));
                }
                throw e;
            }
        });
    }

    private Sent judged(Answer answer) throws IOException {
        return switch (answer.status()) {
            case 413 -> new Sent.TooMuch("the archive does not accept so many bytes: HTTP status 413");
            // NB: also with a failure, instances may be stored; only the list says which.
            case 200, 202, 400, 409 -> {
                try (InputStream body = answer.body(Requests.JSON_BYTES_MAX)) {
                    yield judged(answer.status(), body);
                }
            }
            default -> throw requests.refusal("the storing of instances", answer);
        };
    }

    private static Sent judged(int status, InputStream body) throws IOException {
        JsonNode told;
        try {
            told = Requests.JSON.readTree(body.readAllBytes());
        } catch (JacksonException e) {
            return new Sent.Judged(status, Set.of(), Map.of());
        }
        Set<String> stored = new HashSet<>();
        for (JsonNode instance : told.path(INSTANCES).path("Value")) {
            stored.add(uid(instance));
        }
        Map<String, Integer> refused = new HashMap<>();
        for (JsonNode instance : told.path(FAILED).path("Value")) {
            refused.put(
                    uid(instance), instance.path(REASON).path("Value").path(0).asInt(0));
        }
        return new Sent.Judged(status, stored, refused);
    }

    private static String uid(JsonNode instance) {
        return instance.path(INSTANCE_UID).path("Value").path(0).asString("").strip();
    }
}
