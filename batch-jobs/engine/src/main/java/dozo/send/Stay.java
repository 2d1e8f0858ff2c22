package dozo.send;

/** Being at something, counted until it is closed. */
public interface Stay extends AutoCloseable {

    @Override
    void close();
}
