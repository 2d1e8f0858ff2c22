package dozo.run;

import dozo.drill.DrillPromises;
import dozo.drill.DrillPromises.DrillPromise;
import dozo.drill.DrillPromises.Standing;
import dozo.file.Problem;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.RetiredSums;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Reason;
import dozo.ledger.Sight;
import dozo.manifest.Freezes;
import dozo.manifest.Freezes.Swept;
import dozo.registry.ExperimentSearch;
import dozo.registry.ExperimentSearch.Risk;
import dozo.registry.ExperimentSearch.State;
import dozo.registry.RiskSettings;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.run.Forecasts.Line;
import dozo.run.Promises.Promise;
import dozo.verify.Losses;
import dozo.verify.Losses.AllLost;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * The first sentence of every answer to "is everything safe?": the gravest thing that is true. Of what runs found about their site or
 * about themselves, the newest that is still true counts.
 */
@Component
public class Headlines {

    /** The number of experiments to name for each state. */
    private static final int SHOWN = 10;

    private final Sites sites;
    private final Coverage coverage;
    private final Losses losses;
    private final ExperimentSearch search;
    private final Findings findings;
    private final Freezes freezes;
    private final Promises promises;
    private final DrillPromises drills;
    private final RunTimes runTimes;
    private final Forecasts forecasts;
    private final NightTimes nights;
    private final RiskSettings settings;
    private final InstantSource clock;

    /**
     * What a headline can be about, the gravest first. The states of experiments at risk have the names of
     * {@link State}, and the problems of a whole run those of {@link Problem}.
     */
    public enum Kind {
        LOST,
        DAMAGED,
        FROZEN,
        SOURCE_MISSING,
        /** Some experiments may be deleted by their scanner before they are safe. */
        DELETED_SOON,
        LATE,
        SITE_KEY_CHANGED,
        SITE_FULL,
        SITE_UNREACHABLE,
        SITE_UNUSABLE,
        RUN_FAILED,
        /** A rehearsed restore found something, or could not be finished. */
        DRILL_FAILED,
        BLOCKED,
        /** The start of the last run is in the future: the clock was ahead then, or is behind now. */
        CLOCK_SET_BACK,
        /** No night is planned, and none has started recently. */
        NO_NIGHT,
        /** Nights are planned, but none has started recently. */
        OLD_NIGHT,
        /** Some stored copies were not read again within the promised age. */
        UNREAD,
        /** Some projects were not rehearsed within the promised time. */
        UNREHEARSED,
        /** Some experiments are not safe yet. */
        WAITING,
        /** No experiment is registered, or all are retired. */
        NONE,
        SAFE;

        private static final Set<Kind> OF_RUNS = EnumSet.range(SITE_KEY_CHANGED, RUN_FAILED);
        private static final Set<Kind> OF_SITE =
                EnumSet.of(DAMAGED, DELETED_SOON, LATE, RUN_FAILED, BLOCKED, UNREAD, WAITING);
        private static final Set<Kind> CALM = EnumSet.of(WAITING, NONE, SAFE);

        /** Returns its word in REST. */
        public String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        /** Returns the kind with this word of REST. */
        public static Kind of(String word) {
            return valueOf(word.toUpperCase(Locale.ROOT).replace('-', '_'));
        }

        /** Returns whether it needs a person. */
        public boolean bad() {
            return !CALM.contains(this);
        }

        /** Returns whether data is lost, damaged or gone at its source. Pages do not show the safe share beside it. */
        public boolean ofData() {
            return compareTo(DELETED_SOON) < 0;
        }

        /** Returns whether it differs from site to site, and its sentence does not name the site. */
        public boolean ofSite() {
            return OF_SITE.contains(this);
        }

        /** Returns whether it is about experiments at risk. */
        public boolean ofExperiments() {
            return Arrays.stream(State.values()).anyMatch(state -> state.name().equals(name()));
        }

        /** Returns how grave it is: what runs found about their site or themselves is equally grave. */
        private Kind gravity() {
            return OF_RUNS.contains(this) ? SITE_KEY_CHANGED : this;
        }

        private static Kind of(DrillPromise unkept) {
            return unkept.standing() == Standing.FAILED ? DRILL_FAILED : UNREHEARSED;
        }

        private static Stream<Kind> of(Enum<?> named) {
            return Arrays.stream(values()).filter(kind -> kind.name().equals(named.name()));
        }
    }

    /**
     * The headline of a site, with what it was made from.
     *
     * @param kinds everything that is true, the gravest first, the newest first of what runs found; never empty
     * @param site null: none is registered
     * @param retired the retired experiments, which are not in {@code all}
     * @param risks the experiments at risk by state, the gravest first
     * @param reasons the reasons of open findings, the most frequent first
     * @param drills the projects whose last drill failed or is too long ago
     * @param endangered the experiments that their scanner may delete before they are safe, in the order of sending
     * @param frozen what the frozen experiments have lost; null: none is frozen
     * @param nextNight null: none is planned
     */
    public record Headline(
            List<Kind> kinds,
            @Nullable Site site,
            Totals all,
            RetiredSums retired,
            AllLost lost,
            List<Risk> risks,
            List<Reason> reasons,
            Promise promise,
            List<DrillPromise> drills,
            List<Line> endangered,
            @Nullable Swept frozen,
            @Nullable Instant nextNight) {

        /** Returns what the sentence says: the gravest thing that is true. */
        public Kind kind() {
            return kinds.getFirst();
        }

        /**
         * Returns how many things the sentence is about: files if some are lost, projects if it is about drills,
         * retired experiments if there are no others, otherwise experiments.
         */
        public long count() {
            return switch (kind()) {
                case LOST -> lost.files();
                case WAITING -> all.experiments() - all.experimentsSafe();
                case NONE -> retired.experiments();
                case SAFE -> all.experiments();
                case DELETED_SOON -> endangered.size();
                case DRILL_FAILED, UNREHEARSED -> drilled().size();
                default -> ofKind();
            };
        }

        /** Returns the projects whose drills the sentence is about. */
        private List<DrillPromise> drilled() {
            return drills.stream().filter(each -> Kind.of(each) == kind()).toList();
        }

        /** Returns the number of experiments in the state of the sentence; of all if some are not safe yet. */
        public long experiments() {
            return switch (kind()) {
                case WAITING -> all.experiments();
                case DELETED_SOON -> endangered.size();
                default -> ofKind();
            };
        }

        /** Returns the first experiment in the state of the sentence, or the first project; otherwise the site. */
        public @Nullable String subject() {
            if (kind() == Kind.DELETED_SOON) {
                return endangered.getFirst().name();
            }
            return own().map(risk -> risk.first().getFirst())
                    .or(() -> drilled().stream().findFirst().map(DrillPromise::project))
                    .orElse(siteName());
        }

        public @Nullable String siteName() {
            return site == null ? null : site.name();
        }

        /** Returns whether every experiment is safe and none is at risk; or all are retired. */
        public boolean safe() {
            return all.experiments() == 0 ? retired.experiments() > 0 : all.safe() && risks.isEmpty();
        }

        /** Returns the sentence. */
        public Sentence sentence() {
            return Sentence.of(kind(), count(), String.valueOf(subject()), experiments(), frozen);
        }

        /** Returns the experiments at risk that the sentence is not about. */
        public List<Risk> others() {
            return risks.stream()
                    .filter(risk -> !risk.state().name().equals(kind().name()))
                    .toList();
        }

        /** Returns the number of experiments that are at risk. */
        public long atRisk() {
            return risks.stream().mapToLong(Risk::experiments).sum();
        }

        private long ofKind() {
            return own().map(Risk::experiments).orElse(0L);
        }

        private Optional<Risk> own() {
            return risks.stream()
                    .filter(risk -> risk.state().name().equals(kind().name()))
                    .findFirst();
        }
    }

    /**
     * What is the same for all sites.
     *
     * @param unkept the projects whose last drill failed or is too long ago
     */
    private record Everywhere(
            AllLost lost,
            List<DrillPromise> unkept,
            @Nullable Swept frozen) {}

    Headlines(
            Sites sites,
            Coverage coverage,
            Losses losses,
            ExperimentSearch search,
            Findings findings,
            Freezes freezes,
            Promises promises,
            DrillPromises drills,
            RunTimes runTimes,
            Forecasts forecasts,
            NightTimes nights,
            RiskSettings settings,
            InstantSource clock) {
        this.sites = sites;
        this.coverage = coverage;
        this.losses = losses;
        this.search = search;
        this.findings = findings;
        this.freezes = freezes;
        this.promises = promises;
        this.drills = drills;
        this.runTimes = runTimes;
        this.forecasts = forecasts;
        this.nights = nights;
        this.settings = settings;
        this.clock = clock;
    }

    /** Returns the headline of each site for what the user may see; a single one without a site if none is registered. */
    public List<Headline> all(Sight sight) {
        Everywhere everywhere = everywhere(sight);
        List<Headline> all =
                sites.all().stream().map(site -> of(sight, site, everywhere)).toList();
        return all.isEmpty() ? List.of(of(sight, null, everywhere)) : all;
    }

    /** Returns the headline of a site for what the user may see; null: no site is registered. */
    public Headline of(Sight sight, @Nullable Site site) {
        return of(sight, site, everywhere(sight));
    }

    /** Returns the sentence of an alert that stands, with its facts of now. */
    public Sentence sentence(Enum<?> kind, @Nullable String project, long count, String subject) {
        return Sentence.of(kind, count, subject, 1, frozen(kind, project));
    }

    /** Returns what is frozen in a project; null: nothing is, or the kind is another one. */
    public @Nullable Swept frozen(Enum<?> kind, @Nullable String project) {
        return !kind.name().equals(Kind.FROZEN.name()) || project == null
                ? null
                : freezes.swept(Sight.of(List.of(project))).orElse(null);
    }

    private Everywhere everywhere(Sight sight) {
        return new Everywhere(
                losses.all(sight, SHOWN),
                drills.all(sight).stream().filter(each -> each.standing().bad()).toList(),
                freezes.swept(sight).orElse(null));
    }

    private Headline of(Sight sight, @Nullable Site site, Everywhere everywhere) {
        int siteId = site == null ? Sites.NO_SITE : site.id();
        Totals all = coverage.all(sight, siteId, null);
        List<Risk> risks = search.risks(sight, siteId, SHOWN);
        Promise promise = promises.at(sight, siteId);
        Instant nextNight = nights.nextNight(siteId, clock.instant()).orElse(null);
        Stream<Kind> ofExperiments = risks.stream().flatMap(risk -> Kind.of(risk.state()));
        List<Reason> reasons = findings.openReasons(sight, siteId);
        Stream<Kind> ofRuns =
                findings.openOfWhole(sight, siteId).stream().flatMap(Kind::of).filter(Kind.OF_RUNS::contains);
        Stream<Kind> ofDrills = everywhere.unkept.stream().map(Kind::of);
        List<Line> endangered = forecasts.endangered(sight, siteId);
        List<Kind> kinds = Stream.of(
                        ofExperiments,
                        endangered.stream().map(_ -> Kind.DELETED_SOON),
                        ofRuns,
                        ofService(all, promise, nextNight),
                        ofDrills,
                        Stream.of(ofTotals(all)))
                .flatMap(Function.identity())
                .distinct()
                .sorted(Comparator.comparing(Kind::gravity))
                .toList();
        return new Headline(
                kinds,
                site,
                all,
                coverage.retired(sight, siteId),
                everywhere.lost,
                risks,
                reasons,
                promise,
                everywhere.unkept,
                endangered,
                everywhere.frozen,
                nextNight);
    }

    private Stream<Kind> ofService(Totals all, Promise promise, @Nullable Instant nextNight) {
        Stream.Builder<Kind> kinds = Stream.builder();
        Instant now = clock.instant();
        Instant since = now.minus(settings.after());
        Optional<Instant> last = runTimes.lastNight(now);
        if (runTimes.ahead(now).isPresent()) {
            kinds.add(Kind.CLOCK_SET_BACK);
        }
        if (all.experiments() > 0
                && nextNight == null
                && last.filter(since::isBefore).isEmpty()) {
            kinds.add(Kind.NO_NIGHT);
        }
        // Before the first night, what was registered first shows whether nights start.
        if (nextNight != null
                && last.or(() -> Optional.ofNullable(all.oldestUnprotected()))
                        .filter(since::isAfter)
                        .isPresent()) {
            kinds.add(Kind.OLD_NIGHT);
        }
        if (promise.percent() < 100) {
            kinds.add(Kind.UNREAD);
        }
        return kinds.build();
    }

    private static Kind ofTotals(Totals all) {
        if (all.experiments() == 0) {
            return Kind.NONE;
        }
        return all.safe() ? Kind.SAFE : Kind.WAITING;
    }
}
