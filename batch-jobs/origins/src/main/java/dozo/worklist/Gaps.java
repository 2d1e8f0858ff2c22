package dozo.worklist;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The gap list: compares planned visits with what arrived, was copied and was verified at a site. It has a line for
 * each booking, and for each study without a booking.
 *
 * <p>A series belongs to the booking with its accession number. If that is not booked, it belongs to the booking with
 * its StudyInstanceUID, else to the booking of the other series of its study. Subjects, days and scanners are compared
 * only after that; no booking is guessed from them.
 */
public class Gaps {

    /** Series that had arrived, with their bookings and scanners. */
    private static final String ARRIVED = """
            with
            -- Which scanner each combination of StationName and sender stands for.
            stations as (
                select said, scanner_of(said[1], said[2]) as scanner
                from (select array[station_name, ae_title] from study_series
                      union select array[null, ae_title] from booking) x (said)
            ),
            -- All series that had arrived, each with its booking.
            named as (
                select s.*, st.scanner,
                       coalesce(a.booking_id,
                                (select min(u.booking_id) from booking u
                                 where u.study_uid = s.study_uid and u.booked_at <= :at)) as named_id
                from study_series s
                join stations st on st.said = array[s.station_name, s.ae_title]
                left join booking a on a.accession = s.accession and a.booked_at <= :at
                where s.first_received_at <= :at {of days}
            ),
            arrived as (
                select n.*, coalesce(named_id, min(named_id) over (partition by study_uid)) as booking_id from named n
            ),
            -- Two visits under one UID; unknown values are ignored.
            twice as (
                select study_uid from arrived group by study_uid
                having count(distinct accession) > 1 or count(distinct subject) > 1 or count(distinct study_day) > 1
            ),
            """;

    /** All series of the studies that days can be about, so that a short list is not made from all that ever arrived. */
    private static final String OF_DAYS = """
            and s.study_uid in (
                    select d.study_uid from study_series d where d.study_day between :from and :until
                    union
                    select a.study_uid from study_series a join booking b using (accession) where b.scheduled_on between :from and :until
                    union
                    select b.study_uid from booking b where b.scheduled_on between :from and :until)
            """;

    /** Whether each study is copied and verified: all of it was collected, and its experiment is safe at the site. */
    private static final String KEPT = """
            kept as (
                select a.study_uid, t.experiment_id,
                       c.files_safe = c.files and c.files >= t.instances_collected as copied,
                       c.entries_safe = c.entries and c.files >= t.instances_collected as verified
                from (select study_uid, sum(instances) as instances, max(last_received_at) as last_at
                      from arrived group by study_uid) a
                join study t using (study_uid)
                join coverage c on c.experiment_id = t.experiment_id and c.site_id = :site
                               and c.since <= :at and c.until > :at
                join manifest m on m.experiment_id = c.experiment_id and m.manifest_no = c.manifest_no
                where t.collected_at between a.last_at and :at and t.instances_collected >= a.instances
                  and m.sealed_at >= t.collected_at
            ),
            """;

    /** The sums of what arrived: of each booking, or of each study without a booking (unplanned). */
    private static final String TOLD = """
            told as (
                select a.booking_id, case when a.booking_id is null then a.study_uid end as unplanned_uid,
                       array_agg(distinct a.study_uid) as studies,
                       count(distinct a.series_uid) as series, sum(a.instances) as instances,
                       min(a.first_received_at) as first_at, max(a.last_received_at) as last_at,
                       min(a.study_day) as day, min(a.study_time) as time, min(a.accession) as accession,
                       min(a.scanner) as scanner, min(a.ae_title) as ae_title, min(a.modality) as modality,
                       min(a.subject) as subject,
                       array_agg(distinct a.subject) filter (where a.subject is not null) as subjects_acquired,
                       bool_or(a.instances < a.instances_expected) as cut_short,
                       bool_or(w.study_uid is not null) as twice,
                       bool_or(a.scanner = bs.scanner) as from_there,
                       -- Only series that name the booking itself: others belong to another visit under its UID.
                       bool_or(a.named_id is not null and a.subject <> b.subject) as of_another,
                       -- Before 6:00, the previous day counts too: a scan may last past midnight.
                       bool_or(b.scheduled_on in (a.study_day, (a.study_day + coalesce(a.study_time, time '12:00')
                                                                 - interval '6 hours')::date)) as on_that_day,
                       bool_and(coalesce(k.copied, false)) as copied,
                       bool_and(coalesce(k.verified, false)) as verified
                from arrived a
                left join booking b on b.booking_id = a.booking_id
                left join stations bs on bs.said = array[null, b.ae_title]
                left join twice w on w.study_uid = a.study_uid
                left join kept k on k.study_uid = a.study_uid
                group by a.booking_id, 2
            ),
            """;

    /** The lines with their gaps: of each booking, and of each unplanned study. */
    private static final String LINES = """
            lines as (
                select b.scheduled_on::text || ' b ' || b.accession as key, b.accession, b.project_id,
                       b.scheduled_on as day, b.scheduled_time as time, st.scanner, b.ae_title, b.modality, b.procedure,
                       b.subject, coalesce(t.subjects_acquired, '{}') as subjects_acquired, b.series_expected,
                       coalesce(t.studies, '{}') as studies, coalesce(t.series, 0) as series,
                       coalesce(t.instances, 0) as instances, t.first_at as arrived_at, t.last_at as last_arrived_at,
                       coalesce(t.copied, false) as copied, coalesce(t.verified, false) as verified,
                       array_remove(array[
                           case when t.booking_id is null and d.due_at < :at then 'NEVER_SCANNED' end,
                           case when t.first_at > d.due_at then 'LATE' end,
                           case when d.due_at < :at and (t.series < b.series_expected or t.cut_short) then 'PARTLY' end,
                           case when cardinality(t.studies) > 1 then 'SPLIT' end,
                           case when t.twice then 'SAME_UID_TWICE' end,
                           case when not t.from_there then 'WRONG_STATION' end,
                           case when t.of_another then 'WRONG_SUBJECT' end,
                           case when not t.on_that_day then 'WRONG_DAY' end], null) as gaps
                from booking b
                cross join lateral (
                    select (b.scheduled_on + coalesce(b.scheduled_time, time '24:00')) at time zone :zone
                           + make_interval(secs => :late) as due_at) d
                join stations st on st.said = array[null, b.ae_title]
                left join told t using (booking_id)
                where b.booked_at <= :at
                union all
                -- Studies from before the first known booking are not called unplanned.
                select coalesce(t.day, date '9999-12-31')::text || ' s ' || t.unplanned_uid, t.accession, null, t.day,
                       t.time, t.scanner, t.ae_title, t.modality, '', t.subject, t.subjects_acquired, null, t.studies,
                       t.series, t.instances, t.first_at, t.last_at, t.copied, t.verified, array['UNPLANNED']
                from told t
                where t.booking_id is null
                  and coalesce(t.day, (t.first_at at time zone :zone)::date)
                      >= (select min(scheduled_on) from booking where booked_at <= :at)
            )
            """;

    private final JdbcClient jdbc;
    private final Lateness lateness;

    /**
     * A filter for lines; null matches any.
     *
     * @param from the first day, planned or, if there is no booking, scanned
     * @param until the last such day
     * @param at the time for which the list is made: bookings known and data arrived by then
     * @param all whether lines without a gap are included, and those of a retired project or scanner
     */
    public record Filter(
            @Nullable LocalDate from,
            @Nullable LocalDate until,
            Instant at,
            @Nullable String project,
            @Nullable GapKind kind,
            boolean all) {

        public Filter {
            if (from != null && until != null && until.isBefore(from)) {
                throw new Refusal("until", "%s is before %s", until, from);
            }
        }
    }

    /**
     * A booking, or a study without a booking, and how the arrival differs from the plan. What is missing is unknown, or has not
     * happened yet.
     *
     * @param key its place in the list
     * @param gaps never-scanned, late, partly, split, same-uid-twice, wrong-station, wrong-subject, wrong-day, unplanned; empty: it
     *     arrived as planned, or is not due yet
     * @param date the booked day; of an unplanned study, the day of the scan
     * @param accession missing: an unplanned study without an accession number
     * @param scanner the booked one; of an unplanned study, the one it was acquired on. If none is known with that title or
     *     StationName, the name itself
     * @param subject the code of the booked subject; of an unplanned study, of the scanned subject
     * @param subjectsAcquired the codes of the subjects in the images
     * @param seriesExpected missing: the booking does not say
     * @param copied whether everything that arrived is in the source of an experiment, and all of that is at the site
     * @param verified whether every entry of that experiment's current manifest, sealed since, has a receipt at the site; false if
     *     unknown
     * @param studies the StudyInstanceUIDs under which it arrived
     * @param experiments that contain it, as project/code
     */
    public record Gap(
            @JsonIgnore String key,
            List<GapKind> gaps,
            @Nullable LocalDate date,
            @Nullable LocalTime time,
            @Nullable String accession,
            @Nullable String project,
            @Nullable String scanner,
            @Nullable String aeTitle,
            @Nullable String modality,
            String procedure,
            @Nullable String subject,
            List<String> subjectsAcquired,
            @Nullable Integer seriesExpected,
            int series,
            long instances,
            @Nullable Instant arrivedAt,
            @Nullable Instant lastArrivedAt,
            boolean copied,
            boolean verified,
            List<String> studies,
            List<String> experiments) {}

    public Gaps(JdbcClient jdbc, Lateness lateness) {
        this.jdbc = jdbc;
        this.lateness = lateness;
    }

    /** Returns at most {@code limit} lines with a key after {@code after} (empty: from the first), by day. */
    public List<Gap> page(Sight sight, Filter wanted, int siteId, String after, int limit) {
        // Without a last day, studies without a day are in the list, too.
        String arrived = ARRIVED.replace("{of days}", wanted.until == null ? "" : OF_DAYS);
        return jdbc.sql(arrived + KEPT + TOLD + LINES + """
                        select l.*, l.day as date, coalesce(p.code, x.projects[1]) as project, x.experiments
                        from lines l
                        left join project p using (project_id)
                        cross join lateral (
                            select coalesce(array_agg(distinct xp.code || '/' || e.code), '{}') as experiments,
                                   array_agg(distinct xp.code) as projects
                            from study t
                            join experiment e using (experiment_id)
                            join project xp on xp.project_id = e.project_id
                            where t.study_uid = any(l.studies)
                              and in_sight(:seen, xp.code)) x
                        where l.key collate "C" > :after
                          and coalesce(l.day, :latest) between :from and :until
                          and (:all or cardinality(l.gaps) > 0
                                       and not exists (select from project r where r.code = coalesce(p.code, x.projects[1])
                                                                               and r.retired_at is not null)
                                       and not exists (select from scanner s where s.code = l.scanner and s.retired_at is not null))
                          and (:kind::text is null or :kind = any(l.gaps))
                          and (:project::text is null or coalesce(p.code, x.projects[1]) = :project)
                          and in_sight(:seen, coalesce(p.code, x.projects[1]))
                        order by l.key collate "C"
                        limit :limit
                        """)
                .params(Rows.params(wanted))
                .param("site", siteId)
                .param("zone", lateness.zone().getId())
                .param("late", lateness.after().toSeconds())
                .param("seen", sight.seen())
                .param("after", after)
                .param("latest", Booking.LATEST)
                .param("from", wanted.from == null ? Booking.EARLIEST : wanted.from)
                .param("until", wanted.until == null ? Booking.LATEST : wanted.until)
                .param("limit", limit)
                .query(Rows.of(Gap.class))
                .list();
    }

    /** Returns whether a visible booking was known at a moment. */
    public boolean areBooked(Sight sight, Instant at) {
        return jdbc.sql("""
                        select exists (select from booking b left join project p using (project_id)
                                       where b.booked_at <= :at and in_sight(:seen, p.code))
                        """)
                .param("at", Timestamp.from(at))
                .param("seen", sight.seen())
                .query(Boolean.class)
                .single();
    }
}
