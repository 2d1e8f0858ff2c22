package dozo.collect;

import static dozo.registry.GivenPaths.shown;

import dozo.collect.Origins.Origin;
import dozo.registry.Acquisition;
import dozo.registry.Refusal;
import dozo.source.delivery.Item;
import dozo.source.delivery.Limits;
import dozo.source.delivery.Pause;
import dozo.source.delivery.Recheck;
import dozo.source.delivery.Reconciliation;
import dozo.source.delivery.Trouble;
import dozo.source.flywheel.ApiKey;
import dozo.source.flywheel.Changes;
import dozo.source.flywheel.Changes.Seen;
import dozo.source.flywheel.Container;
import dozo.source.flywheel.Flywheel;
import dozo.source.flywheel.Level;
import dozo.source.flywheel.ListedItem;
import dozo.source.flywheel.Spool;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.stereotype.Component;

/**
 * Collects the sessions of a Flywheel, and the files and metadata of those projects that belong to one of ours; each
 * session and each project is an item. A project's item is in itself.
 */
@Component
@EnableConfigurationProperties(CollectSettings.class)
class FlywheelCollector implements Collector {

    private static final Set<String> PATHS = Set.of("", "/", "/api");

    private final CollectSettings settings;
    private final InstantSource clock;

    FlywheelCollector(CollectSettings settings, InstantSource clock) {
        this.settings = settings;
        this.clock = clock;
    }

    @Override
    public OriginKind kind() {
        return OriginKind.FLYWHEEL;
    }

    @Override
    public void check(Terms terms) {
        key(terms);
    }

    @Override
    public Look look(Origin origin, @Nullable String newest) throws IOException, InterruptedException {
        try (Flywheel flywheel = open(origin)) {
            Seen seen = new Changes(flywheel).since(newest == null ? null : Instant.parse(newest));
            Stream<Container> projects = seen.projects().values().stream().filter(project -> isMapped(origin, project));
            return new Look(
                    Stream.concat(seen.sessions().values().stream(), projects)
                            .map(item -> offer(item, null, null, null))
                            .toList(),
                    seen.changed(),
                    seen.newest() == null ? null : seen.newest().toString(),
                    Remark.of(seen.missing()),
                    Remark.of(seen.remarks()));
        }
    }

    @Override
    public Delivery describe(Origin origin, Offer offer) throws IOException, InterruptedException {
        try (Flywheel flywheel = open(origin)) {
            ListedItem told = ListedItem.of(flywheel, level(offer), offer.item());
            checkAnswers(flywheel, told.missing());
            Offer known = told.container() == null
                    ? offer
                    : offer(
                            told.container(),
                            told.modality(),
                            (long) told.files().size(),
                            told.bytes());
            return new Delivery(
                    known, told.files().size(), 0, 0, false, Remark.of(told.missing()), Remark.of(told.remarks()));
        }
    }

    @Override
    public Delivery deliver(Origin origin, Offer offer) throws IOException, InterruptedException {
        try (Flywheel flywheel = open(origin)) {
            Spool spool = new Spool(flywheel, origin.terms().spool(), settings.atOnce());
            Reconciliation came = spool.deliver(level(offer), offer.item());
            checkAnswers(flywheel, came.missing());
            Offer known = offer.with(offer.acquisition(), came.filesTold(), came.bytesTold(), null);
            return Delivery.of(known, List.of(), came);
        }
    }

    @Override
    public Recheck.Result check(Origin origin, String item, @Nullable String theirs, Recheck.Asked asked)
            throws IOException, InterruptedException {
        try (Flywheel flywheel = open(origin)) {
            return new Spool(flywheel, origin.terms().spool(), 1).check(level(item, theirs), item, asked);
        }
    }

    @Override
    public Path tree(Origin origin, String item) {
        return Spool.tree(origin.terms().spool(), item);
    }

    private Flywheel open(Origin origin) {
        return open(origin.terms(), settings.limits(), clock);
    }

    static Flywheel open(Terms terms, Limits limits, InstantSource clock) {
        return new Flywheel(key(terms), limits, Set.copyOf(terms.storageHosts()), Pause.REAL, clock);
    }

    /** Reads the key and checks that it is for the origin's address, so that a key in the wrong file is never sent. */
    private static ApiKey key(Terms terms) {
        Path file = terms.secretFile();
        if (file == null) {
            throw new Refusal("secretFile", "Flywheel requires an API key: expected the file that contains it");
        }
        ApiKey key;
        try {
            key = ApiKey.inFile(file);
        } catch (IOException e) {
            throw new Refusal("secretFile", "the key file %s cannot be read", shown(file));
        } catch (IllegalArgumentException e) {
            String why = String.valueOf(e.getMessage());
            throw new Refusal("secretFile", "the key in %s cannot be used: %s", shown(file), why);
        }
        // An http:// address requests plain HTTP as clearly as __force_insecure in the key.
        ApiKey sent = key.overPlainHttp(terms.address()).orElse(key);
        if (!sent.isFor(terms.address()) || !isPlain(terms.address())) {
            throw new Refusal(
                    "address",
                    "the key in %s is for another address; expected its https://HOST or https://HOST:PORT",
                    shown(file));
        }
        return sent;
    }

    private static boolean isPlain(URI address) {
        return PATHS.contains(address.getPath()) && address.getRawQuery() == null && address.getRawUserInfo() == null;
    }

    /** Throws if Flywheel no longer answers: the failure then affects all items, not only this one. */
    private static void checkAnswers(Flywheel flywheel, List<Item> missing)
            throws OriginException, InterruptedException {
        Optional<Item> silent =
                missing.stream().filter(each -> passes(each.trouble())).findFirst();
        if (silent.isPresent() && !flywheel.answers()) {
            throw new OriginException(
                    "Flywheel no longer answers: " + silent.get().message());
        }
    }

    static boolean passes(Trouble trouble) {
        return switch (trouble) {
            case UNREACHABLE, DROPPED, STALLED, SERVER_FAULT, BUSY -> true;
            default -> false;
        };
    }

    private static boolean isMapped(Origin origin, Container project) {
        return origin.terms().project() != null || origin.terms().projects().containsKey(project.id());
    }

    private static Level level(Offer offer) {
        return level(offer.item(), offer.theirs());
    }

    private static Level level(String item, @Nullable String theirs) {
        return item.equals(theirs) ? Level.PROJECT : Level.SESSION;
    }

    private static Offer offer(Container item, @Nullable String modality, @Nullable Long files, @Nullable Long bytes) {
        LocalDate day = item.day();
        boolean isProject = item.level() == Level.PROJECT;
        return new Offer(
                item.id(),
                isProject ? item.id() : item.project(),
                code(item.id()),
                isProject ? "project " + item.label() : item.label(),
                new Acquisition(modality, null, day != null && Acquisition.isPlausible(day) ? day : null),
                files,
                bytes,
                null);
    }

    /**
     * Returns the proposed code. Only ids that are not real ones contain characters that a code must not have, or are
     * cut off.
     */
    private static String code(String id) {
        String code = "fw-" + id.replaceAll("[^A-Za-z0-9_-]", "-");
        return code.length() > 64 ? code.substring(0, 64) : code;
    }
}
