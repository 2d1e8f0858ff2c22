package dozo.search;

import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.people.Role;
import dozo.registry.Code;
import dozo.registry.ExperimentSearch;
import dozo.registry.Refusal;
import dozo.search.Hit.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
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

    /** So many findings in sight are searched, the latest, if all kinds are. */
    private static final int FINDINGS_MAX = 2_000;

    /** How long names of files are read for suggestions. */
    private static final Duration QUICKLY = Duration.ofMillis(30);

    /** How long they are read if nothing but files is searched. */
    private static final Duration THOROUGHLY = Duration.ofSeconds(2);

    /**
     * The first part of a result's place. The query filters by words before it computes this, and keeps few columns until it
     * knows which results it returns: a word of one letter can match all 20,000 experiments.
     */
    private static final String FIRST =
            "case when over then 3 when :text in (code, lower(name)) then 0 when starts_with(code, :text) then 1 else 2 end";

    private static final RowMapper<Hit> HIT = Rows.of(Hit.class);

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
        boolean valid = text.length() <= ExperimentSearch.TEXT_LENGTH_MAX && Code.isText(text);
        List<String> words = valid ? Folded.words(text) : List.of();
        if (words.isEmpty()) {
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
                    : listed(kind, words, sight, wanted != null, begin, limit);
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

    /** Finds what the view {@code findable} has: what is called like the whole text first, what is over last. */
    private Found listed(Kind kind, List<String> words, Sight sight, boolean alone, Key after, int limit) {
        long earlier = kind == Kind.FINDING && !alone ? earlierFinding(sight) : 0;
        List<Key> keys = new ArrayList<>();
        List<Hit> hits = jdbc.sql("""
                        with found as materialized (
                            select id, code, name, over from findable
                            where kind = :kind and id > :earlier and in_sight(:seen, project) and words like all (:patterns)),
                        returned as (
                            select id from found where ({first}, -id) > (:first, :second) order by {first}, -id limit :most)
                        select *, {first} as first, -id as second from findable
                        where kind = :kind and id = any(array(select id from returned)) order by first, second
                        """.replace("{first}", FIRST))
                .params(Rows.params(after))
                .params(Map.of("kind", kind.name(), "seen", sight.seen(), "text", String.join(" ", words)))
                .param("patterns", words.stream().map(Search::pattern).toArray(String[]::new))
                .params(Map.of("earlier", earlier, "most", limit + 1))
                .query((row, n) -> {
                    keys.add(new Key(row.getLong("first"), row.getLong("second")));
                    return HIT.mapRow(row, n);
                })
                .list();
        if (hits.size() > limit) {
            return new Found(hits.subList(0, limit), keys.get(limit - 1), earlier > 0);
        }
        return new Found(hits, earlier > 0 ? after : null, earlier > 0);
    }

    /** Returns the latest finding in sight that is not searched with all kinds; 0: there is none. */
    private long earlierFinding(Sight sight) {
        return jdbc.sql("""
                        select finding_id from finding where superseded_by is null and %s
                        order by finding_id desc offset :most limit 1
                        """.formatted(FileSearch.OF_SEEN))
                .params(Map.of("seen", sight.seen(), "most", FINDINGS_MAX))
                .query(Long.class)
                .optional()
                .orElse(0L);
    }

    private static String pattern(String word) {
        return "%" + word.replaceAll("[\\\\%_]", "\\\\$0") + "%";
    }
}
