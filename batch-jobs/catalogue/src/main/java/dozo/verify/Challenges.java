package dozo.verify;

import dozo.file.Digest;
import dozo.ledger.Rows;
import dozo.remote.Challenge;
import dozo.send.SiteCopy;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Random ranges of what is stored at a site, and the evidence of whether the site had their bytes (ADR 0114).
 *
 * <p>Ranges are drawn by bytes: each stored byte is as likely as any other, however large its file is. If a fraction {@code f} of the
 * bytes is gone, {@code c} draws miss all of it with a chance of {@code (1 − f)^c}, whatever the total is. For {@code f = 1 %}, that is
 * at most 1 in 1,000 from {@code c = 688} on: {@code ln 0.001 / ln 0.99 = 687.3}.
 */
@Component
public class Challenges {

    /** How often positions are drawn anew that were in copies which are known to be damaged. */
    private static final int ROUNDS_MAX = 8;

    private final JdbcTemplate template;
    private final JdbcClient jdbc;

    /**
     * A range of a stored file that was drawn.
     *
     * @param at its first byte
     */
    public record Draw(int experimentId, long receiptId, int entryNo, long sizeBytes, long at) {

        private Draw begin() {
            return new Draw(experimentId, receiptId, entryNo, sizeBytes, Challenge.first(sizeBytes, at));
        }
    }

    /** Whose bytes an answer is compared with. */
    public enum Witness {
        /** The source's, which have not changed since they were sent. */
        HOME,
        /** Those of another site, which answered the same challenge. */
        SITE,
        /** Those of the same copy, fetched whole: they have the digest in its receipt. */
        FETCHED
    }

    /** The right answer, and by whose bytes. */
    public record Right(Digest answer, Witness witness) {}

    /**
     * A challenge that was asked.
     *
     * @param answer the site's; null: none came in time
     * @param right null: nobody could compute it
     */
    public record Asked(
            Draw draw,
            SiteCopy copy,
            Challenge challenge,
            Instant at,
            String method,
            @Nullable Digest answer,
            @Nullable Right right) {

        /** Returns whether the site does not have the bytes. No answer is not a wrong one. */
        public boolean isWrong() {
            return answer != null && right != null && !answer.equals(right.answer);
        }

        /** Returns whether it is unknown if the site has the bytes. */
        public boolean isUnknown() {
            return answer == null || right == null;
        }
    }

    /** How many challenges a run asked, and what came of them. */
    public record Sums(long held, long wrong, long unknown) {}

    public Challenges(JdbcTemplate template) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
    }

    /**
     * Draws ranges of the copies at a site, in random order. A range that is drawn twice is there once, and fewer are there if little
     * is stored.
     */
    public List<Draw> draw(int siteId, int count, RandomGenerator random) {
        Set<Draw> draws = new LinkedHashSet<>();
        int left = count;
        for (int round = 0; round < ROUNDS_MAX && left > 0; round++) {
            List<Draw> found = at(siteId, positions(bytes(siteId), left, random));
            found.forEach(draw -> draws.add(draw.begin()));
            left -= found.size();
        }
        List<Draw> shuffled = new ArrayList<>(draws);
        Collections.shuffle(shuffled, Random.from(random));
        return shuffled;
    }

    /** Returns so many bytes of a total, each as likely as any other. */
    static long[] positions(long total, int count, RandomGenerator random) {
        return total == 0 ? new long[0] : random.longs(count, 0, total).toArray();
    }

    private long bytes(int siteId) {
        return jdbc.sql("select coalesce(sum(bytes), 0) from stored where site_id = :site")
                .param("site", siteId)
                .query(Long.class)
                .single();
    }

    /** Returns the files at these positions in the sequence of all stored bytes, as far as their copies are not damaged. */
    private List<Draw> at(int siteId, long[] positions) {
        return jdbc.sql("""
                        with pile as (
                            select array_agg(receipt_id order by receipt_id) as receipts, array_agg(upto order by receipt_id) as upto
                            from (select receipt_id, (sum(bytes) over (order by receipt_id))::bigint as upto
                                  from stored where site_id = :site and bytes > 0) s
                        ), drawn as (
                            select receipts[before + 1] as receipt_id, position - coalesce(upto[before], 0) as at
                            from pile
                            cross join unnest(:positions::bigint[]) p (position)
                            cross join lateral (select width_bucket(position, upto) as before) b
                        ), file as (
                            select r.receipt_id, r.experiment_id, e.entry_no, e.size_bytes,
                                   sum(e.size_bytes) over (partition by r.receipt_id order by e.entry_no) - e.size_bytes as begins
                            from (select distinct receipt_id from drawn) d
                            join proven_entry r using (receipt_id)
                            join entry_version e on e.experiment_id = r.experiment_id and e.entry_no = r.entry_no
                            where e.kind = 'f'
                        )
                        select experiment_id, receipt_id, entry_no, size_bytes, (at - begins)::bigint as at
                        from drawn join file using (receipt_id)
                        where at >= begins and at < begins + size_bytes
                        """)
                .param("site", siteId)
                .param("positions", positions)
                .query(Rows.of(Draw.class))
                .list();
    }

    /** Stores the evidence of what was asked. */
    public void add(long runId, int siteId, List<Asked> asked) {
        template.batchUpdate("""
                insert into challenge (experiment_id, site_id, entry_no, receipt_id, run_id, asked_at, offset_bytes, length_bytes, salt,
                                       method, answer, right_answer, compared_with)
                values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, asked, Math.max(1, asked.size()), (statement, one) -> {
            Right right = one.right;
            statement.setInt(1, one.draw.experimentId());
            statement.setInt(2, siteId);
            statement.setInt(3, one.draw.entryNo());
            statement.setLong(4, one.draw.receiptId());
            statement.setLong(5, runId);
            statement.setTimestamp(6, Timestamp.from(one.at));
            statement.setLong(7, one.challenge.offset());
            statement.setLong(8, one.challenge.length());
            statement.setBytes(9, HexFormat.of().parseHex(one.challenge.salt()));
            statement.setString(10, one.method);
            statement.setBytes(11, one.answer == null ? null : one.answer.bytes());
            statement.setBytes(12, right == null ? null : right.answer.bytes());
            statement.setString(13, right == null ? null : right.witness.name());
        });
    }

    /** Returns what came of the challenges of a run. */
    public Sums sums(long runId) {
        return jdbc.sql("""
                        select count(*) filter (where result = 'HELD') as held, count(*) filter (where result = 'WRONG') as wrong,
                               count(*) filter (where result = 'UNKNOWN') as unknown
                        from challenge where run_id = :run
                        """).param("run", runId).query(Rows.of(Sums.class)).single();
    }
}
