package dozo.run;

import com.fasterxml.jackson.annotation.JsonProperty;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.Sight;
import dozo.registry.Capabilities;
import dozo.registry.Capacities;
import dozo.registry.Capacity;
import dozo.registry.PartnerCount;
import dozo.registry.PartnerCount.Contact;
import dozo.registry.PartnerFile;
import dozo.registry.Partners;
import dozo.registry.Partners.Partner;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** How we stand with each partner: from the catalogue, and from what the guard of our own site has counted. */
@Component
public record PartnerStates(
        Partners partners,
        Coverage coverage,
        Capabilities capabilities,
        Capacities capacities,
        Runs runs,
        InstantSource clock) {

    private static final Duration COUNT_AGE_MAX = Duration.ofDays(8);
    private static final Duration SILENCE_MAX = Duration.ofDays(3);

    /** What is to be done next, or is wrong; in the order of the steps. */
    public enum Concern {
        OFFER_MISSING("make our file and send it: dozo partner offer %s"),
        FILE_MISSING("accept the partner's file: dozo partner accept %s FILE"),
        COUNT_UNKNOWN(
                "create the partner's account, or let this service read its count: dozo partner account %s | sudo sh"),
        KEYS_CHANGED("our keys have changed; make our file again and send it: dozo partner offer %s"),
        QUOTA_DIFFERS("the quota has changed; change the partner's account: dozo partner account %s | sudo sh"),
        COUNT_OLD("what the partner stores here was not counted anew for 8 days"),
        KEY_UNKNOWN("within 3 days somebody has logged in with a key that is not in the partner's file"),
        NO_CONTACT("the partner has not logged in here for 3 days"),
        NEARLY_USED_UP("the partner has used more than 90 %% of its quota"),
        SITE_UNCHECKED("when the partner has our file and has created our account: dozo site check %s"),
        NOT_SAFE("not all of ours is safe there: dozo findings"),
        RUN_INCOMPLETE("the last night or scrub there was not complete: dozo findings");

        private final String words;

        Concern(String words) {
            this.words = words;
        }
    }

    /**
     * What we have there.
     *
     * @param quotaBytes what the partner gives
     * @param freeBytes what the site reported last; missing: nothing yet
     */
    public record Ours(
            long quotaBytes,
            @Nullable Long freeBytes,
            long experiments,
            long experimentsSafe,
            long bytesSafe,
            int percent,
            @Nullable RunState lastNight,
            @Nullable Instant lastNightAt,
            @Nullable RunState lastScrub,
            @Nullable Instant lastScrubAt) {}

    /**
     * What the partner has here.
     *
     * @param quotaBytes what we give
     * @param usedBytes missing: unknown; each file, folder and link counts 4 KiB more
     * @param keys fingerprints of those that it has used
     */
    public record Theirs(
            long quotaBytes,
            @Nullable Long usedBytes,
            @Nullable Instant countedAt,
            @Nullable Instant lastContactAt,
            List<String> keys) {}

    /**
     * How we stand with a partner.
     *
     * @param ours missing: no file of it was accepted
     * @param theirs missing: no file was made for it
     * @param concerns what is to be done next, or is wrong; none: all is well
     */
    public record PartnerState(
            String name, @Nullable Ours ours, @Nullable Theirs theirs, Set<Concern> concerns) {

        /** Returns what is to be done next, or is wrong, in words. */
        @JsonProperty("next")
        public List<String> next() {
            return concerns.stream()
                    .map(concern -> concern.words.formatted(name))
                    .toList();
        }
    }

    /** Returns how we stand with each partner, by name. */
    public List<PartnerState> all() {
        return partners.all().stream().map(this::of).toList();
    }

    /** Returns how we stand with one partner. */
    public PartnerState of(Partner partner) {
        Set<Concern> concerns = EnumSet.noneOf(Concern.class);
        PartnerFile offered = partner.offered();
        PartnerFile accepted = partner.accepted();
        Integer site = partner.siteId();
        Theirs theirs = offered == null ? null : theirs(partner, offered, concerns);
        Ours ours = accepted == null || site == null ? null : ours(accepted, site, concerns);
        add(concerns, Concern.OFFER_MISSING, theirs == null);
        add(concerns, Concern.FILE_MISSING, ours == null);
        return new PartnerState(partner.name(), ours, theirs, concerns);
    }

    private Theirs theirs(Partner partner, PartnerFile offered, Set<Concern> concerns) {
        Optional<PartnerCount> known = PartnerCount.in(partner.countFile());
        List<Contact> contacts = known.map(PartnerCount::contacts).orElse(List.of());
        Instant recent = clock.instant().minus(SILENCE_MAX);
        Instant last =
                contacts.stream().map(Contact::at).max(Instant::compareTo).orElse(null);
        PartnerFile accepted = partner.accepted();
        List<String> admitted = accepted == null ? List.of() : accepted.keyFingerprints();
        add(concerns, Concern.KEYS_CHANGED, !offered.keys().containsAll(partners.ownKeys()));
        add(concerns, Concern.COUNT_UNKNOWN, known.isEmpty());
        add(concerns, Concern.NO_CONTACT, last == null || last.isBefore(recent));
        add(
                concerns,
                Concern.KEY_UNKNOWN,
                contacts.stream().anyMatch(each -> each.at().isAfter(recent) && !admitted.contains(each.key())));
        known.ifPresent(count -> {
            add(concerns, Concern.QUOTA_DIFFERS, count.quotaBytes() != offered.quotaBytes());
            add(
                    concerns,
                    Concern.COUNT_OLD,
                    count.countedAt().isBefore(clock.instant().minus(COUNT_AGE_MAX)));
            add(concerns, Concern.NEARLY_USED_UP, count.usedBytes() > offered.quotaBytes() / 10 * 9);
        });
        return new Theirs(
                offered.quotaBytes(),
                known.map(PartnerCount::usedBytes).orElse(null),
                known.map(PartnerCount::countedAt).orElse(null),
                last,
                contacts.stream().map(Contact::key).toList());
    }

    private Ours ours(PartnerFile accepted, int site, Set<Concern> concerns) {
        Totals totals = coverage.all(site);
        Optional<Run> night = runs.latest(Sight.EVERYTHING, site, RunKind.NIGHTLY_BACKUP, RunKind.RETRY);
        Optional<Run> scrub = runs.latest(Sight.EVERYTHING, site, RunKind.SCRUB);
        add(concerns, Concern.SITE_UNCHECKED, capabilities.of(site).isEmpty());
        add(concerns, Concern.NOT_SAFE, !totals.safe());
        add(concerns, Concern.RUN_INCOMPLETE, isIncomplete(night) || isIncomplete(scrub));
        return new Ours(
                accepted.quotaBytes(),
                capacities.of(site).map(Capacity::freeBytes).orElse(null),
                totals.experiments(),
                totals.experimentsSafe(),
                totals.bytesSafe(),
                totals.percent(),
                night.map(Run::state).orElse(null),
                night.map(Run::startedAt).orElse(null),
                scrub.map(Run::state).orElse(null),
                scrub.map(Run::startedAt).orElse(null));
    }

    private static boolean isIncomplete(Optional<Run> run) {
        return run.filter(last -> !last.goesOn() && last.state() != RunState.COMPLETE)
                .isPresent();
    }

    private static void add(Set<Concern> concerns, Concern concern, boolean stands) {
        if (stands) {
            concerns.add(concern);
        }
    }
}
