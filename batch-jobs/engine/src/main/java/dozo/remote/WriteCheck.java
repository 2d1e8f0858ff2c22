package dozo.remote;

import java.io.IOException;

/**
 * Is asked before each packet to a site whether this process may still send anything there. A site cannot know that
 * another process has taken over (ADR 0081).
 */
@FunctionalInterface
public interface WriteCheck {

    WriteCheck NONE = () -> {};

    /** Fails if nothing more may be sent; the connection is closed then. Must return at once. */
    void check() throws IOException;
}
