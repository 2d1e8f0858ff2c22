package dozo.collect;

import dozo.collect.Arrivals.Arrival;
import dozo.collect.Origins.Origin;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.registry.Acquisition;
import dozo.registry.Code;
import dozo.registry.Scanners;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Limits;
import dozo.source.delivery.Pause;
import dozo.source.delivery.Recheck;
import dozo.source.delivery.Reconciliation;
import dozo.source.delivery.Trouble;
import dozo.source.dicom.PseudonymousCode;
import dozo.source.dicomweb.Changes;
import dozo.source.dicomweb.Described;
import dozo.source.dicomweb.Described.SeriesFacts;
import dozo.source.dicomweb.Orthanc;
import dozo.source.dicomweb.Orthanc.Found;
import dozo.source.dicomweb.Spool;
import dozo.source.dicomweb.Uid;
import dozo.worklist.Studies;
import dozo.worklist.Studies.ReceivedSeries;
import java.io.IOException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Collects the studies of an Orthanc. Each is an item, identified by its StudyInstanceUID. Facts for the comparison
 * with bookings go to {@link Studies}. Nothing that somebody typed is stored: no name, and no description either.
 */
@Component
class DicomwebCollector implements Collector {

    private static final Set<String> CONFLICTS =
            Set.of(Trouble.TWO_PATIENTS.name(), Trouble.OTHER_PIXELS.name(), Trouble.OTHER_HEADER.name());

    private final CollectSettings settings;
    private final PseudonymousCode codes;
    private final Studies studies;
    private final Scanners scanners;
    private final Findings findings;
    private final InstantSource clock;

    DicomwebCollector(
            CollectSettings settings,
            PseudonymousCode codes,
            Studies studies,
            Scanners scanners,
            Findings findings,
            InstantSource clock) {
        this.settings = settings;
        this.codes = codes;
        this.studies = studies;
        this.scanners = scanners;
        this.findings = findings;
        this.clock = clock;
    }

    @Override
    public OriginKind kind() {
        return OriginKind.DICOMWEB;
    }

    @Override
    public void check(Terms terms) {
        var _ = DicomServers.of(terms);
    }

    @Override
    public Look look(Origin origin, @Nullable String newest) throws IOException, InterruptedException {
        try (Orthanc orthanc = open(origin)) {
            long last = newest == null ? 0 : Long.parseLong(newest);
            Changes.Seen seen = new Changes(orthanc).since(last);
            return new Look(
                    offers(origin, orthanc.allStudies()),
                    seen.changed().stream().map(Uid::shown).collect(Collectors.toSet()),
                    String.valueOf(seen.last()),
                    Remark.of(seen.missing()),
                    Remark.of(seen.remarks()));
        }
    }

    /** NB: a study with two patients is found twice, but is one item. */
    private static List<Offer> offers(Origin origin, List<Found> found) {
        Map<String, Offer> offers = new LinkedHashMap<>();
        for (Found study : found) {
            String item = Uid.shown(study.studyUid());
            Offer before = offers.get(item);
            long files = study.instances() + (before == null ? 0 : Objects.requireNonNullElse(before.files(), 0L));
            Acquisition acquisition = new Acquisition(modality(study.modalities()), null, day(study.day()));
            offers.put(item, offer(item, theirs(origin, study), acquisition, files, null));
        }
        return List.copyOf(offers.values());
    }

    /** Returns the text before the first {@code ^} of the description, if the origin's terms map it to a project. */
    private static @Nullable String theirs(Origin origin, Found study) {
        String description = study.description();
        int end = description.indexOf('^');
        String group = (end < 0 ? description : description.substring(0, end)).strip();
        return origin.terms().projects().containsKey(group) ? group : null;
    }

    private static Offer offer(
            String item, @Nullable String theirs, Acquisition acquisition, @Nullable Long files, @Nullable Long bytes) {
        String modality = acquisition.modality() == null ? "study" : acquisition.modality();
        String title = acquisition.day() == null ? modality : modality + " " + acquisition.day();
        return new Offer(item, theirs, "dcm-" + Spool.folderOfShown(item), title, acquisition, files, bytes, null);
    }

    @Override
    public Delivery describe(Origin origin, Offer offer) throws IOException, InterruptedException {
        try (Orthanc orthanc = open(origin)) {
            Described told = Described.of(orthanc, codes, studyUid(orthanc, offer.item()), clock.instant());
            tell(offer.item(), told);
            boolean isArriving = told.isArriving(clock.instant());
            return new Delivery(
                    known(offer, told), told.instances(), 0, 0, isArriving, neverStable(offer, told), List.of());
        } catch (DeliveryException e) {
            return failed(offer, e);
        }
    }

    @Override
    public Delivery deliver(Origin origin, Offer offer) throws IOException, InterruptedException {
        try (Orthanc orthanc = open(origin)) {
            String uid = studyUid(orthanc, offer.item());
            Described told = Described.of(orthanc, codes, uid, clock.instant());
            tell(offer.item(), told);
            if (told.isArriving(clock.instant())) {
                return new Delivery(known(offer, told), told.instances(), 0, 0, true, List.of(), List.of());
            }
            Reconciliation came = new Spool(orthanc, codes, origin.terms().spool(), settings.atOnce()).deliver(uid);
            return Delivery.of(known(offer, told), neverStable(offer, told), came);
        } catch (DeliveryException e) {
            return failed(offer, e);
        }
    }

    private List<Remark> neverStable(Offer offer, Described told) {
        if (told.stable() || told.isArriving(clock.instant())) {
            return List.of();
        }
        String message = "not stable after %d hours; downloaded as it is"
                .formatted(told.age(clock.instant()).toHours());
        return List.of(new Remark("study " + offer.item(), offer.item(), Trouble.NEVER_STABLE.name(), message));
    }

    /** Returns the failed delivery of an item. Throws if the trouble affects all items. */
    private static Delivery failed(Offer offer, DeliveryException e) throws DeliveryException {
        if (Orthanc.ENDS_ALL.contains(e.trouble())) {
            throw e;
        }
        String message = String.valueOf(e.getMessage());
        return Delivery.none(
                offer,
                0,
                new Remark("study " + offer.item(), offer.item(), e.trouble().name(), message));
    }

    @Override
    public void kept(long runId, Arrival arrival, Delivery came) {
        Integer experiment = arrival.experimentId();
        if (experiment == null) {
            return;
        }
        if (came.isComplete() && came.filesHere() > 0) {
            studies.collected(arrival.item(), experiment, (int) came.filesHere(), clock.instant());
        }
        findings.add(
                runId,
                came.remarks().stream()
                        .filter(remark -> CONFLICTS.contains(remark.reason()))
                        .map(remark -> new Finding(
                                experiment,
                                Problem.CONFLICTING,
                                null,
                                "origin %s, %s: %s, %s"
                                        .formatted(arrival.origin(), remark.name(), remark.reason(), remark.message())))
                        .toList());
    }

    @Override
    public Recheck.Result check(Origin origin, String item, @Nullable String theirs, Recheck.Asked asked)
            throws IOException, InterruptedException {
        try (Orthanc orthanc = open(origin)) {
            return new Spool(orthanc, codes, origin.terms().spool(), 1).check(studyUid(orthanc, item), asked);
        }
    }

    @Override
    public Path tree(Origin origin, String item) {
        return Spool.tree(origin.terms().spool(), Spool.folderOfShown(item));
    }

    /** NB: for an invalid UID, the item contains only its code, so the UID is searched for. */
    private static String studyUid(Orthanc orthanc, String item) throws IOException, InterruptedException {
        if (Uid.isPlain(item)) {
            return item;
        }
        return orthanc.studyUids().stream()
                .filter(uid -> Uid.shown(uid).equals(item))
                .findFirst()
                .orElse(item);
    }

    private void tell(String item, Described told) {
        for (SeriesFacts series : told.series()) {
            studies.received(new ReceivedSeries(
                    item,
                    series.seriesUid(),
                    series.accession(),
                    series.patient(),
                    series.day(),
                    series.time(),
                    series.stationName(),
                    series.aeTitle(),
                    series.modality(),
                    series.instances(),
                    null,
                    series.firstAt(),
                    series.lastAt()));
        }
    }

    private Offer known(Offer offer, Described told) {
        List<SeriesFacts> series = told.series();
        Acquisition acquisition = new Acquisition(
                modality(series.stream()
                        .map(SeriesFacts::modality)
                        .filter(Objects::nonNull)
                        .toList()),
                series.stream()
                        .flatMap(each -> scanners.of(each.stationName(), each.aeTitle()).stream())
                        .filter(Code::isCode)
                        .findFirst()
                        .orElse(null),
                series.stream()
                        .map(SeriesFacts::day)
                        .filter(Objects::nonNull)
                        .filter(Acquisition::isPlausible)
                        .findFirst()
                        .orElse(null));
        return offer(offer.item(), offer.theirs(), acquisition, (long) told.instances(), told.bytes());
    }

    /** Prefers MR: a scanner's own images describe a study better than accompanying objects. */
    private static @Nullable String modality(List<String> modalities) {
        List<String> legal = modalities.stream().filter(Acquisition::isModality).toList();
        return legal.contains("MR") ? "MR" : legal.stream().findFirst().orElse(null);
    }

    private static @Nullable LocalDate day(String text) {
        try {
            LocalDate day = LocalDate.parse(text, DateTimeFormatter.BASIC_ISO_DATE);
            return Acquisition.isPlausible(day) ? day : null;
        } catch (DateTimeException e) {
            return null;
        }
    }

    private Orthanc open(Origin origin) {
        return open(origin.terms(), settings.limits(), clock);
    }

    static Orthanc open(Terms terms, Limits limits, InstantSource clock) {
        return new Orthanc(DicomServers.of(terms), limits, Pause.REAL, clock);
    }
}
