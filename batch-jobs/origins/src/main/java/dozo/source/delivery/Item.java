package dozo.source.delivery;

/**
 * Something that is missing, or needs a remark.
 *
 * @param name for people, without control characters; nothing of a patient
 * @param id what it is known by in the origin; nothing of a patient
 */
public record Item(String name, String id, Trouble trouble, String message) {

    public static Item of(String name, String id, DeliveryException why) {
        return new Item(name, id, why.trouble(), String.valueOf(why.getMessage()));
    }
}
