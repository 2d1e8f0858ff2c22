package dozo.source.delivery;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.Header;
import org.jspecify.annotations.Nullable;

/** A server's answer. Status and headers remain available after the body has been read. */
public final class Answer {

    private final String what;
    private final HttpUriRequestBase request;
    private final ClassicHttpResponse response;
    private final Duration stall;
    private final ScheduledExecutorService watch;
    private @Nullable Body body;

    Answer(
            String what,
            HttpUriRequestBase request,
            ClassicHttpResponse response,
            Duration stall,
            ScheduledExecutorService watch) {
        this.what = what;
        this.request = request;
        this.response = response;
        this.stall = stall;
        this.watch = watch;
    }

    public int status() {
        return response.getCode();
    }

    /** Returns the first header of this name. */
    public Optional<String> header(String name) {
        return Optional.ofNullable(response.getFirstHeader(name)).map(Header::getValue);
    }

    /**
     * Returns the body; to be called once. Its reads throw a {@link DeliveryException} if it stalls, ends too early, or
     * is longer than the limit.
     *
     * @param bytesMax the longest body that is read
     */
    public InputStream body(long bytesMax) throws IOException {
        InputStream in = response.getEntity() == null
                ? InputStream.nullInputStream()
                : response.getEntity().getContent();
        body = new Body(what, in, bytesMax, stall, watch, request::cancel);
        return body;
    }

    /** Ends the use of the answer; the connection is reused if little of the body is left. */
    void finish() throws IOException {
        if (body != null) {
            body.finish();
        }
    }
}
