package dozo.worklist;

import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * The DICOM studies that arrived, by their StudyInstanceUIDs, as a DICOM source reports them series by series. A
 * subject is known only by its pseudonymous code; the database refuses anything else.
 */
@Component
public class Studies {

    private static final Pattern UID = Pattern.compile("[!-~]{1,64}");

    private final JdbcClient jdbc;

    /**
     * How much of a series is there, and what its images say. Null: they do not say.
     *
     * @param studyUid as in the images, legal or not: 1 to 64 visible ASCII characters
     * @param stationName StationName, and {@code aeTitle} the title of the application entity that sent it
     * @param day StudyDate, and {@code time} StudyTime, in the scanner's local time
     * @param subject a code made by {@link dozo.source.dicom.PseudonymousCode}
     * @param instances how many are there now
     * @param instancesExpected how many there should be, if known
     * @param firstAt when the first instance was received; {@code lastAt} the last
     */
    public record ReceivedSeries(
            String studyUid,
            String seriesUid,
            @Nullable String accession,
            @Nullable String subject,
            @Nullable LocalDate day,
            @Nullable LocalTime time,
            @Nullable String stationName,
            @Nullable String aeTitle,
            @Nullable String modality,
            int instances,
            @Nullable Integer instancesExpected,
            Instant firstAt,
            Instant lastAt) {

        public ReceivedSeries {
            checkUid("studyInstanceUid", studyUid);
            checkUid("seriesInstanceUid", seriesUid);
            accession = known(accession, 64);
            stationName = known(stationName, 64);
            aeTitle = known(aeTitle, 16);
            modality = known(modality, 16);
        }
    }

    /**
     * A study.
     *
     * @param experimentId the experiment whose source contains it; null, like {@code collectedAt}, if there is none yet
     * @param collectedAt since when {@code instancesCollected} are there
     * @param series how many have arrived, with {@code instances} in total
     * @param firstAt when the first instance was received; {@code lastAt} the last
     */
    public record Study(
            String uid,
            @Nullable Integer experimentId,
            @Nullable Instant collectedAt,
            @Nullable Integer instancesCollected,
            int series,
            int instances,
            Instant firstAt,
            Instant lastAt) {}

    /**
     * The progress of a study at a site. Unknown counts as false.
     *
     * @param experiment whose source contains it, as project/code; null if there is none
     * @param files of that experiment's current manifest at the site, {@code filesSafe} of them with receipts; null if
     * no manifest was sealed since the whole study is there
     * @param copied whether every one of these files has a receipt
     * @param verified whether every entry of that manifest has one
     * @param verifiedAt since when this is known; null if it is not
     */
    public record Kept(
            Study study,
            @Nullable String experiment,
            @Nullable Long files,
            @Nullable Long filesSafe,
            boolean copied,
            boolean verified,
            @Nullable Instant verifiedAt) {}

    public Studies(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Records what is there of a series. Repeating it changes nothing. If instances disappear where they were received,
     * what was known stays.
     */
    @Transactional
    public void received(ReceivedSeries series) {
        jdbc.sql("insert into study (study_uid) values (:study) on conflict do nothing")
                .param("study", series.studyUid)
                .update();
        jdbc.sql("""
                        insert into study_series as known (study_uid, series_uid, accession, subject, study_day, study_time,
                                                           station_name, ae_title, modality, instances, instances_expected,
                                                           first_received_at, last_received_at)
                        values (:studyUid, :seriesUid, :accession, :subject, :day, :time, :stationName, :aeTitle, :modality,
                                :instances, :instancesExpected, :firstAt, :lastAt)
                        on conflict (study_uid, series_uid, accession, subject, study_day) do update
                            set instances = greatest(known.instances, excluded.instances),
                                instances_expected = coalesce(excluded.instances_expected, known.instances_expected),
                                study_time = coalesce(known.study_time, excluded.study_time),
                                station_name = coalesce(known.station_name, excluded.station_name),
                                ae_title = coalesce(known.ae_title, excluded.ae_title),
                                modality = coalesce(known.modality, excluded.modality),
                                first_received_at = least(known.first_received_at, excluded.first_received_at),
                                last_received_at = greatest(known.last_received_at, excluded.last_received_at)
                        """).params(Rows.params(series)).update();
    }

    /**
     * Records that everything that had arrived of a study is in the source of an experiment.
     *
     * @param instances how many of the study's instances are there
     * @param at when the last of them was: only a manifest sealed later can contain them all
     * @throws Refusal if nothing of the study is known to have arrived
     */
    @Transactional
    public void collected(String uid, int experimentId, int instances, Instant at) {
        int noted = jdbc.sql("""
                        update study set experiment_id = :experiment, instances_collected = :instances, collected_at = :at
                        where study_uid = :uid
                        """)
                .param("experiment", experimentId)
                .param("instances", instances)
                .param("at", Timestamp.from(at))
                .param("uid", uid)
                .update();
        if (noted == 0) {
            throw new Refusal("studyInstanceUid", "no data of study %s has arrived", uid);
        }
    }

    /** Returns what arrived under this StudyInstanceUID. */
    public Optional<Study> find(String uid) {
        return jdbc.sql("""
                        select t.study_uid as uid, t.experiment_id, t.collected_at, t.instances_collected,
                               count(distinct s.series_uid) as series, sum(s.instances) as instances,
                               min(s.first_received_at) as first_at, max(s.last_received_at) as last_at
                        from study t join study_series s using (study_uid)
                        where t.study_uid = :uid
                        group by t.study_uid
                        """).param("uid", uid).query(Rows.of(Study.class)).optional();
    }

    /**
     * Returns the progress of a study at a site.
     *
     * @param sight unless it includes everything, only studies in an experiment of a project in sight are returned
     */
    public Optional<Kept> kept(Sight sight, String uid, int siteId) {
        return find(uid)
                .flatMap(study -> jdbc.sql("""
                                select p.code || '/' || e.code as experiment, k.files, k.files_safe,
                                       coalesce(k.files_safe = k.files and k.files >= t.instances_collected, false) as copied,
                                       coalesce(k.entries_safe = k.entries and k.files >= t.instances_collected, false) as verified,
                                       k.since
                                from study t
                                left join experiment e using (experiment_id)
                                left join project p using (project_id)
                                -- The smaller of two counts of the same manifest: in protection, and in the current period of coverage.
                                left join lateral (
                                    select n.files, least(n.files_safe, c.files_safe) as files_safe,
                                           n.entries, least(n.entries_safe, c.entries_safe) as entries_safe, c.since
                                    from protection n
                                    join coverage c using (experiment_id, site_id, manifest_no)
                                    join manifest m using (experiment_id, manifest_no)
                                    where n.experiment_id = t.experiment_id and n.site_id = :site and c.until = 'infinity'
                                      and m.sealed_at >= t.collected_at
                                      and t.collected_at >= :last and t.instances_collected >= :instances
                                      and not exists (select from manifest l
                                                      where l.experiment_id = m.experiment_id and l.manifest_no > m.manifest_no)) k
                                    on true
                                where t.study_uid = :uid
                                  and in_sight(:seen, p.code)
                                """)
                        .param("seen", sight.seen())
                        .param("site", siteId)
                        .param("last", Timestamp.from(study.lastAt))
                        .param("instances", study.instances)
                        .param("uid", uid)
                        .query((row, n) -> new Kept(
                                study,
                                row.getString("experiment"),
                                row.getObject("files", Long.class),
                                row.getObject("files_safe", Long.class),
                                row.getBoolean("copied"),
                                row.getBoolean("verified"),
                                row.getBoolean("verified") ? Rows.instant(row, "since") : null))
                        .optional());
    }

    private static void checkUid(String field, String uid) {
        if (!UID.matcher(uid).matches()) {
            throw new Refusal(field, "expected a UID of 1 to 64 visible ASCII characters");
        }
    }

    /** NB: cut off, not refused: an overlong value from a scanner must not prevent an image from being recorded. */
    private static @Nullable String known(@Nullable String said, int lengthMax) {
        String text = said == null ? "" : said.strip();
        return text.isEmpty() ? null : text.substring(0, Math.min(text.length(), lengthMax));
    }
}
