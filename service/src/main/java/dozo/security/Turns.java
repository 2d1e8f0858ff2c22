package dozo.security;

import dozo.file.Message;
import dozo.run.Operations;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.tomcat.util.http.InvalidParameterException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.security.web.util.OnCommittedResponseWrapper;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Gives a run precedence over requests. While a run is in progress, {@link #AT_ONCE} requests are processed at a time,
 * in the order of arrival (ADR 0058). At most {@value #WAITING_MAX} others wait; further requests are refused at once.
 * Health checks are always answered.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE + 2)
class Turns extends OncePerRequestFilter {

    static final int AT_ONCE = Math.max(1, Runtime.getRuntime().availableProcessors() / 4);
    static final int WAITING_MAX = 200;

    /**
     * A turn ends when the response begins to be sent, or after this time: sending a large response is mostly waiting
     * for its reader.
     */
    private static final Duration TURN_MAX = Duration.ofSeconds(1);

    static final Duration WAIT_MAX = Duration.ofSeconds(10);

    private final Operations operations;
    private final Answers answers;
    private final Semaphore turns = new Semaphore(AT_ONCE, true);

    Turns(Operations operations, Answers answers) {
        this.operations = operations;
        this.answers = answers;
    }

    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        return Answers.isHealth(request) || !operations.isWorking();
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        if (!hasReadableForm(request)) {
            if (!response.isCommitted()) {
                response.sendError(HttpStatus.BAD_REQUEST.value());
            }
            return;
        }
        if (!awaitTurn()) {
            response.setHeader("Retry-After", "1");
            answers.refuse(
                    request,
                    response,
                    HttpStatus.SERVICE_UNAVAILABLE,
                    Message.of("a run is in progress and too many requests are waiting; try again"));
            return;
        }
        AtomicBoolean over = new AtomicBoolean();
        Runnable end = () -> {
            if (!over.getAndSet(true)) {
                turns.release();
            }
        };
        try {
            CompletableFuture.delayedExecutor(TURN_MAX.toMillis(), TimeUnit.MILLISECONDS, Runnable::run)
                    .execute(end);
            chain.doFilter(request, new OnCommittedResponseWrapper(response) {
                @Override
                protected void onResponseCommitted() {
                    end.run();
                }
            });
        } finally {
            end.run();
        }
    }

    /** Reads a form before its turn, which a slow client would use up. Returns false if it cannot be read. */
    private static boolean hasReadableForm(HttpServletRequest request) {
        String type = request.getContentType();
        if (type != null && type.startsWith(MediaType.APPLICATION_FORM_URLENCODED_VALUE) && !Answers.isRest(request)) {
            try {
                var _ = request.getParameterMap();
            } catch (InvalidParameterException unreadable) {
                return false;
            }
        }
        return true;
    }

    private boolean awaitTurn() {
        try {
            return turns.getQueueLength() < WAITING_MAX && turns.tryAcquire(WAIT_MAX.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
