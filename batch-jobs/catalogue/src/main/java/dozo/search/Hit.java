package dozo.search;

import dozo.ledger.Worded;
import dozo.people.Permissions;
import dozo.people.Permissions.Endpoint;
import dozo.people.Role;
import dozo.registry.Refusal;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a search found.
 *
 * @param name its name: {@code project/experiment}, a project's code, a path, a finding's reason, or a user's name
 * @param about what else is known of it, for people; empty: nothing
 * @param experiment the experiment that a file or finding belongs to, {@code project/experiment}
 * @param over whether it is not current any more: retired, gone from the source, settled, or disabled
 * @param address the page that shows it, below the service's address
 */
public record Hit(
        Kind kind, String name, String about, @Nullable String experiment, boolean over, String address) {

    /** What is searched. Who may open the page of a kind finds it. */
    public enum Kind implements Worded {
        EXPERIMENT("/experiments/{project}/{code}"),
        PROJECT("/administration/projects/{project}"),
        FILE("/experiments/{project}/{code}/proof"),
        FINDING("/findings"),
        USER("/administration/users/{name}");

        private final String page;

        Kind(String page) {
            this.page = page;
        }

        /**
         * Returns the kind with this word.
         *
         * @throws Refusal if there is none
         */
        public static Kind of(String word) {
            return Worded.of(Kind.class, word)
                    .orElseThrow(() ->
                            new Refusal("kind", "\"%s\": expected experiment, project, file, finding or user", word));
        }

        /** Returns what people with these roles find. */
        public static Set<Kind> of(Collection<Role> roles) {
            return Arrays.stream(values())
                    .filter(kind -> Permissions.allow(roles, new Endpoint("GET", kind.page)))
                    .collect(Collectors.toCollection(() -> EnumSet.noneOf(Kind.class)));
        }
    }
}
