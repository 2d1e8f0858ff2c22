package dozo.collect;

import dozo.collect.Origins.Origin;
import dozo.registry.Acquisition;
import dozo.registry.Refusal;
import dozo.source.delivery.Item;
import dozo.source.delivery.Limits;
import dozo.source.delivery.Pause;
import dozo.source.delivery.Recheck;
import dozo.source.delivery.Reconciliation;
import dozo.source.xnat.ListedSession;
import dozo.source.xnat.Sessions;
import dozo.source.xnat.Sessions.Found;
import dozo.source.xnat.Spool;
import dozo.source.xnat.Xnat;
import java.io.IOException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.stereotype.Component;

/**
 * Collects the image sessions of an XNAT. XNAT does not say what has changed: each night reads the lists of all sessions.
 */
@Component
@EnableConfigurationProperties(CollectSettings.class)
class XnatCollector implements Collector {

    private final CollectSettings settings;
    private final InstantSource clock;

    XnatCollector(CollectSettings settings, InstantSource clock) {
        this.settings = settings;
        this.clock = clock;
    }

    @Override
    public OriginKind kind() {
        return OriginKind.XNAT;
    }

    @Override
    public void check(Terms terms) {
        open(terms, settings.limits(), clock).close();
    }

    /** NB: if projects are mapped, and none is given for all others, only their sessions are looked for. */
    @Override
    public Look look(Origin origin, @Nullable String newest) throws IOException, InterruptedException {
        Terms terms = origin.terms();
        try (Xnat xnat = open(origin)) {
            Sessions.Listed told =
                    Sessions.of(xnat, terms.project() == null ? terms.projects().keySet() : Set.of());
            checkAnswers(xnat, told.missing());
            List<Offer> offers = told.sessions().stream()
                    .map(found -> offer(found, null, null))
                    .toList();
            Set<String> all = offers.stream().map(Offer::item).collect(Collectors.toSet());
            return new Look(offers, all, null, Remark.of(told.missing()), Remark.of(told.remarks()));
        }
    }

    private static Offer offer(Found found, @Nullable Long files, @Nullable Long bytes) {
        return new Offer(
                found.id(),
                found.project(),
                "xnat-" + found.id().replaceAll("[^A-Za-z0-9_-]", "-"),
                "%s %s".formatted(found.subject(), found.label()),
                new Acquisition(modality(found.type()), null, day(found.date())),
                files,
                bytes,
                null);
    }

    /** Returns the modality of a type such as {@code xnat:mrSessionData}; null if it does not name one. */
    private static @Nullable String modality(String type) {
        String name = type.replaceAll("^.*:|SessionData$", "").toUpperCase(Locale.ROOT);
        String modality = name.equals("PET") ? "PT" : name;
        return Acquisition.isModality(modality) ? modality : null;
    }

    private static @Nullable LocalDate day(String text) {
        try {
            LocalDate day = LocalDate.parse(text);
            return Acquisition.isPlausible(day) ? day : null;
        } catch (DateTimeException e) {
            return null;
        }
    }

    @Override
    public Delivery describe(Origin origin, Offer offer) throws IOException, InterruptedException {
        try (Xnat xnat = open(origin)) {
            ListedSession told = ListedSession.of(xnat, offer.item());
            checkAnswers(xnat, told.missing());
            Offer known = offer.with(offer.acquisition(), told.count(), told.bytes(), null);
            return new Delivery(known, told.count(), 0, 0, false, Remark.of(told.missing()), List.of());
        }
    }

    @Override
    public Delivery deliver(Origin origin, Offer offer) throws IOException, InterruptedException {
        try (Xnat xnat = open(origin)) {
            Reconciliation came = new Spool(xnat, origin.terms().spool(), settings.atOnce()).deliver(offer.item());
            checkAnswers(xnat, came.missing());
            Offer known = offer.with(offer.acquisition(), came.filesTold(), came.bytesTold(), null);
            return Delivery.of(known, List.of(), came);
        }
    }

    @Override
    public Recheck.Result check(Origin origin, String item, @Nullable String theirs, Recheck.Asked asked)
            throws IOException, InterruptedException {
        try (Xnat xnat = open(origin)) {
            return new Spool(xnat, origin.terms().spool(), 1).check(item, asked);
        }
    }

    @Override
    public Path tree(Origin origin, String item) {
        return Spool.tree(origin.terms().spool(), item);
    }

    private Xnat open(Origin origin) {
        return open(origin.terms(), settings.limits(), clock);
    }

    static Xnat open(Terms terms, Limits limits, InstantSource clock) {
        if (terms.secretFile() == null) {
            throw new Refusal("secretFile", "XNAT requires a login: expected a file with one line NAME:PASSWORD");
        }
        return new Xnat(DicomServers.of(terms), limits, Pause.REAL, clock);
    }

    /** Throws if XNAT no longer answers: the failure then affects all items, not only this one. */
    private static void checkAnswers(Xnat xnat, List<Item> missing) throws OriginException, InterruptedException {
        Optional<Item> silent = missing.stream()
                .filter(each -> FlywheelCollector.passes(each.trouble()))
                .findFirst();
        if (silent.isPresent() && !xnat.answers()) {
            throw new OriginException("XNAT no longer answers: " + silent.get().message());
        }
    }
}
