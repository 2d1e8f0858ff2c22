package dozo.source.delivery;

import java.io.IOException;

/** The part of a delivery that differs between origins. */
@FunctionalInterface
public interface Fetching<W extends ListedFile> {

    /**
     * Downloads a file's bytes and checks them. Safe for use by several threads.
     *
     * @param part the temporary file; nothing else uses it at the same time
     * @return gives the file its final name; called by one thread at a time
     * @throws DeliveryException if the file cannot be fetched, or differs from what is listed
     */
    Arrived fetch(W wanted, Part part) throws IOException, InterruptedException;

    /** A file that has arrived under its temporary name. */
    @FunctionalInterface
    interface Arrived {
        Delivered.Entry name() throws IOException;
    }
}
