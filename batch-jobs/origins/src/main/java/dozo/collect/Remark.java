package dozo.collect;

import dozo.source.delivery.Item;
import java.util.List;

/**
 * A word about something in an origin: that it is missing here and why, or something else that is worth it.
 *
 * @param name for people, without control characters; no subject's name
 * @param id the thing's in the origin
 * @param reason a word in capitals, as {@code DENIED}
 * @param message says more, and nothing secret
 */
public record Remark(String name, String id, String reason, String message) {

    static List<Remark> of(List<Item> items) {
        return items.stream()
                .map(item -> new Remark(item.name(), item.id(), item.trouble().name(), item.message()))
                .toList();
    }
}
