package dozo.send;

import java.io.IOException;
import java.nio.ByteBuffer;

/** An open file of a source: on this machine, or at another site. One thread at a time uses it. */
interface OpenSource extends AutoCloseable {

    /** Returns whether the file may contain holes. */
    boolean isSparse();

    /** Fills the buffer, which reaches at most to the file's size, from this offset on, as far as the file reaches. */
    void read(ByteBuffer into, long offset) throws IOException, SourceProblem;

    /**
     * Returns whether the file has not changed since it was opened.
     *
     * @throws SourceProblem if it has content beyond its size
     */
    boolean isUnchanged() throws IOException, SourceProblem;

    @Override
    void close();
}
