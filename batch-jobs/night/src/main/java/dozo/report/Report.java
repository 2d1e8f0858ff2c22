package dozo.report;

import dozo.alert.Condition;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.manifest.Freezes.Swept;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import dozo.run.Sentence;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the night before a morning did, of what somebody may see.
 *
 * @param day of the morning
 * @param from when the night could begin: noon of the day before
 * @param at the moment of which it tells how everything stood
 * @param current whether that is now
 * @param experiments how many were registered then
 * @param sites by name
 * @param needs what needed a person then
 */
public record Report(
        LocalDate day,
        Instant from,
        Instant at,
        boolean current,
        long experiments,
        List<SiteNight> sites,
        List<Need> needs) {

    /** The kinds of conditions that say that data is not safe. */
    private static final Set<Condition.Kind> OF_DATA = Set.of(
            Condition.Kind.LOST,
            Condition.Kind.DAMAGED,
            Condition.Kind.FROZEN,
            Condition.Kind.SOURCE_MISSING,
            Condition.Kind.DELETED_SOON,
            Condition.Kind.LATE,
            Condition.Kind.BLOCKED);

    /** The answer to "is all that was due safe?". */
    public enum Verdict {
        /** No experiment was registered. */
        NONE,
        /** All is safe, and nothing needs a person. */
        SAFE,
        /** All is safe, but something needs a person. */
        SAFE_BUT,
        /** Nobody knows: a night did not start, broke off, or goes on. */
        UNKNOWN,
        NOT_SAFE
    }

    /** What became of a night at a site. */
    public enum NightState {
        COMPLETE,
        FINDINGS,
        FAILED,
        STOPPED,
        RUNNING,
        PAUSED,
        /** It was due, and did not start. */
        NOT_STARTED,
        /** It is due later. */
        NOT_YET,
        /** No night was due, and none started. */
        NONE,
        /** None started. Whether one was due is not recorded. */
        UNRECORDED;

        /** Returns whether nothing is known to be missing from it. */
        boolean isWell() {
            return this == COMPLETE || this == FINDINGS || this == NONE;
        }
    }

    /**
     * A night at a site, and how its data stood.
     *
     * @param dueAt when a night was due last; null: none was, or that is not recorded
     * @param backups that began in the night, the first first
     * @param unsafe how many experiments were due, and are not safe
     * @param later how many more are not safe, but were not due: they came, or were changed, after the night
     * @param oldestUnprotected since when the oldest unprotected data waits; null: all is safe
     * @param waiting the first of what is not safe, the oldest first
     * @param findings how many are open now, by reason; null: the report is of the past
     * @param tonight the forecast; null: no night is planned, one goes on, or the report is of the past
     */
    public record SiteNight(
            String site,
            NightState state,
            @Nullable Instant dueAt,
            List<Backup> backups,
            long experiments,
            long experimentsSafe,
            long bytes,
            long bytesSafe,
            long unsafe,
            long later,
            @Nullable Instant oldestUnprotected,
            List<Waiting> waiting,
            @Nullable List<Findings.Reason> findings,
            @Nullable Tonight tonight) {}

    /**
     * A nightly backup or a retry.
     *
     * @param endedAt null: it goes on
     * @param message why it failed, or what it waits for; empty for users who see only some projects
     * @param findings their number; 1001: more than 1,000
     * @param experiments how many it made safe
     * @param bytes that it proved
     * @param entries files, folders and links that it proved
     * @param bytesPerSecond over its whole time, also while nothing was sent
     */
    public record Backup(
            long run,
            RunKind kind,
            RunState state,
            Instant startedAt,
            @Nullable Instant endedAt,
            String message,
            long findings,
            long experiments,
            long bytes,
            long entries,
            double bytesPerSecond) {}

    /**
     * An experiment that is not safe.
     *
     * @param experiment its project and code
     * @param since when its oldest unprotected data was found
     * @param files that are not safe, with {@code bytes}; null: never read
     * @param reason what the night found; null: nothing
     * @param due whether it was due
     */
    public record Waiting(
            String experiment,
            Instant since,
            @Nullable Long files,
            @Nullable Long bytes,
            @Nullable Problem reason,
            boolean due) {}

    /**
     * The forecast of a night that begins now.
     *
     * @param beginsAt when the next one really begins
     * @param untilAt the end of its window
     * @param nights how many earlier nights were measured; 0: it is a guess
     * @param experiments how many are not safe, with {@code bytes}
     * @param probable how many of these are safe by then with a probability of 90 %
     */
    public record Tonight(Instant beginsAt, Instant untilAt, int nights, int experiments, long bytes, int probable) {}

    /**
     * Something that needs a person.
     *
     * @param subject the first thing that it is about
     * @param experiments how many experiments it is about, if the subject is not all; otherwise 1
     * @param frozen what vanished or changed at once, if it is about that and still so
     * @param since when it began; null: not known
     */
    public record Need(
            Condition.Kind kind,
            @Nullable String site,
            @Nullable String project,
            long count,
            String subject,
            long experiments,
            @Nullable Swept frozen,
            @Nullable Instant since) {

        /** Returns its sentence. */
        Sentence sentence() {
            return Sentence.of(kind, count, subject, experiments, frozen);
        }

        boolean ofData() {
            return OF_DATA.contains(kind);
        }
    }

    /** Why not all that was due is known to be safe. */
    public enum Why {
        NO_SITE,
        /** Something needs a person. */
        NEED,
        NIGHT,
        UNSAFE
    }

    /**
     * A reason with what it is about.
     *
     * @param site null: it does not belong to one
     * @param need null: it is another reason
     */
    public record Because(
            Why why, @Nullable SiteNight site, @Nullable Need need) {

        private boolean ofData() {
            return need == null ? why != Why.NIGHT : need.ofData();
        }

        private boolean isUnknown() {
            return why == Why.NIGHT && site != null && !site.state.isWell();
        }
    }

    /** Returns why the verdict is not that all is safe, the gravest first. */
    public List<Because> reasons() {
        if (experiments == 0) {
            return List.of();
        }
        return Stream.of(
                        needs.stream().filter(Need::ofData).map(need -> new Because(Why.NEED, null, need)),
                        sites.isEmpty() ? Stream.of(new Because(Why.NO_SITE, null, null)) : Stream.<Because>empty(),
                        sites.stream()
                                .filter(site -> !site.state.isWell())
                                .map(site -> new Because(Why.NIGHT, site, null)),
                        sites.stream().filter(site -> site.unsafe > 0).map(site -> new Because(Why.UNSAFE, site, null)),
                        sites.stream()
                                .filter(site -> site.state == NightState.FINDINGS)
                                .map(site -> new Because(Why.NIGHT, site, null)),
                        needs.stream().filter(need -> !need.ofData()).map(need -> new Because(Why.NEED, null, need)))
                .flatMap(reasons -> reasons)
                .toList();
    }

    /** Returns whether all that was due is safe at every site. */
    public Verdict verdict() {
        List<Because> reasons = reasons();
        if (experiments == 0) {
            return Verdict.NONE;
        }
        if (reasons.stream().anyMatch(Because::ofData)) {
            return Verdict.NOT_SAFE;
        }
        if (reasons.stream().anyMatch(Because::isUnknown)) {
            return Verdict.UNKNOWN;
        }
        return reasons.isEmpty() ? Verdict.SAFE : Verdict.SAFE_BUT;
    }
}
