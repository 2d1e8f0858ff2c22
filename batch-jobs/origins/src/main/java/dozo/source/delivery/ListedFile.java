package dozo.source.delivery;

/** A file that an origin lists. */
public interface ListedFile {

    /** What it is known by in the origin; without white space or slashes. */
    String id();

    /** Differs when the origin has other bytes for it; without white space or slashes. */
    String mark();

    /** The file, for a list of what is missing. */
    Item item(DeliveryException why);
}
