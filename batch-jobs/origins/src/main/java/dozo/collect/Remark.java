package dozo.collect;

import dozo.source.delivery.Item;
import java.util.List;

/**
 * A remark on an object in an origin: that it is missing here and why, or anything else worth noting.
 *
 * @param name for people, without control characters; no subject's name
 * @param id the object's id in the origin
 * @param reason a code in capital letters, such as {@code DENIED}
 * @param message details; contains nothing secret
 */
public record Remark(String name, String id, String reason, String message) {

    static List<Remark> of(List<Item> items) {
        return items.stream()
                .map(item -> new Remark(item.name(), item.id(), item.trouble().name(), item.message()))
                .toList();
    }
}
