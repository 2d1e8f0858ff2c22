package dozo.people;

import dozo.file.Digest;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.registry.Refusal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** Searches of lists that users keep under names. Each sees only their own; an address works for everybody. */
@Component
public class Searches {

    /** The lists that can be searched; their pages have these names. */
    private static final List<String> LISTS = List.of("experiments", "findings", "gaps");

    /** NB: what an address cannot have in a segment cannot be in a name. */
    private static final Pattern NAME = Pattern.compile("[\\p{L}\\p{N}][\\p{L}\\p{M}\\p{N} ._:-]{0,49}");

    /** As browsers send it: visible ASCII without quotes, angle brackets, backslashes and #. */
    private static final Pattern QUERY = Pattern.compile("[!$-;=?-\\[\\]-~]{1,2000}");

    private static final int OF_USER_MAX = 100;

    private final JdbcClient jdbc;
    private final Ledger ledger;

    /**
     * A search that a user keeps.
     *
     * @param list experiments, findings or gaps
     * @param query what follows the question mark in the address of the list's page
     */
    public record Search(String list, String name, String query) {}

    public Searches(JdbcClient jdbc, Ledger ledger) {
        this.jdbc = jdbc;
        this.ledger = ledger;
    }

    /**
     * Returns a user's searches by list and name.
     *
     * @param list only of this list; null: of all
     */
    public List<Search> of(String user, @Nullable String list) {
        return jdbc.sql("""
                        select s.list, s.name, s.query from saved_search s join dozo_user u using (user_id)
                        where u.name = :user and (:list::text is null or s.list = :list)
                        order by s.list, s.name
                        """)
                .param("user", user)
                .param("list", list)
                .query(Rows.of(Search.class))
                .list();
    }

    /**
     * Keeps a search. One with the same name is replaced.
     *
     * @throws Refusal if the list cannot be searched, the name or the query is none, or there are too many
     */
    @Transactional
    public Search keep(String user, String list, String typed, String query) {
        String name = typed.strip();
        if (!LISTS.contains(list)) {
            throw new Refusal("list", "\"%s\": expected one of %s", list, String.join(", ", LISTS));
        }
        if (!NAME.matcher(name).matches()) {
            throw new Refusal(
                    "name",
                    "expected a name of 1 to 50 letters, digits, spaces, . _ : and -, starting with a letter or digit");
        }
        if (!QUERY.matcher(query).matches()) {
            throw new Refusal("query", "expected what follows the question mark in the address of a search");
        }
        List<Search> kept = of(user, null);
        Search wanted = new Search(list, name, query);
        if (kept.contains(wanted)) {
            return wanted;
        }
        boolean more = kept.stream().noneMatch(each -> each.list.equals(list) && each.name.equals(name));
        if (more && kept.size() >= OF_USER_MAX) {
            throw Refusal.conflict("name", "you keep %d searches already; remove one first", OF_USER_MAX);
        }
        jdbc.sql("""
                        insert into saved_search (user_id, list, name, query)
                        select user_id, :list, :name, :query from dozo_user where name = :user
                        on conflict (user_id, list, name) do update set query = excluded.query
                        """).params(Rows.params(wanted)).param("user", user).update();
        append(user, "search.kept", wanted);
        return wanted;
    }

    /** Removes a search. Returns it as it was; empty: the user has none with this name. */
    @Transactional
    public Optional<Search> remove(String user, String list, String name) {
        Optional<Search> found =
                of(user, list).stream().filter(each -> each.name().equals(name)).findFirst();
        found.ifPresent(search -> {
            jdbc.sql("""
                            delete from saved_search s using dozo_user u
                            where u.user_id = s.user_id and u.name = :user and s.list = :list and s.name = :name
                            """)
                    .params(Map.of("user", user, "list", list, "name", name))
                    .update();
            append(user, "search.removed", search);
        });
        return found;
    }

    /** The name may be one of a person, so the ledger gets only its digest. */
    private void append(String user, String action, Search search) {
        ledger.append(user, action, user, Map.of("list", search.list, "name_sha256", Digest.ofText(search.name)));
    }
}
