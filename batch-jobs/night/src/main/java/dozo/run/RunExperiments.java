package dozo.run;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import dozo.file.Problem;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * What a backup or replication does with each experiment, while it goes on and afterwards. A night lists those of which it sent or
 * found something, or is reading; a run of chosen experiments lists them all. After the retention time, only those with a unit or a
 * finding that is kept.
 */
@Component
public class RunExperiments {

    /** The experiments of a run: found one by one in the index, because an experiment may have very many units. */
    private static final String ITS = """
            with recursive sent as (
                select (select min(experiment_id) from transfer_unit where run_id = :run) as experiment_id
                union all
                select (select min(u.experiment_id) from transfer_unit u where u.run_id = :run and u.experiment_id > s.experiment_id)
                from sent s where s.experiment_id is not null
            ),
            found as (
                select f.experiment_id, count(*) as findings, array_agg(distinct f.reason) as reasons
                from run_finding l join finding f using (finding_id)
                where l.run_id = :run and f.experiment_id is not null
                group by f.experiment_id
            ),
            reading as (
                select unnest(:reading::integer[]) as experiment_id
                union select experiment_id from offered_look where run_id = :run and worker_id is not null
            ),
            its as (
                select experiment_id from sent where experiment_id is not null
                union select experiment_id from found
                union select experiment_id from reading
                union select c.experiment_id from run_experiment c
                      where c.run_id = :run and not exists (select from run_sum k where k.run_id = :run)
            ),
            """;

    /**
     * NB: of an ended run, a cancelled unit may not have been sent. While it goes on, a later plan has its entries. What was
     * retired before everything was read may not have been read.
     */
    private static final String STATE = """
            case
                when f.findings > 0 then 'FINDINGS'
                when r.ended_at is not null and %1$s in ('PLANNED', 'FAILED', 'CANCELLED')) then 'UNFINISHED'
                when %1$s = 'PLANNED') then 'SENDING'
                when %1$s = 'FAILED') then 'UNFINISHED'
                when %1$s = 'VERIFIED') then 'VERIFIED'
                when i.experiment_id in (select experiment_id from reading) then 'READING'
                when r.looked_at is not null and (r.kind = 'replication' or living(e.retired_at, r.looked_at)) then 'UNCHANGED'
                when r.ended_at is null then 'WAITING'
                else 'UNFINISHED'
            end
            """.formatted(
                    "exists (select from transfer_unit u where u.run_id = :run and u.experiment_id = i.experiment_id and u.state");

    private final JdbcClient jdbc;
    private final NightFlows flows;

    /** How a run stands with an experiment. What needs people is first. */
    public enum State {
        /** The run has found something that needs a person. */
        FINDINGS,
        /** Not all was sent, or its source was not read: the next run does the rest. */
        UNFINISHED,
        /** Some of it is yet to be sent, or being sent. */
        SENDING,
        /** Its source is being read. */
        READING,
        /** Its source is yet to be read; or it was, nothing of it is new, and others are still being read. */
        WAITING,
        /** All that was sent of it is verified at the site. */
        VERIFIED,
        /** Its source was read, and there was nothing to send. */
        UNCHANGED
    }

    /**
     * An experiment of a run.
     *
     * @param files of its current manifest; missing: nothing of it was ever sealed
     * @param bytes the same
     * @param bytesPlanned that the run sends or has sent
     * @param bytesVerified of these, in verified units: a large file counts when it is complete
     * @param findings of this run, also those that are closed since
     * @param reasons of these findings
     */
    public record RunExperiment(
            @JsonIgnore long place,
            String project,
            String code,
            String title,
            @Nullable String subject,
            State state,
            @Nullable Long files,
            @Nullable Long bytes,
            long bytesPlanned,
            long bytesVerified,
            long findings,
            List<Problem> reasons) {

        /** Returns how much is verified of what the run sends, in percent, rounded down: 100 only if nothing is left to send. */
        @JsonProperty("share")
        public int share() {
            if (state == State.VERIFIED || state == State.UNCHANGED) {
                return 100;
            }
            return bytesPlanned == 0 ? 0 : (int) Math.min(99, 100.0 * bytesVerified / bytesPlanned);
        }
    }

    RunExperiments(JdbcClient jdbc, NightFlows flows) {
        this.jdbc = jdbc;
        this.flows = flows;
    }

    /**
     * Returns at most {@code limit} visible experiments of a run after a place (0: from the first), the worst first, then by registration. While
     * the run goes on, an experiment may move between two pages.
     */
    public List<RunExperiment> page(Sight sight, long runId, long after, int limit) {
        return jdbc.sql(ITS + """
                        placed as (
                            select i.experiment_id, p.code as project, e.code, e.title, e.subject, r.site_id, s.state,
                                   coalesce(f.findings, 0) as findings, coalesce(f.reasons, '{}') as reasons,
                                   array_position(:states::text[], s.state) * 10000000000 + i.experiment_id as place
                            from its i
                            join run r on r.run_id = :run
                            join experiment e using (experiment_id)
                            join project p using (project_id)
                            left join found f using (experiment_id)
                            cross join lateral (select %s as state offset 0) s
                            where in_sight(:seen, p.code)
                        )
                        select e.*, t.files, t.bytes, u.bytes_planned, u.bytes_verified
                        from (select * from placed where place > :after order by place limit :limit) e
                        left join protection t on t.experiment_id = e.experiment_id and t.site_id = e.site_id
                        cross join lateral (
                            select coalesce(sum(length_bytes), 0)::bigint as bytes_planned,
                                   coalesce(sum(length_bytes) filter (where state = 'VERIFIED'), 0)::bigint as bytes_verified
                            from transfer_unit
                            where run_id = :run and experiment_id = e.experiment_id and state <> 'CANCELLED') u
                        order by e.place
                        """.formatted(STATE))
                .param("states", Arrays.stream(State.values()).map(State::name).toArray(String[]::new))
                .param("reading", flows.reading(runId))
                .param("seen", sight.seen())
                .param("run", runId)
                .param("after", after)
                .param("limit", limit)
                .query(Rows.of(RunExperiment.class))
                .list();
    }
}
