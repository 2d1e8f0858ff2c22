package dozo.ledger;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;

/** An enum whose values are written as words: in REST, in addresses, on the command line and in the database. */
public interface Worded {

    /** The name of the enum's constant. */
    String name();

    /** Returns the word: the name in lower case, with hyphens. */
    @JsonValue
    default String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns the value with this word; empty: there is none. */
    static <E extends Enum<E> & Worded> Optional<E> of(Class<E> type, String word) {
        return EnumSet.allOf(type).stream()
                .filter(each -> each.word().equals(word))
                .findFirst();
    }
}
