package dozo.source.delivery;

/** A file that an origin lists. */
public interface ListedFile {

    /** Returns the origin's id, without white space or slashes. */
    String id();

    /** Returns a mark that changes when the origin has other bytes for the file; without white space or slashes. */
    String mark();

    /** Returns the file as an item for the list of missing files. */
    Item item(DeliveryException why);
}
