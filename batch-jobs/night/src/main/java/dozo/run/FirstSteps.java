package dozo.run;

import com.fasterxml.jackson.annotation.JsonProperty;
import dozo.file.Message;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.ledger.Worded;
import dozo.record.RecoverySettings;
import dozo.registry.Reason;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * The first steps of an installation. Whether one is done is read from the catalogue and the settings; there is no flag. One
 * that is not done stays open until a person dismisses it by name, with a reason.
 */
@Component
public class FirstSteps {

    private final JdbcClient jdbc;
    private final Sites sites;
    private final NightTimes nights;
    private final RecoverySettings recovery;
    private final Ledger ledger;
    private final InstantSource clock;

    /** The steps, in the order in which they are taken. */
    public enum Step implements Worded {
        SITE("Add a site on the page Sites, or run dozo site add and dozo site check."),
        PROJECT("Run dozo project add."),
        SCHEDULE("Set DOZO_SCHEDULE_CRON, or run dozo site schedule."),
        EXPERIMENT("Run dozo register, or register folders on the page Register."),
        BACKUP("Run dozo run --wait, or wait for the next night."),
        RECIPIENT("Run dozo alert save NAME --mail ADDRESS, or dozo alert save NAME --webhook-file FILE."),
        RECOVERY_KEY(
                "Set DOZO_RECOVERY_RECIPIENTS to a public key whose private key is kept in another building; or keep a copy of the"
                        + " recovery key there, and dismiss the step with that reason."),
        DRILL("Run dozo drill, or wait for the drill of a night.");

        private final String cure;

        Step(String cure) {
            this.cure = cure;
        }

        private Message meaning() {
            return switch (this) {
                case SITE -> Message.of("No site was checked: there is no second place for the data.");
                case PROJECT -> Message.of("There is no project: experiments belong to projects.");
                case SCHEDULE -> Message.of("A site has no schedule: it gets no automatic backups.");
                case EXPERIMENT -> Message.of("No experiment is registered: nothing is backed up.");
                case BACKUP -> Message.of("No backup was made yet: nothing is safe.");
                case RECIPIENT ->
                    Message.of("There is no recipient for alerts: nobody is told when something needs a person.");
                case RECOVERY_KEY ->
                    Message.of(
                            "There is no stand-in for the recovery key: if this machine is lost, the catalogue's records at the sites cannot be read.");
                case DRILL -> Message.of("No drill was complete yet: nobody knows whether a restore works.");
            };
        }
    }

    /**
     * A first step.
     *
     * @param step site, project, schedule, experiment, backup, recipient, recovery-key or drill
     * @param sentence what is missing while it is not done
     * @param cure what to do
     * @param done whether it is done now
     * @param dismissedBy the user who dismissed it; missing: nobody has
     * @param reason why that user dismissed it
     */
    public record FirstStep(
            Step step,
            Message sentence,
            String cure,
            boolean done,
            @Nullable String dismissedBy,
            @Nullable Instant dismissedAt,
            @Nullable String reason) {

        /** Returns whether it is neither done nor dismissed. */
        @JsonProperty
        public boolean open() {
            return !done && dismissedBy == null;
        }
    }

    private record Dismissal(String step, String dismissedBy, Instant dismissedAt, String reason) {}

    public FirstSteps(
            JdbcClient jdbc,
            Sites sites,
            NightTimes nights,
            RecoverySettings recovery,
            Ledger ledger,
            InstantSource clock) {
        this.jdbc = jdbc;
        this.sites = sites;
        this.nights = nights;
        this.recovery = recovery;
        this.ledger = ledger;
        this.clock = clock;
    }

    /** Returns all steps in their order. */
    public List<FirstStep> all() {
        Set<Step> done = done();
        Map<String, Dismissal> dismissals = jdbc
                .sql("select step, dismissed_by, dismissed_at, reason from step_dismissal")
                .query(Rows.of(Dismissal.class))
                .list()
                .stream()
                .collect(Collectors.toMap(Dismissal::step, Function.identity()));
        return Arrays.stream(Step.values())
                .map(step -> {
                    Dismissal by = dismissals.get(step.word());
                    return new FirstStep(
                            step,
                            step.meaning(),
                            step.cure,
                            done.contains(step),
                            by == null ? null : by.dismissedBy,
                            by == null ? null : by.dismissedAt,
                            by == null ? null : by.reason);
                })
                .toList();
    }

    private Set<Step> done() {
        Set<Step> done = EnumSet.noneOf(Step.class);
        jdbc.sql("""
                        select 'SITE' where exists (select from site join site_capability using (site_id) where removed_at is null)
                        union all select 'PROJECT' where exists (select from project)
                        union all select 'EXPERIMENT' where exists (select from experiment)
                        -- A night without experiments is complete, too, and makes nothing safe.
                        union all select 'BACKUP'
                        where exists (select from protection join site using (site_id) where removed_at is null and entries_safe > 0)
                        union all select 'RECIPIENT' where exists (select from recipient where active)
                        union all select 'DRILL' where exists (select from drill join restore using (restore_id) where state = 'COMPLETE')
                        """).query(row -> {
            done.add(Step.valueOf(row.getString(1)));
        });
        if (isScheduled()) {
            done.add(Step.SCHEDULE);
        }
        if (!recovery.list().isEmpty()) {
            done.add(Step.RECOVERY_KEY);
        }
        return done;
    }

    /** Returns whether every site has a next night; without a site, whether the setting names one. */
    private boolean isScheduled() {
        Instant now = clock.instant();
        List<Integer> ids = sites.all().stream().map(Site::id).toList();
        return (ids.isEmpty() ? List.of(Sites.NO_SITE) : ids)
                .stream().allMatch(id -> nights.next(id, now).isPresent());
    }

    /**
     * Dismisses a step. The ledger gets everything but the reason, which is a person's own words: only its digest.
     *
     * @throws Refusal if the step is done or dismissed already, or for the field {@code reason}
     */
    @Transactional
    public FirstStep dismiss(Step step, String reason, String actor) {
        Reason why = Reason.of(reason);
        if (done().contains(step)) {
            throw Refusal.conflict("step", "the step %s is done", step.word());
        }
        int added = jdbc.sql("""
                        insert into step_dismissal (step, dismissed_by, dismissed_at, reason) values (:step, :by, :now, :reason)
                        on conflict do nothing
                        """)
                .params(Map.of("step", step.word(), "by", actor, "reason", why.text()))
                .param("now", Timestamp.from(clock.instant()))
                .update();
        if (added == 0) {
            throw Refusal.conflict("step", "the step %s is dismissed already", step.word());
        }
        ledger.append(
                actor,
                "step.dismissed",
                step.word(),
                Map.of("before", "open", "after", "dismissed", "reason_sha256", why.sha256()));
        return of(step);
    }

    /**
     * Undoes the dismissal of a step.
     *
     * @throws Refusal if it is not dismissed
     */
    @Transactional
    public FirstStep reopen(Step step, String actor) {
        int removed = jdbc.sql("delete from step_dismissal where step = :step")
                .param("step", step.word())
                .update();
        if (removed == 0) {
            throw Refusal.conflict("step", "the step %s is not dismissed", step.word());
        }
        ledger.append(actor, "step.reopened", step.word(), Map.of("before", "dismissed", "after", "open"));
        return of(step);
    }

    private FirstStep of(Step step) {
        return all().stream().filter(each -> each.step() == step).findFirst().orElseThrow();
    }
}
