package dozo.source.dicomweb;

import dozo.source.delivery.Answer;
import dozo.source.delivery.Connections;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Limits;
import dozo.source.delivery.Pause;
import dozo.source.delivery.Server;
import dozo.source.delivery.Trouble;
import dozo.source.dicom.Damaged;
import dozo.source.dicom.Header;
import dozo.source.dicom.HeaderReader;
import dozo.source.dicom.NotDicom;
import java.io.IOException;
import java.io.InputStream;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MappingIterator;

/**
 * An Orthanc, to which only reading requests are sent: DICOMweb's search (QIDO-RS) and retrieval (WADO-RS), and
 * Orthanc's own API for what those lack (ADR 0039). Only UIDs, ids, sizes and states are read from its answers: no
 * name, no birth date, no PatientID. NB: Orthanc's ids are unkeyed digests of a PatientID and can be reversed by trial
 * by anyone who knows the UIDs, so no message contains them. Safe for use by several threads.
 */
public final class Orthanc implements AutoCloseable {

    /** Troubles that prevent every other request too. */
    public static final Set<Trouble> ENDS_ALL = Set.of(Trouble.REFUSED, Trouble.UNREACHABLE, Trouble.SPOOL);

    private static final String DICOMWEB = "/dicom-web";
    private static final String STUDY_INSTANCE_UID = "0020000D";
    private static final String STUDY_DATE = "00080020";
    private static final String MODALITIES = "00080061";
    private static final String STUDY_DESCRIPTION = "00081030";
    private static final String NUMBER_OF_INSTANCES = "00201208";

    static final int INSTANCES_MAX = 1_000_000;

    /** The limit of the list of a series or page, which is read entry by entry. */
    private static final long LIST_BYTES_MAX = 1L << 30;

    /** Studies in one answer to a search. */
    private static final int PAGE = 200;

    private static final int PAGES_MAX = 5_000;

    /** Tries of a search: while scanners send, a study may arrive between the search and the count. */
    private static final int SEARCHES_MAX = 3;

    private static final int CHANGES = 1_000;

    /** All others are changes of patients, deletions, or consequences of these. */
    private static final Map<String, Kind> CHANGED = Map.of(
            "NewStudy", Kind.STUDY, "StableStudy", Kind.STUDY, "NewSeries", Kind.SERIES, "NewInstance", Kind.INSTANCE);

    private static final int NOTE_BYTES_MAX = 1_024;
    private static final Pattern ID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{8}){4}");

    private final Requests requests;

    /**
     * What a search returns about a study.
     *
     * @param studyUid for comparison: it may be any text
     * @param day as written there
     * @param description free text that may contain anything: for comparison with what somebody expects, not for
     * storing
     */
    public record Found(String studyUid, String day, List<String> modalities, String description, int instances) {}

    /** A study in Orthanc: one for each patient that its instances name. */
    record Held(String id, String studyUid, boolean stable, List<String> series) {}

    record Series(String id, String studyId, String seriesUid, Set<String> instances) {}

    record Change(Kind kind, String id) {}

    enum Kind {
        STUDY,
        SERIES,
        INSTANCE
    }

    /** The changes since then, in order; {@code last} is the number of the last one. */
    record Feed(List<Change> changes, long last, boolean done) {}

    /** Receives an instance's file, from the start in each try. */
    @FunctionalInterface
    interface Taker {
        void take(InputStream file) throws IOException;
    }

    public Orthanc(Server server, Limits limits, Pause pause, InstantSource clock) {
        this.requests = new Requests(server, limits, pause, clock);
    }

    @Override
    public void close() {
        requests.close();
    }

    /**
     * Asks whether Orthanc answers a search by DICOMweb, and accepts the login.
     *
     * @throws DeliveryException if it does not
     */
    public void ask() throws IOException, InterruptedException {
        list("the search for a study", DICOMWEB + "/studies?limit=1", Requests.DICOM_JSON, Orthanc::found);
    }

    public Set<String> studyUids() throws IOException, InterruptedException {
        Set<String> uids = new HashSet<>();
        allStudies().forEach(study -> uids.add(study.studyUid()));
        return uids;
    }

    /**
     * Lists all studies by QIDO-RS; one with two patients may be listed twice. The list must have as many studies as
     * Orthanc counts: otherwise studies omitted by the search would be taken for gone.
     *
     * @throws DeliveryException if they cannot be listed, or there are fewer than counted
     */
    public List<Found> allStudies() throws IOException, InterruptedException {
        for (int search = 1; ; search++) {
            List<Found> found = search();
            // One with two patients counts as two.
            int counted =
                    tree("the statistics", "/statistics").path("CountStudies").asInt(0);
            if (found.size() >= counted) {
                return found.stream()
                        .filter(study -> !study.studyUid().isEmpty())
                        .toList();
            }
            if (search == SEARCHES_MAX) {
                throw new DeliveryException(
                        Trouble.COUNT_DIFFERS,
                        "Orthanc counts %d studies, but the search lists %d".formatted(counted, found.size()));
            }
        }
    }

    private List<Found> search() throws IOException, InterruptedException {
        List<Found> studies = new ArrayList<>();
        List<Found> before = List.of();
        int offset = 0;
        for (int page = 0; page < PAGES_MAX; page++) {
            List<Found> found = list(
                    "the search for studies",
                    "%s/studies?limit=%d&offset=%d&includefield=%s"
                            .formatted(DICOMWEB, PAGE, offset, STUDY_DESCRIPTION),
                    Requests.DICOM_JSON,
                    Orthanc::found);
            studies.addAll(found);
            // A short page may be due to the server's own limit.
            if (found.isEmpty()) {
                return studies;
            }
            if (found.equals(before)) {
                throw new DeliveryException(Trouble.UNPARSED, "the search for studies returned the same page twice");
            }
            before = found;
            offset += found.size();
        }
        throw new DeliveryException(Trouble.TOO_LARGE, "the search for studies has too many pages");
    }

    private static Found found(JsonNode study) {
        List<String> modalities = new ArrayList<>();
        for (JsonNode modality : study.path(MODALITIES).path("Value")) {
            modalities.add(modality.asString(""));
        }
        return new Found(
                value(study, STUDY_INSTANCE_UID).asString(""),
                value(study, STUDY_DATE).asString(""),
                modalities,
                value(study, STUDY_DESCRIPTION).asString(""),
                value(study, NUMBER_OF_INSTANCES).asInt(0));
    }

    /** Returns how many instances a study has by QIDO-RS, for all its patients. */
    int count(String studyUid) throws IOException, InterruptedException {
        List<Integer> counts = list(
                "the count of instances",
                "%s/studies?StudyInstanceUID=%s&includefield=%s"
                        .formatted(DICOMWEB, Connections.segment(studyUid), NUMBER_OF_INSTANCES),
                Requests.DICOM_JSON,
                // NB: a UID with a wildcard also finds other studies.
                study -> value(study, STUDY_INSTANCE_UID).asString("").equals(studyUid)
                        ? value(study, NUMBER_OF_INSTANCES).asInt(0)
                        : 0);
        return counts.stream().mapToInt(Integer::intValue).sum();
    }

    /** Returns the ids of Orthanc's studies with this UID. */
    List<String> lookUp(String studyUid) throws IOException, InterruptedException {
        List<String> ids = new ArrayList<>();
        for (JsonNode found : requests.tree("the look-up of a study", "/tools/lookup", studyUid)) {
            if (found.path("Type").asString("").equals("Study")) {
                ids.add(id(found.path("ID")));
            }
        }
        return ids;
    }

    Held study(String id) throws IOException, InterruptedException {
        JsonNode study = tree("a study", "/studies/" + id);
        return new Held(
                id(study.path("ID")),
                study.path("MainDicomTags").path("StudyInstanceUID").asString(""),
                study.path("IsStable").asBoolean(false),
                ids(study.path("Series")));
    }

    Series series(String id) throws IOException, InterruptedException {
        JsonNode series = tree("a series", "/series/" + id);
        return new Series(
                id(series.path("ID")),
                id(series.path("ParentStudy")),
                series.path("MainDicomTags").path("SeriesInstanceUID").asString(""),
                Set.copyOf(ids(series.path("Instances"))));
    }

    String seriesOf(String instance) throws IOException, InterruptedException {
        return id(tree("an instance", "/instances/" + instance).path("ParentSeries"));
    }

    List<Instance> instances(String studyUid, Series series) throws IOException, InterruptedException {
        return list(
                "the list of instances of series " + Uid.shown(series.seriesUid()),
                "/series/%s/instances".formatted(series.id()),
                Requests.JSON_TYPE,
                told -> instance(studyUid, series, told));
    }

    private static Instance instance(String studyUid, Series series, JsonNode told) throws DeliveryException {
        String mark = told.path("FileUuid").asString("");
        long size = told.path("FileSize").asLong(-1);
        if (!mark.matches("[0-9A-Za-z-]{1,64}") || size < 0) {
            throw new DeliveryException(Trouble.UNPARSED, "an instance without FileSize or FileUuid");
        }
        String sopUid = told.path("MainDicomTags").path("SOPInstanceUID").asString("");
        return new Instance(id(told.path("ID")), mark, series.id(), studyUid, series.seriesUid(), sopUid, size);
    }

    /** Reads an instance's header; the transfer ends before the pixels. Empty if the file is not DICOM. */
    Header header(Instance instance) throws IOException, InterruptedException {
        String path = "/instances/%s/file".formatted(instance.id());
        return switch (retrieve(instance, path, "*/*", (answer, body) -> new HeaderReader().read(body))) {
            case Header whole -> whole;
            case Damaged damaged -> damaged.before();
            case NotDicom none -> new Header(false, Map.of());
        };
    }

    /** Returns Orthanc's metadata of an instance; empty if there is none. */
    String noted(Instance instance, String name) throws IOException, InterruptedException {
        String path = "/instances/%s/metadata/%s".formatted(instance.id(), name);
        try {
            return requests.text("metadata of " + instance.name(), path, NOTE_BYTES_MAX);
        } catch (DeliveryException e) {
            if (e.trouble() == Trouble.GONE) {
                return "";
            }
            throw e;
        }
    }

    Feed changes(long since) throws IOException, InterruptedException {
        JsonNode feed = tree("the changes", "/changes?since=%d&limit=%d".formatted(since, CHANGES));
        List<Change> changes = new ArrayList<>();
        for (JsonNode told : feed.path("Changes")) {
            Kind kind = CHANGED.get(told.path("ChangeType").asString(""));
            if (kind != null) {
                changes.add(new Change(kind, id(told.path("ID"))));
            }
        }
        return feed(changes, feed);
    }

    /** Returns the number of the newest change. */
    long newestChange() throws IOException, InterruptedException {
        return feed(List.of(), tree("the newest change", "/changes?last")).last();
    }

    /** Returns the number of the oldest change that is still listed; more than any if there is none. */
    long oldestChange() throws IOException, InterruptedException {
        JsonNode oldest = tree("the oldest change", "/changes?since=0&limit=1");
        return oldest.path("Changes").path(0).path("Seq").asLong(Long.MAX_VALUE);
    }

    private static Feed feed(List<Change> changes, JsonNode feed) throws DeliveryException {
        if (!feed.path("Last").isIntegralNumber() || !feed.path("Done").isBoolean()) {
            throw new DeliveryException(Trouble.UNPARSED, "the list of changes lacks Last or Done");
        }
        return new Feed(changes, feed.path("Last").asLong(), feed.path("Done").asBoolean());
    }

    StoredFile stored(Instance instance) {
        return new StoredFile(requests, instance.name(), instance.id());
    }

    /**
     * Retrieves an instance's file as stored.
     *
     * @param alone whether no other instance of the study has its UID; DICOMweb cannot tell such instances apart
     */
    void retrieve(Instance instance, boolean alone, Taker taker) throws IOException, InterruptedException {
        if (alone && instance.hasPlainUids()) {
            String path = "%s/studies/%s/series/%s/instances/%s"
                    .formatted(DICOMWEB, instance.studyUid(), instance.seriesUid(), instance.sopUid());
            retrieve(instance, path, Requests.PARTS, (answer, body) -> onlyPart(answer, body, taker));
        } else {
            retrieve(instance, "/instances/%s/file".formatted(instance.id()), "*/*", (answer, body) -> {
                taker.take(body);
                return true;
            });
        }
    }

    private <T> T retrieve(Instance instance, String path, String accept, Requests.Reading<T> reading)
            throws IOException, InterruptedException {
        return requests.ask(instance.name(), path, accept, null, Requests.INSTANCE_BYTES_MAX, reading);
    }

    private static boolean onlyPart(Answer answer, InputStream body, Taker taker) throws IOException {
        Multipart parts = Multipart.of(answer.header("Content-Type").orElse(""), body);
        if (!parts.next()) {
            throw new DeliveryException(Trouble.UNPARSED, "an answer without any part");
        }
        taker.take(parts);
        if (parts.next()) {
            throw new DeliveryException(Trouble.UNPARSED, "more than the one requested instance");
        }
        return true;
    }

    @FunctionalInterface
    private interface Entry<T> {
        T of(JsonNode entry) throws IOException;
    }

    /** Reads a list entry by entry: as one JSON tree it would take many times the memory of what is kept. */
    private <T> List<T> list(String what, String path, String accept, Entry<T> entry)
            throws IOException, InterruptedException {
        return requests.ask(what, path, accept, null, LIST_BYTES_MAX, (answer, body) -> {
            List<T> entries = new ArrayList<>();
            try (MappingIterator<JsonNode> told =
                    Requests.JSON.readerFor(JsonNode.class).readValues(body)) {
                while (told.hasNext()) {
                    if (entries.size() >= INSTANCES_MAX) {
                        throw new DeliveryException(Trouble.TOO_LARGE, what + ": the list has too many entries");
                    }
                    entries.add(entry.of(told.next()));
                }
                return entries;
            } catch (JacksonException e) {
                throw Requests.unparsed(what, e);
            }
        });
    }

    private JsonNode tree(String what, String path) throws IOException, InterruptedException {
        return requests.tree(what, path, null);
    }

    private static JsonNode value(JsonNode dataSet, String tag) {
        return dataSet.path(tag).path("Value").path(0);
    }

    private static List<String> ids(JsonNode array) throws DeliveryException {
        List<String> ids = new ArrayList<>(array.size());
        for (JsonNode node : array) {
            ids.add(id(node));
        }
        return ids;
    }

    static String id(JsonNode node) throws DeliveryException {
        String id = node.asString("");
        if (!ID.matcher(id).matches()) {
            throw new DeliveryException(Trouble.UNPARSED, "an entry without a valid id");
        }
        return id;
    }
}
