package dozo.source.http;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.Header;
import org.jspecify.annotations.Nullable;

/** What a server answered. The status and the headers can still be asked for when the body has been read. */
public final class Answer {

    private final HttpUriRequestBase request;
    private final ClassicHttpResponse response;
    private final Duration stall;
    private final ScheduledExecutorService watch;
    private @Nullable Body body;

    Answer(HttpUriRequestBase request, ClassicHttpResponse response, Duration stall, ScheduledExecutorService watch) {
        this.request = request;
        this.response = response;
        this.stall = stall;
        this.watch = watch;
    }

    public int status() {
        return response.getCode();
    }

    /** The first header of this name. */
    public Optional<String> header(String name) {
        return Optional.ofNullable(response.getFirstHeader(name)).map(Header::getValue);
    }

    /**
     * The body, once; its reads throw an {@link HttpFailure} when it stops, ends too early, or is longer than this.
     *
     * @param bytesMax what is taken of it
     */
    public InputStream body(long bytesMax) throws IOException {
        InputStream in = response.getEntity() == null
                ? InputStream.nullInputStream()
                : response.getEntity().getContent();
        body = new Body(in, bytesMax, stall, watch, request::cancel);
        return body;
    }

    /** What was wanted has been read: the next request goes over the same connection if there is little behind it. */
    void finish() throws IOException {
        if (body != null) {
            body.finish();
        }
    }
}
