package dozo.command;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A REST address with parameters. */
final class Query {

    private final StringBuilder address;
    private char next = '?';

    Query(String path) {
        this.address = new StringBuilder(path);
    }

    /** Adds a parameter, unless it is null; of several values, each. */
    Query with(String name, @Nullable Object value) {
        if (value instanceof List<?> several) {
            several.forEach(each -> with(name, each));
        } else if (value != null) {
            address.append(next).append(name).append('=').append(Connection.encoded(value.toString()));
            next = '&';
        }
        return this;
    }

    @Override
    public String toString() {
        return address.toString();
    }
}
