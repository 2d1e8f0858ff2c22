package dozo.source.delivery;

import java.io.IOException;

/** What is an origin's own about bringing files. */
public interface Fetching<W extends ListedFile> {

    /**
     * Brings a file's bytes and checks them. Safe for several threads.
     *
     * @param part its temporary name, which nothing else uses at the same time
     * @return what gives it its final name, called by one thread at a time
     * @throws DeliveryException when it does not come, or not as it is listed
     */
    Arrived fetch(W wanted, Part part) throws IOException, InterruptedException;

    /** Whether nothing else can be had either. */
    boolean endsAll(Trouble trouble);

    /** A file that has arrived under its temporary name. */
    @FunctionalInterface
    interface Arrived {
        Delivered.Entry name() throws IOException;
    }
}
