package dozo.source.flywheel;

import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Trouble;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reads Flywheel's lists page by page. Each page starts after the last id of the page before, so additions and
 * deletions meanwhile shift nothing.
 */
final class Lists {

    /** The page size of Flywheel's own client. */
    private static final int PAGE = 250;

    private static final int PAGES_MAX = 1_000_000;

    private final Flywheel flywheel;

    /** Receives an entry of a list. */
    @FunctionalInterface
    interface Taker {
        void take(JsonNode entry) throws IOException, InterruptedException;
    }

    Lists(Flywheel flywheel) {
        this.flywheel = flywheel;
    }

    /**
     * Passes on every entry. The list ends with an empty page: a short one may be due to the server's own limit.
     *
     * @param filter in Flywheel's syntax, or null
     */
    void all(String path, @Nullable String filter, Taker taker) throws IOException, InterruptedException {
        String query = "?limit=" + PAGE + (filter == null ? "" : "&filter=" + Flywheel.segment(filter));
        String idField = path.equals("/files") ? "file_id" : "_id";
        String last = null;
        for (int page = 0; page < PAGES_MAX; page++) {
            String asked = path + query + (last == null ? "" : "&after_id=" + Flywheel.segment(last));
            List<JsonNode> entries = Answers.entries(path, flywheel.get(asked));
            if (entries.isEmpty()) {
                return;
            }
            for (JsonNode entry : entries) {
                taker.take(entry);
            }
            String before = last;
            last = Answers.id(entries.getLast(), idField);
            if (Objects.equals(before, last)) {
                throw new DeliveryException(Trouble.UNPARSED, path + ": the list does not continue after id " + last);
            }
        }
        throw new DeliveryException(Trouble.TOO_LARGE, path + ": the list has too many pages");
    }
}
