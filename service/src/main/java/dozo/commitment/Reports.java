package dozo.commitment;

import static java.util.Objects.requireNonNullElse;

import dozo.commitment.Association.Limits;
import dozo.commitment.Commitments.Request;
import dozo.ledger.Failure;
import dozo.verify.Images;
import dozo.verify.Images.Image;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.Socket;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

/**
 * Reports to callers which images are safe (N-EVENT-REPORT): at once if all are, else when all are or patience ends. What is safe
 * is looked up for every attempt, so that each report is true when it is sent.
 */
final class Reports {

    /** How often images that are not safe are looked at again. */
    static final Duration LOOK = Duration.ofMinutes(5);

    /** The wait after the first failure. It doubles up to about an hour. */
    static final Duration RETRY_MIN = Duration.ofMinutes(1);

    private static final int DOUBLINGS_MAX = 6;

    /** How long after the end of patience a report is tried. */
    static final Duration TRIED = Duration.ofDays(7);

    private static final int ALL_SAFE = 1;
    private static final int SOME_UNSAFE = 2;
    private static final int NUMBER = 1;

    private static final Logger LOG = LoggerFactory.getLogger(Reports.class);

    private final Commitments commitments;
    private final Images images;
    private final String self;
    private final Map<String, Caller> callers;
    private final Duration patience;
    private final Tls tls;
    private final InstantSource clock;

    Reports(Commitments commitments, Images images, CommitmentSettings settings, InstantSource clock) {
        this.commitments = commitments;
        this.images = images;
        this.self = settings.aeTitle();
        this.callers = settings.known();
        this.patience = settings.patience();
        this.tls = new Tls(settings, clock);
        this.clock = clock;
    }

    /** Looks at all requests that are due. A thread that is interrupted stops after the one that it looks at. */
    void look() {
        commitments.forget();
        for (Optional<Request> next = commitments.due();
                next.isPresent() && !Thread.currentThread().isInterrupted();
                next = commitments.due()) {
            look(next.get());
        }
    }

    private void look(Request request) {
        try {
            reportIfDue(request);
        } catch (DataAccessException | TransactionException e) {
            throw e;
        } catch (RuntimeException e) {
            // NB: a request that no report can be made of must not hold up the others.
            LOG.error("no report can be made about transaction {}", request.transactionUid(), e);
            failed(request, Failure.reason(e, ""));
        }
    }

    private void reportIfDue(Request request) {
        Set<Image> safe = images.safe(request.images());
        int unsafe = request.images().size() - safe.size();
        Instant now = clock.instant();
        Instant end = request.askedAt().plus(patience);
        if (unsafe > 0 && now.isBefore(end)) {
            Instant next = now.plus(LOOK);
            commitments.postpone(request, next.isBefore(end) ? next : end);
            return;
        }
        try {
            send(request, safe);
            commitments.reported(request, unsafe);
            LOG.info("reported to {}: {} images safe, {} not", request.caller(), safe.size(), unsafe);
        } catch (IOException e) {
            failed(request, requireNonNullElse(e.getMessage(), "the connection was lost"));
        }
    }

    private void failed(Request request, String why) {
        boolean givenUp =
                clock.instant().isAfter(request.askedAt().plus(patience).plus(TRIED));
        LOG.warn(
                "{} did not take the report about transaction {}{}: {}",
                request.caller(),
                request.transactionUid(),
                givenUp ? ", given up" : "",
                why);
        Duration wait = RETRY_MIN.multipliedBy(1L << Math.min(DOUBLINGS_MAX, request.attempts()));
        commitments.failed(request, givenUp ? null : wait, why);
    }

    private void send(Request request, Set<Image> safe) throws IOException {
        Caller caller = callers.get(request.caller());
        if (caller == null) {
            throw new IOException("is not among the callers");
        }
        try (Socket socket = new Socket()) {
            socket.connect(caller.address(), (int) Limits.USUAL.idle().toMillis());
            Socket talk = tls.asking(socket, caller);
            try (Association association = new Association(socket, talk, Limits.USUAL)) {
                send(association, request, safe);
            }
        }
    }

    private void send(Association association, Request request, Set<Image> safe) throws IOException {
        association.request(request.caller(), self);
        byte[] command = new DataSet.Writer()
                .uid(Message.AFFECTED_CLASS, Offer.COMMITMENT)
                .number(Message.TYPE, Message.N_EVENT_REPORT_RQ)
                .number(Message.NUMBER, NUMBER)
                .number(Message.DATA, 0)
                .uid(Message.AFFECTED_INSTANCE, Requests.INSTANCE)
                .number(Message.EVENT_TYPE, safe.size() == request.images().size() ? ALL_SAFE : SOME_UNSAFE)
                .command();
        association.send(Association.REPORTS, command, true);
        association.send(Association.REPORTS, data(request, safe), false);
        Message answer = association.receive();
        if (answer == null
                || answer.number(Message.TYPE) != (Message.N_EVENT_REPORT_RQ | Message.ANSWER)
                || answer.number(Message.ANSWERED) != NUMBER) {
            throw new ProtocolException("did not answer the report");
        }
        if (answer.number(Message.STATUS) != Requests.SUCCESS) {
            throw new ProtocolException("refused it with status %04xh".formatted(answer.number(Message.STATUS)));
        }
        try {
            association.release();
        } catch (IOException e) {
            LOG.debug("the report was taken, and its association ended without a release", e);
        }
    }

    private static byte[] data(Request request, Set<Image> safe) {
        List<byte[]> failed = request.images().stream()
                .filter(image -> !safe.contains(image))
                .map(image -> item(image)
                        .number(DataSet.REASON, Requests.NO_SUCH_INSTANCE)
                        .bytes())
                .toList();
        List<byte[]> committed = request.images().stream()
                .filter(safe::contains)
                .map(image -> item(image).bytes())
                .toList();
        return new DataSet.Writer()
                .uid(DataSet.TRANSACTION_UID, request.transactionUid())
                .sequence(DataSet.FAILED_IMAGES, failed)
                .sequence(DataSet.IMAGES, committed)
                .bytes();
    }

    private static DataSet.Writer item(Image image) {
        return new DataSet.Writer()
                .uid(DataSet.CLASS_UID, image.classUid())
                .uid(DataSet.INSTANCE_UID, image.instanceUid());
    }
}
