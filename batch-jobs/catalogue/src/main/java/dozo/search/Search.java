package dozo.search;

import dozo.ledger.Sight;
import dozo.people.Role;
import dozo.registry.Code;
import dozo.registry.ExperimentSearch;
import dozo.registry.Refusal;
import dozo.search.Hit.Kind;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Finds what a person remembers a part of. Each word must be found, in any order and in upper or lower case. A person finds
 * what they may see: the results are filtered by their projects and by the pages that their roles may open.
 */
@Component
public class Search {

    /** So many results of one kind come from one experiment if all kinds are searched. */
    private static final int PER_EXPERIMENT = 3;

    /** How long names of files are read for suggestions. */
    private static final Duration QUICKLY = Duration.ofMillis(40);

    /** How long they are read if nothing but files is searched. */
    private static final Duration THOROUGHLY = Duration.ofSeconds(2);

    private final JdbcClient jdbc;
    private final Names names;

    /**
     * The place of a result in the order of its kind, for the next page: written as {@code first.second}. Of a file, the
     * numbers of its experiment and entry, both below zero.
     */
    record Key(long first, long second) {

        static final Key NONE = new Key(-Integer.MAX_VALUE, -Integer.MAX_VALUE);

        int experiment() {
            return (int) -first;
        }

        int entry() {
            return (int) -second;
        }

        static Key of(String text) {
            try {
                int dot = text.indexOf('.');
                return text.isEmpty()
                        ? NONE
                        : new Key(Long.parseLong(text.substring(0, dot)), Long.parseLong(text.substring(dot + 1)));
            } catch (IndexOutOfBoundsException | NumberFormatException e) {
                throw new Refusal("after", "expected the value of next in the previous page");
            }
        }

        @Override
        public String toString() {
            return first + "." + second;
        }
    }

    /** Results of one kind. */
    record Found(List<Hit> hits, @Nullable Key next, boolean partial) {}

    public Search(JdbcClient jdbc, Names names) {
        this.jdbc = jdbc;
        this.names = names;
    }

    /**
     * Searches everything, or one kind.
     *
     * @param text the words
     * @param roles what the person may do
     * @param wanted null: every kind that the person may see
     * @param after the place after which to begin; empty: at the beginning. Only for one kind
     * @param limit the maximum number of results of each kind
     * @throws Refusal if the text is empty, too long or not one line, or the place is malformed
     */
    public SearchResult find(
            String text, Collection<Role> roles, Sight sight, @Nullable Kind wanted, String after, int limit) {
        List<String> words = Folded.words(text);
        if (words.isEmpty() || text.length() > ExperimentSearch.TEXT_LENGTH_MAX || !Code.isText(text)) {
            throw new Refusal("q", "expected one line of 1 to %d characters", ExperimentSearch.TEXT_LENGTH_MAX);
        }
        Set<Kind> kinds = Kind.of(roles);
        if (wanted != null) {
            kinds.retainAll(EnumSet.of(wanted));
        }
        Key begin = wanted == null ? Key.NONE : Key.of(after);
        List<Hit> items = new ArrayList<>();
        List<Kind> more = new ArrayList<>();
        Key next = null;
        boolean partial = false;
        for (Kind kind : kinds) {
            Found found = kind == Kind.FILE
                    ? files(words, sight, wanted != null, limit).find(begin)
                    : listed(kind, words, sight, begin, limit);
            items.addAll(found.hits());
            partial |= found.partial();
            if (found.next() != null) {
                more.add(kind);
                next = found.next();
            }
        }
        return new SearchResult(items, wanted == null || next == null ? null : next.toString(), more, partial);
    }

    private FileSearch files(List<String> words, Sight sight, boolean alone, int limit) {
        return new FileSearch(
                jdbc, names, sight, words, limit, alone ? limit + 1 : PER_EXPERIMENT, alone ? THOROUGHLY : QUICKLY);
    }

    private Found listed(Kind kind, List<String> words, Sight sight, Key after, int limit) {
        StringBuilder each = new StringBuilder();
        for (int i = 0; i < words.size(); i++) {
            each.append(" and (").append(condition(kind).replace(":word", ":word" + i)).append(')');
        }
        var query = jdbc.sql("select * from (" + from(kind) + " where " + seen(kind) + each + """
                        ) found where (first, second) > (:first, :second) order by first, second limit :most
                        """)
                .param("seen", sight.seen())
                .param("text", String.join(" ", words))
                .param("first", after.first())
                .param("second", after.second())
                .param("most", limit + 1);
        for (int i = 0; i < words.size(); i++) {
            query = query.param("word" + i, "%" + words.get(i).replaceAll("[\\\\%_]", "\\\\$0") + "%");
        }
        List<Key> keys = new ArrayList<>();
        List<Hit> hits = query.query((row, n) -> {
                    keys.add(new Key(row.getLong("first"), row.getLong("second")));
                    return hit(kind, row);
                })
                .list();
        return hits.size() > limit
                ? new Found(hits.subList(0, limit), keys.get(limit - 1), false)
                : new Found(hits, null, false);
    }

    private static Hit hit(Kind kind, ResultSet row) throws SQLException {
        return new Hit(
                kind,
                row.getString("name"),
                row.getString("about"),
                kind == Kind.FINDING ? row.getString("experiment") : null,
                row.getBoolean("over"),
                row.getString("address"));
    }

    private static String seen(Kind kind) {
        return kind == Kind.USER ? "true" : "in_sight(:seen, p.code)";
    }

    /** Returns the results of a kind: where they stand, the first ones first, and what is said of them. */
    private static String from(Kind kind) {
        return switch (kind) {
            case EXPERIMENT -> """
                    select case when e.retired_at is not null then 3
                                when :text in (lower(e.code), lower(p.code || '/' || e.code)) then 0
                                when starts_with(lower(e.code), :text) then 1 else 2 end as first,
                           -e.experiment_id::bigint as second, p.code || '/' || e.code as name, e.retired_at is not null as over,
                           concat_ws(' · ', nullif(e.title, ''), e.subject, e.modality, e.scanner, e.acquired_on) as about,
                           '/experiments/' || p.code || '/' || e.code as address
                    from experiment e join project p using (project_id)
                    """;
            case PROJECT -> """
                    select case when p.retired_at is not null then 3 when lower(p.code) = :text then 0
                                when starts_with(lower(p.code), :text) then 1 else 2 end as first,
                           p.project_id::bigint as second, p.code as name, p.title as about, p.retired_at is not null as over,
                           '/administration/projects/' || p.code as address
                    from project p
                    """;
            case FINDING -> """
                    select case when a.finding_id is null and not is_over(e.retired_at, r.kind, s.removed_at) then 0 else 1 end as first,
                           -f.finding_id as second, f.reason as name, f.message as about, p.code || '/' || e.code as experiment,
                           a.finding_id is not null or is_over(e.retired_at, r.kind, s.removed_at) as over,
                           '/findings?all=true&reason=' || f.reason || coalesce('&experiment=' || p.code || '/' || e.code, '')
                               as address
                    from (select * from finding where superseded_by is null order by finding_id desc limit 2000) f
                    join run r using (run_id) join site s on s.site_id = r.site_id
                    left join experiment e using (experiment_id) left join project p using (project_id)
                    left join acknowledgement a using (finding_id)
                    """;
            case USER -> """
                    select case when u.disabled or u.gone then 2 when u.name = :text then 0 else 1 end as first,
                           u.user_id::bigint as second, u.name, u.disabled or u.gone as over,
                           coalesce((select string_agg(role, ', ' order by role) from user_role o where o.user_id = u.user_id), '')
                               as about,
                           '/administration/users/' || u.name as address
                    from dozo_user u
                    """;
            case FILE -> throw new IllegalArgumentException("files are not listed");
        };
    }

    /** Returns the condition that a word is found. */
    private static String condition(Kind kind) {
        return switch (kind) {
            case EXPERIMENT ->
                "lower(p.code) || '/' || e.words like :word or e.experiment_id in"
                        + " (select experiment_id from experiment_label where lower(label) like :word)";
            case PROJECT -> "lower(normalize(p.code || ' ' || p.title, nfkc)) like :word";
            case FINDING ->
                "lower(f.reason || ' ' || coalesce(p.code || '/' || e.code, '') || ' ' || f.message) like :word";
            case USER -> "lower(u.name) like :word";
            case FILE -> throw new IllegalArgumentException("files are not listed");
        };
    }
}
