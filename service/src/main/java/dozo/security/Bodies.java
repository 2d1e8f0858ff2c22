package dozo.security;

import jakarta.servlet.ServletException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;
import org.apache.coyote.ActionCode;
import org.apache.coyote.InputBuffer;
import org.apache.tomcat.util.net.ApplicationBufferHandler;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;

/**
 * Limits how long clients may have a thread wait for the rest of a request: all waits for a body together {@link #GRACE}
 * and the time for it at {@value #BYTES_PER_SECOND_MIN} bytes a second. At most {@value #WAITING_OF_ADDRESS_MAX} requests
 * of an address wait at once, and {@value #WAITING_MAX} in all; further ones are refused. The login takes at most {@value
 * #LOGIN_BYTES_MAX} bytes. What is refused is not read, and the connection is closed.
 */
@Component
class Bodies implements WebServerFactoryCustomizer<TomcatServletWebServerFactory> {

    private static final int WAITING_OF_ADDRESS_MAX = 20;

    private static final int WAITING_MAX = 100;
    private static final int LOGIN_BYTES_MAX = 8 << 10;
    private static final Duration GRACE = Duration.ofSeconds(10);
    private static final int BYTES_PER_SECOND_MIN = 10_000;

    /** The most that is read of a body that nobody wanted, so that the client gets the response. */
    private static final int DRAINED_BYTES_MAX = 2 << 20;

    private final Refusals refusals;
    private final AtomicInteger waiting = new AtomicInteger();
    private final Map<String, Integer> waitingOf = new ConcurrentHashMap<>();

    Bodies(Refusals refusals) {
        this.refusals = refusals;
    }

    @Override
    public void customize(TomcatServletWebServerFactory server) {
        server.addEngineValves(new ValveBase(true) {
            @Override
            public void invoke(Request request, Response response) throws IOException, ServletException {
                boolean isRefused = response.getStatus() >= HttpStatus.BAD_REQUEST.value();
                long length = isRefused ? 0 : request.getContentLengthLong();
                if (length == 0 || (length < 0 && request.getHeader("Transfer-Encoding") == null)) {
                    getNext().invoke(request, response);
                    return;
                }
                long most = LoginForm.PATH.equals(request.getDecodedRequestURI()) ? LOGIN_BYTES_MAX : Long.MAX_VALUE;
                if (length > most) {
                    refuse(request, response, HttpStatus.CONTENT_TOO_LARGE);
                } else if (isBusy(request.getRemoteAddr(), 0)) {
                    refuse(request, response, HttpStatus.TOO_MANY_REQUESTS);
                } else {
                    Timed body = new Timed(request, length, most);
                    try {
                        getNext().invoke(request, response);
                    } finally {
                        body.end(response);
                    }
                }
            }
        });
    }

    private void refuse(Request request, Response response, HttpStatus status) throws IOException {
        refusals.log("body", request.getRemoteAddr(), "");
        BareErrors.answer(request, response, status.value());
        response.finishResponse();
        request.getCoyoteRequest().action(ActionCode.CLOSE_NOW, null);
    }

    private boolean isBusy(String address, int own) {
        return waiting.get() - own >= WAITING_MAX || waitingOf.getOrDefault(address, 0) - own >= WAITING_OF_ADDRESS_MAX;
    }

    /** Keeps nothing of what is read. */
    private static final class Nowhere implements ApplicationBufferHandler {

        private ByteBuffer read = EMPTY_BUFFER;

        @Override
        public void setByteBuffer(ByteBuffer buffer) {
            read = buffer;
        }

        @Override
        public ByteBuffer getByteBuffer() {
            return read;
        }

        @Override
        public void expand(int size) {}
    }

    /** The body of a request, whose reader waits only for a limited time. */
    private final class Timed implements InputBuffer {

        private final Request request;
        private final long length;
        private final long most;
        private final InputBuffer body;
        private long bytes;
        private long waitedNanos;
        private boolean complete;

        Timed(Request request, long length, long most) {
            this.request = request;
            this.length = length;
            this.most = most;
            this.body = request.getCoyoteRequest().getInputBuffer();
            request.getCoyoteRequest().setInputBuffer(this);
        }

        @Override
        public int doRead(ApplicationBufferHandler into) throws IOException {
            String address = request.getRemoteAddr();
            waiting.incrementAndGet();
            waitingOf.merge(address, 1, Integer::sum);
            long begin = System.nanoTime();
            try {
                if (bytes > most
                        || isBusy(address, 1)
                        || waitedNanos
                                > GRACE.plusSeconds(bytes / BYTES_PER_SECOND_MIN)
                                        .toNanos()) {
                    throw new SocketTimeoutException("the body comes too slowly, or is too large");
                }
                int read = body.doRead(into);
                bytes += Math.max(0, read);
                complete = read < 0 || bytes == length;
                return read;
            } finally {
                waitedNanos += System.nanoTime() - begin;
                waiting.decrementAndGet();
                waitingOf.computeIfPresent(address, (_, count) -> count == 1 ? null : count - 1);
            }
        }

        @Override
        public int available() {
            return body.available();
        }

        /** Reads what is left of the body, or closes the connection: Tomcat would read it without a limit of time. */
        void end(Response response) throws IOException {
            try {
                if (!complete && !request.isAsyncStarted()) {
                    response.finishResponse();
                    drain();
                }
            } finally {
                request.getCoyoteRequest().setInputBuffer(body);
                if (!complete && !request.isAsyncStarted()) {
                    request.getCoyoteRequest().action(ActionCode.CLOSE_NOW, null);
                }
            }
        }

        private void drain() {
            try {
                Nowhere nowhere = new Nowhere();
                while (!complete
                        && bytes < DRAINED_BYTES_MAX
                        && !request.getCoyoteRequest().hasExpectation()
                        && doRead(nowhere) >= 0) {}
            } catch (SocketTimeoutException e) {
                refusals.log("body", request.getRemoteAddr(), "");
            } catch (IOException gone) {
                // The client has closed the connection.
            }
        }
    }
}
