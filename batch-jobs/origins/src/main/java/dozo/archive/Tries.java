package dozo.archive;

import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Patience;
import dozo.source.delivery.Trouble;
import java.io.IOException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Steps of a restore, of which one that fails does not prevent the others. Safe for use by several threads. */
final class Tries {

    /** Troubles that all other requests would have, too. */
    private static final Set<Trouble> ENDS_ALL = Set.of(Trouble.KEY_REFUSED, Trouble.DENIED, Trouble.REDIRECTED);

    private final Patience patience = new Patience();

    interface Step {
        void run() throws IOException, InterruptedException;
    }

    /**
     * Returns why a step failed; null if it did not.
     *
     * @throws DeliveryException if the others would fail, too
     */
    @Nullable
    String failure(boolean endsAll, Step step) throws IOException, InterruptedException {
        try {
            boolean _ = patience.ask(() -> {
                step.run();
                return true;
            });
            return null;
        } catch (NotRestored e) {
            return String.valueOf(e.getMessage());
        } catch (DeliveryException e) {
            if (endsAll || ENDS_ALL.contains(e.trouble()) || patience.isOver()) {
                throw e;
            }
            return String.valueOf(e.getMessage());
        }
    }
}
