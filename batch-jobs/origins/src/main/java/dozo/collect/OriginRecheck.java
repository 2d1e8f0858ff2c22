package dozo.collect;

import dozo.collect.OriginChecks.Due;
import dozo.collect.OriginChecks.Late;
import dozo.collect.OriginChecks.Sent;
import dozo.collect.Origins.Origin;
import dozo.db.LostDatabase;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.file.Zoned;
import dozo.ledger.Failure;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.run.Rechecking;
import dozo.source.delivery.Checked;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Recheck;
import dozo.source.delivery.Trouble;
import dozo.verify.HomeReadings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Checks delivered files again in their origins: at the end of a night, one after the other, so that an origin's users are not
 * disturbed. No transaction is open during requests; a process that dies loses at most one batch.
 */
@Component
class OriginRecheck implements Rechecking {

    private static final Logger LOG = LoggerFactory.getLogger(OriginRecheck.class);

    /** A batch: the origin is asked once for its list. */
    private static final int FILES_MAX = 1_000;

    private static final long BYTES_MAX = 4L << 30;

    /** Files that a night checks again first: those that could not be read, or are not as delivered. */
    private static final int AGAIN_MAX = 2_000;

    private final Origins origins;
    private final OriginChecks checks;
    private final HomeReadings readings;
    private final Findings findings;
    private final CollectSettings settings;
    private final TransactionTemplate transactions;
    private final InstantSource clock;

    OriginRecheck(
            Origins origins,
            OriginChecks checks,
            HomeReadings readings,
            Findings findings,
            CollectSettings settings,
            TransactionTemplate transactions,
            InstantSource clock) {
        this.origins = origins;
        this.checks = checks;
        this.readings = readings;
        this.findings = findings;
        this.settings = settings;
        this.transactions = transactions;
        this.clock = clock;
    }

    @Override
    public Duration limit() {
        return settings.checkAge().isZero() ? Duration.ZERO : settings.checkLimit();
    }

    @Override
    public void check(long runId) throws InterruptedException {
        checks.enlist(clock.instant());
        Instant dueBefore =
                clock.instant().minus(settings.checkAge().multipliedBy(4).dividedBy(5));
        Set<Integer> silent = new HashSet<>();
        long bytesLeft = settings.checkBytes().toBytes();
        int again = 0;
        while (bytesLeft > 0) {
            Optional<Due> due = again < AGAIN_MAX ? checks.nextAgain(runId, silent, FILES_MAX) : Optional.empty();
            due = due.isPresent() ? due : checks.next(runId, dueBefore, silent);
            if (due.isEmpty()) {
                return;
            }
            again += due.get().again().size();
            bytesLeft -= check(runId, due.get(), bytesLeft, silent);
        }
    }

    /** Returns how many bytes the origin sent. */
    private long check(long runId, Due due, long bytesLeft, Set<Integer> silent) throws InterruptedException {
        Origin origin = origins.find(due.originId()).orElseThrow();
        Path tree = origins.collector(origin.terms().kind()).tree(origin, due.item());
        Map<FilePath, Sent> sent = new HashMap<>();
        Recheck.Asked asked =
                new Recheck.Asked(due.afterPath(), due.again(), FILES_MAX, Math.min(BYTES_MAX, bytesLeft), paths -> {
                    sent.putAll(checks.sent(due.experimentId(), paths));
                    sent.entrySet()
                            .removeIf(
                                    each -> !isOf(each.getValue(), each.getKey().under(tree)));
                    return digests(sent);
                });
        Instant began = clock.instant();
        checks.trying(runId, due);
        Recheck.Result result;
        try {
            result = origins.collector(origin.terms().kind()).check(origin, due.item(), due.theirs(), asked);
        } catch (IOException | RuntimeException e) {
            if (LostDatabase.isBehind(e)) {
                throw e instanceof RuntimeException lost ? lost : new UncheckedIOException((IOException) e);
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            failed(origin, due, e, silent);
            return 0;
        }
        List<Finding> other = result.files().stream()
                .filter(Checked.Other.class::isInstance)
                .map(file -> finding(origin, due, (Checked.Other) file, sent.get(file.path())))
                .toList();
        transactions.executeWithoutResult(_ -> {
            checks.add(runId, due, result, began);
            findings.add(runId, other);
        });
        return result.bytesMoved();
    }

    /** Returns whether the local file is the one that was sent: a newer version may have been delivered since. */
    private static boolean isOf(Sent sent, Path file) {
        try {
            return Files.size(file) == sent.sizeBytes()
                    && Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS)
                                    .to(TimeUnit.NANOSECONDS)
                            == sent.modifiedNs();
        } catch (IOException e) {
            return false;
        }
    }

    private static Map<FilePath, Digest> digests(Map<FilePath, Sent> sent) {
        Map<FilePath, Digest> digests = new HashMap<>();
        sent.forEach((path, one) -> digests.put(path, one.digest()));
        return digests;
    }

    private static void failed(Origin origin, Due due, Exception e, Set<Integer> silent) {
        DeliveryException theirs = Failure.cause(e, DeliveryException.class);
        if (theirs == null || !isOfItem(theirs.trouble())) {
            silent.add(origin.id());
        }
        String why = Failure.reason(e, "the next night tries again");
        LOG.warn("experiment {} could not be checked in origin {}: {}", due.name(), origin.name(), why);
    }

    /** Returns whether other items can be checked nevertheless. */
    private static boolean isOfItem(Trouble trouble) {
        return switch (trouble) {
            case DENIED, GONE, REJECTED, UNPARSED, TOO_LARGE, SPOOL -> true;
            default -> false;
        };
    }

    private Finding finding(Origin origin, Due due, Checked.Other file, @Nullable Sent sent) {
        String copies = sent == null
                ? ""
                : HomeReadings.copies(readings.atSites(due.experimentId(), List.of(sent.entryNo()))
                        .getOrDefault(sent.entryNo(), List.of()));
        String message =
                "%s: origin %s has SHA-256 %s, although it lists the file as when it was delivered. %s. %s. Copies: %s"
                        .formatted(
                                file.path(),
                                origin.name(),
                                file.found(),
                                file.sent() == null
                                        ? "What was sent is not known"
                                        : "SHA-256 %s was sent".formatted(file.sent()),
                                file.asDelivered()
                                        ? "The origin has what it delivered: the file was changed here before it was sent; compare both"
                                        : cure(origin, due),
                                copies.isEmpty() ? "none" : copies);
        return new Finding(due.experimentId(), Problem.ORIGIN_DIFFERS, file.path(), message);
    }

    private static String cure(Origin origin, Due due) {
        return switch (origin.terms().kind()) {
            case DICOMWEB ->
                "Delete the instance there, then send the copy: dozo restore %s --to orthanc %s"
                        .formatted(due.name(), origin.name());
            case FLYWHEEL, XNAT, TREE ->
                "Restore the copy, and upload it there: dozo restore %s --path FILE FOLDER".formatted(due.name());
        };
    }

    @Override
    public void conclude(long runId) {
        List<Finding> late = checks.late(runId, clock.instant().minus(settings.checkAge())).stream()
                .map(one -> new Finding(null, Problem.ORIGIN_LATE, message(one)))
                .toList();
        transactions.executeWithoutResult(_ -> findings.add(runId, late));
    }

    private String message(Late late) {
        String unread = late.files() == 0 && late.example().isEmpty()
                ? "see dozo.collect.check-limit and check-bytes"
                : "unreadable files: %,d, such as %s".formatted(late.files(), late.example());
        return "origin %s: not all files were read again within %d days, the oldest %s; %s"
                .formatted(late.origin(), settings.checkAge().toDays(), Zoned.text(late.checkedAt()), unread);
    }
}
