package dozo.worklist;

import dozo.registry.Refusal;
import dozo.registry.WrittenDay;
import dozo.source.dicom.PassedOnText;
import dozo.source.dicom.PseudonymousCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BinaryOperator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The booking system's modality worklist, queried through an Orthanc that is allowed to do so. Patients' names and
 * birth dates are not even requested; an ID becomes a code before anything else sees it.
 */
public final class Worklist {

    /** The longest answer, in bytes. */
    static final int ANSWER_BYTES_MAX = 16 * 1024 * 1024;

    /** The longest period of a query, in days. */
    static final int DAYS_MAX = 366;

    private static final Duration ANSWER_MAX = Duration.ofSeconds(60);
    private static final DateTimeFormatter DAY = DateTimeFormatter.BASIC_ISO_DATE;
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private static final String STEPS = "0040,0100";
    private static final String STEP_AE_TITLE = "0040,0001";
    private static final String STEP_DATE = "0040,0002";
    private static final String STEP_TIME = "0040,0003";
    private static final String STEP_DESCRIPTION = "0040,0007";
    private static final String MODALITY = "0008,0060";
    private static final String ACCESSION = "0008,0050";
    private static final String PATIENT_ID = "0010,0020";
    private static final String STUDY_UID = "0020,000d";
    private static final String PROCEDURE = "0032,1060";

    private final Address address;
    private final Bookings bookings;
    private final PseudonymousCode codes;
    private final Duration answerMax;
    private final HttpClient http;

    /**
     * Where the worklist is read.
     *
     * @param orthanc the address of Orthanc's REST API; null if there is none
     * @param server Orthanc's name for the worklist server, in its {@code DicomModalities}
     * @param user for Orthanc, with {@code password}, which may be another one at each time; empty if it requires none
     */
    public record Address(@Nullable URI orthanc, String server, String user, Supplier<String> password) {

        /** Returns a text without the password. */
        @Override
        public String toString() {
            return orthanc + " for " + server;
        }
    }

    public Worklist(Address address, Bookings bookings, PseudonymousCode codes) {
        this(address, bookings, codes, ANSWER_MAX);
    }

    /** @param answerMax the time for an answer to begin, and then for all of it */
    Worklist(Address address, Bookings bookings, PseudonymousCode codes, Duration answerMax) {
        this.address = address;
        this.answerMax = answerMax;
        this.bookings = bookings;
        this.codes = codes;
        this.http = HttpClient.newBuilder()
                .connectTimeout(Duration.ofSeconds(10))
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
    }

    /** Returns whether a worklist is configured. */
    public boolean isThere() {
        return address.orthanc != null;
    }

    /**
     * Reads the bookings of a period and stores them. An invalid booking does not prevent the others.
     *
     * @throws Refusal if no worklist is configured, or the period is empty or too long
     * @throws WorklistException if the worklist cannot be read
     */
    public Bookings.Answer read(LocalDate from, LocalDate until, String actor) {
        if (until.isBefore(from) || until.isAfter(from.plusDays(DAYS_MAX))) {
            throw new Refusal("until", "expected a date from %s to %s", from, from.plusDays(DAYS_MAX));
        }
        JsonNode answer = ask(query(from, until));
        List<JudgedBooking> told = new ArrayList<>();
        for (JsonNode item : answer) {
            told.add(judged(told.size() + 1, item));
        }
        return new Bookings.Answer(null, null, bookings.keep(onceEach(told), actor));
    }

    /** Keeps only the earliest of several steps with one accession number: its visit begins then. */
    private static List<JudgedBooking> onceEach(List<JudgedBooking> told) {
        Map<String, JudgedBooking> first = new LinkedHashMap<>();
        List<JudgedBooking> refused = new ArrayList<>();
        for (JudgedBooking line : told) {
            Booking booking = line.booking();
            if (booking == null) {
                refused.add(line);
            } else {
                first.merge(booking.accession(), line, BinaryOperator.minBy(Comparator.comparing(Worklist::start)));
            }
        }
        List<JudgedBooking> all = new ArrayList<>(first.values());
        all.addAll(refused);
        return all;
    }

    private static String start(JudgedBooking line) {
        Booking booking = line.booking();
        return booking == null ? "" : booking.on() + "T" + booking.time();
    }

    private JudgedBooking judged(int line, JsonNode item) {
        String accession = text(item, ACCESSION);
        try {
            return JudgedBooking.accepted(line, booking(item, accession));
        } catch (Refusal refusal) {
            return JudgedBooking.refused(line, accession, refusal);
        }
    }

    private Booking booking(JsonNode item, @Nullable String accession) {
        JsonNode step = item.path(STEPS).path(0);
        String date = text(step, STEP_DATE);
        if (accession == null || date == null) {
            throw new Refusal(accession == null ? "accession" : "date", "missing in the booking system's answer");
        }
        String procedure = text(item, PROCEDURE);
        if (procedure == null) {
            procedure = text(step, STEP_DESCRIPTION);
        }
        String modality = text(step, MODALITY);
        return new Booking(
                accession,
                null,
                text(item, STUDY_UID),
                text(step, STEP_AE_TITLE),
                modality == null ? null : modality.toUpperCase(Locale.ROOT),
                WrittenDay.of("date", date.replace(".", "")),
                Bookings.time(text(step, STEP_TIME)),
                procedure == null ? "" : procedure,
                null,
                codes.of(text(item, PATIENT_ID)).orElse(null));
    }

    private static @Nullable String text(JsonNode item, String tag) {
        JsonNode value = item.path(tag);
        String text = value.isString() ? PassedOnText.of(value.stringValue()).strip() : "";
        return text.isEmpty() ? null : text;
    }

    /** NB: the server returns only requested fields, so no name crosses the network. */
    private static String query(LocalDate from, LocalDate until) {
        Map<String, Object> step = Map.of(
                MODALITY, "",
                STEP_AE_TITLE, "",
                STEP_DATE, "%s-%s".formatted(from.format(DAY), until.format(DAY)),
                STEP_TIME, "",
                STEP_DESCRIPTION, "");
        Map<String, Object> query = Map.of(
                "0008,0005", "", ACCESSION, "", PATIENT_ID, "", STUDY_UID, "", PROCEDURE, "", STEPS, List.of(step));
        return JSON.writeValueAsString(Map.of("Query", query, "Short", true));
    }

    private JsonNode ask(String query) {
        HttpRequest.Builder request = HttpRequest.newBuilder(place())
                .timeout(answerMax)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(query));
        if (!address.user.isEmpty()) {
            String login = Base64.getEncoder()
                    .encodeToString("%s:%s"
                            .formatted(address.user, address.password.get())
                            .getBytes(StandardCharsets.UTF_8));
            request.header("Authorization", "Basic " + login);
        }
        try {
            HttpResponse<InputStream> response = http.send(request.build(), BodyHandlers.ofInputStream());
            try (InputStream body = response.body()) {
                return answer(response.statusCode(), read(body));
            }
        } catch (IOException e) {
            throw new WorklistException("Orthanc at %s does not answer".formatted(address.orthanc), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new WorklistException("interrupted while the worklist was read", e);
        }
    }

    /** Reads a body. NB: the limit of a request ends with its headers, and a body may take for ever. */
    private byte[] read(InputStream body) throws IOException {
        CompletableFuture<Void> end = CompletableFuture.runAsync(
                () -> close(body), CompletableFuture.delayedExecutor(answerMax.toMillis(), TimeUnit.MILLISECONDS));
        try {
            return body.readNBytes(ANSWER_BYTES_MAX + 1);
        } finally {
            end.cancel(false);
        }
    }

    private static void close(InputStream body) {
        try {
            body.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private JsonNode answer(int status, byte[] body) {
        if (status != 200) {
            throw new WorklistException("Orthanc at %s returned HTTP status %d%s"
                    .formatted(
                            address.orthanc,
                            status,
                            status == 404
                                    ? ": it has no modality " + address.server
                                    : ": check that it can reach %s and is registered there"
                                            .formatted(address.server)));
        }
        if (body.length > ANSWER_BYTES_MAX) {
            throw new WorklistException(
                    "the worklist is longer than %,d bytes: ask for fewer days".formatted(ANSWER_BYTES_MAX));
        }
        try {
            JsonNode answer = JSON.readTree(body);
            if (answer.isArray()) {
                return answer;
            }
        } catch (JacksonException noJson) {
            throw new WorklistException("Orthanc at %s did not return JSON".formatted(address.orthanc), noJson);
        }
        throw new WorklistException("Orthanc at %s did not return a JSON list".formatted(address.orthanc));
    }

    private URI place() {
        URI orthanc = address.orthanc;
        if (orthanc == null) {
            throw new Refusal("worklist", "no worklist is configured: set dozo.worklist.url to the address of Orthanc");
        }
        String base = orthanc.toString().replaceFirst("/+$", "");
        return URI.create("%s/modalities/%s/find-worklist"
                .formatted(
                        base,
                        URLEncoder.encode(address.server, StandardCharsets.UTF_8)
                                .replace("+", "%20")));
    }
}
