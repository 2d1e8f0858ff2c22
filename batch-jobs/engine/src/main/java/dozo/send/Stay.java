package dozo.send;

/** An activity that is counted until it is closed. */
public interface Stay extends AutoCloseable {

    @Override
    void close();
}
