package dozo.source.dicomweb;

import dozo.source.delivery.DeliveryException;
import dozo.source.dicom.Header;
import dozo.source.dicom.PseudonymousCode;
import dozo.source.dicom.Tag;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What Orthanc reports about a study, with facts from the header of one instance per series. Nothing is delivered.
 *
 * @param stable whether nothing has arrived for a while
 * @param bytes total size of all its instances' files
 */
public record Described(String studyUid, boolean stable, int instances, long bytes, List<SeriesFacts> series) {

    /** After this time a study is delivered even if it is not stable. */
    private static final Duration UNSTABLE_MAX = Duration.ofHours(24);

    private static final DateTimeFormatter NOTED = DateTimeFormatter.ofPattern("uuuuMMdd'T'HHmmss");

    /**
     * A series, described by one of its instances. A series with two patients counts as two.
     *
     * @param patient the patient's code
     * @param aeTitle of the sender of that instance
     * @param firstAt the earlier of the times when the first and the last listed instance were received; {@code lastAt}
     * is the later one
     */
    public record SeriesFacts(
            String seriesUid,
            int instances,
            @Nullable String patient,
            @Nullable String accession,
            @Nullable LocalDate day,
            @Nullable LocalTime time,
            @Nullable String aeTitle,
            @Nullable String modality,
            @Nullable String stationName,
            Instant firstAt,
            Instant lastAt) {}

    /**
     * Reads the description of a study.
     *
     * @param now used if Orthanc states no time of reception
     * @throws DeliveryException if the study cannot be read or does not exist
     */
    public static Described of(Orthanc orthanc, PseudonymousCode codes, String studyUid, Instant now)
            throws IOException, InterruptedException {
        ListedStudy told = ListedStudy.of(orthanc, studyUid);
        Map<String, List<Instance>> bySeries = new LinkedHashMap<>();
        for (Instance instance : told.instances()) {
            bySeries.computeIfAbsent(instance.series(), id -> new ArrayList<>()).add(instance);
        }
        List<SeriesFacts> series = new ArrayList<>();
        for (List<Instance> instances : bySeries.values()) {
            series.add(series(orthanc, codes, instances, now));
        }
        return new Described(studyUid, told.stable(), told.instances().size(), told.bytes(), series);
    }

    private static SeriesFacts series(Orthanc orthanc, PseudonymousCode codes, List<Instance> instances, Instant now)
            throws IOException, InterruptedException {
        Instance first = instances.getFirst();
        Header header = orthanc.header(first);
        Instant firstAt = received(orthanc, first, now);
        Instant lastAt = received(orthanc, instances.getLast(), now);
        String aeTitle = orthanc.noted(first, "RemoteAET");
        return new SeriesFacts(
                Uid.shown(first.seriesUid()),
                instances.size(),
                header.text(Tag.PATIENT_ID).flatMap(codes::of).orElse(null),
                header.text(Tag.ACCESSION_NUMBER).orElse(null),
                header.day(Tag.STUDY_DATE).orElse(null),
                time(header),
                aeTitle.isEmpty() ? null : aeTitle,
                header.text(Tag.MODALITY).orElse(null),
                header.text(Tag.STATION_NAME).orElse(null),
                firstAt.isBefore(lastAt) ? firstAt : lastAt,
                firstAt.isBefore(lastAt) ? lastAt : firstAt);
    }

    private static @Nullable LocalTime time(Header header) {
        Optional<String> digits = header.text(Tag.STUDY_TIME).filter(text -> text.matches("[0-9]{6}(\\.[0-9]{1,6})?"));
        try {
            return digits.map(text -> LocalTime.parse(text.substring(0, 6), DateTimeFormatter.ofPattern("HHmmss")))
                    .orElse(null);
        } catch (DateTimeException e) {
            return null;
        }
    }

    /** Returns when an instance was received; Orthanc records this in UTC. */
    private static Instant received(Orthanc orthanc, Instance instance, Instant now)
            throws IOException, InterruptedException {
        try {
            return LocalDateTime.parse(orthanc.noted(instance, "ReceptionDate"), NOTED)
                    .toInstant(ZoneOffset.UTC);
        } catch (DateTimeException e) {
            return now;
        }
    }

    /**
     * Returns whether more instances may arrive: the study is not stable, and its first instance arrived less than 24 h
     * ago. NB: an Orthanc that was stopped too early never reports the change {@code StableStudy}, so the study's state
     * is read instead.
     */
    public boolean isArriving(Instant now) {
        return !stable && age(now).compareTo(UNSTABLE_MAX) < 0;
    }

    /** Returns how long ago the first instance that is there was received. */
    public Duration age(Instant now) {
        return series.stream()
                .map(SeriesFacts::firstAt)
                .min(Instant::compareTo)
                .map(first -> Duration.between(first, now))
                .orElse(Duration.ZERO);
    }
}
