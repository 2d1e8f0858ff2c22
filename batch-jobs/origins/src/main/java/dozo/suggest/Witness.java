package dozo.suggest;

import dozo.registry.Acquisition;
import dozo.source.dicom.Damaged;
import dozo.source.dicom.Header;
import dozo.source.dicom.NotDicom;
import dozo.source.dicom.Parsed;
import dozo.source.dicom.PseudonymousCode;
import dozo.source.dicom.Tag;
import dozo.source.dicomweb.Uid;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Gathers the facts from a folder's files. Of each kind it keeps at most {@value #VALUES_MAX} different values. */
final class Witness {

    private static final int VALUES_MAX = 20;
    private static final int TEXT_LENGTH_MAX = 64;

    private final PseudonymousCode codes;
    private final Set<String> studies = new TreeSet<>();
    private final Set<String> subjects = new TreeSet<>();
    private final Set<LocalDate> days = new TreeSet<>();
    private final Set<String> modalities = new TreeSet<>();
    private final Map<String, Set<String>> stations = new TreeMap<>();
    private final Map<String, Set<String>> models = new TreeMap<>();
    private final Set<String> accessions = new TreeSet<>();
    private @Nullable Bids dataset;
    private int damaged;

    Witness(PseudonymousCode codes) {
        this.codes = codes;
    }

    /** Takes the facts of a file; returns whether it is DICOM. */
    boolean hear(Parsed parsed) {
        return switch (parsed) {
            case NotDicom none -> false;
            case Header header -> {
                hear(header);
                yield true;
            }
            case Damaged broken -> {
                damaged++;
                hear(broken.before());
                yield true;
            }
        };
    }

    private void hear(Header header) {
        study(header.text(Tag.STUDY_INSTANCE_UID).orElse(null));
        subject(header.text(Tag.PATIENT_ID).orElse(null));
        header.day(Tag.STUDY_DATE).ifPresent(this::day);
        String modality = header.text(Tag.MODALITY).orElse(null);
        modality(modality);
        station(
                modality,
                header.text(Tag.STATION_NAME).orElse(null),
                header.text(Tag.MANUFACTURER_MODEL_NAME).orElse(null));
        accession(header.text(Tag.ACCESSION_NUMBER).orElse(null));
    }

    /** Takes the facts from the sidecar that a converter has written for an image, in BIDS terms. */
    void hear(JsonNode sidecar) {
        study(text(sidecar, "StudyInstanceUID"));
        subject(text(sidecar, "PatientID"));
        Optional.ofNullable(text(sidecar, "AcquisitionDateTime"))
                .or(() -> Optional.ofNullable(text(sidecar, "AcquisitionDate")))
                .flatMap(Witness::begin)
                .ifPresent(this::day);
        String modality = text(sidecar, "Modality");
        modality(modality);
        station(modality, text(sidecar, "StationName"), text(sidecar, "ManufacturersModelName"));
        accession(text(sidecar, "AccessionNumber"));
    }

    void modality(@Nullable String modality) {
        if (modality != null && Acquisition.isModality(modality)) {
            add(modalities, modality);
        }
    }

    void day(LocalDate day) {
        if (Acquisition.isPlausible(day)) {
            add(days, day);
        }
    }

    void dataset(@Nullable Bids found) {
        dataset = found;
        days(found == null ? List.of() : found.days());
    }

    /** Takes the days of points in time as files write them. */
    void days(List<String> written) {
        written.forEach(each -> begin(each).ifPresent(this::day));
    }

    private void study(@Nullable String uid) {
        if (uid != null) {
            add(studies, Uid.shown(uid));
        }
    }

    private void subject(@Nullable String patientId) {
        codes.of(patientId).ifPresent(code -> add(subjects, code));
    }

    /** Takes the station or, if there is none, the model. */
    private void station(@Nullable String modality, @Nullable String station, @Nullable String model) {
        if (station != null && !station.isBlank()) {
            add(stations, modality, station);
        } else if (model != null && !model.isBlank()) {
            add(models, modality, model);
        }
    }

    private static void add(Map<String, Set<String>> said, @Nullable String modality, String value) {
        String of = modality != null && Acquisition.isModality(modality) ? modality : "";
        if (said.size() < VALUES_MAX || said.containsKey(of)) {
            add(said.computeIfAbsent(of, key -> new TreeSet<>()), cut(value.strip()));
        }
    }

    private void accession(@Nullable String accession) {
        if (accession != null && !accession.isBlank()) {
            add(accessions, cut(accession.strip()));
        }
    }

    FolderFacts evidence(int filesSeen, int filesRead, int unreadable, boolean whole) {
        return new FolderFacts(
                studies,
                subjects,
                days,
                modalities,
                stations,
                models,
                accessions,
                dataset,
                filesSeen,
                filesRead,
                damaged,
                unreadable,
                whole);
    }

    private static <T> void add(Set<T> values, T value) {
        if (values.size() < VALUES_MAX) {
            values.add(value);
        }
    }

    private static String cut(String text) {
        return text.substring(0, Math.min(text.length(), TEXT_LENGTH_MAX));
    }

    /** Returns the day of {@code 2020-09-29T14:02:01.5} or {@code 20200929}. */
    private static Optional<LocalDate> begin(String moment) {
        String digits = moment.replace("-", "");
        try {
            return digits.length() < 8
                    ? Optional.empty()
                    : Optional.of(LocalDate.parse(digits.substring(0, 8), DateTimeFormatter.BASIC_ISO_DATE));
        } catch (DateTimeException none) {
            return Optional.empty();
        }
    }

    private static @Nullable String text(JsonNode sidecar, String field) {
        JsonNode value = sidecar.path(field);
        return value.isString() ? value.stringValue() : null;
    }
}
