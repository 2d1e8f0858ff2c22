package dozo.source.delivery;

/**
 * A missing item, or one that needs a remark.
 *
 * @param name for people, without control characters; nothing about a patient
 * @param id the origin's id; nothing about a patient
 */
public record Item(String name, String id, Trouble trouble, String message) {

    public static Item of(String name, String id, DeliveryException why) {
        return new Item(name, id, why.trouble(), why.message());
    }
}
