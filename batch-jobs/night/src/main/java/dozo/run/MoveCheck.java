package dozo.run;

import dozo.file.Digest;
import dozo.ledger.Failure;
import dozo.manifest.Comparison;
import dozo.manifest.Ingest;
import dozo.manifest.Known;
import dozo.manifest.SourceLook;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Relocations.Relocated;
import dozo.run.SourceMoves.Compared;
import dozo.run.SourceMoves.Done;
import dozo.source.OpenFile;
import dozo.verify.Receipts;
import dozo.verify.Receipts.ReadFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionTemplate;

/** Compares the new folder of an experiment with its current manifest, in a thread of its own as {@link Look}. */
final class MoveCheck {

    /** What is read of one experiment at most. */
    private static final long SAMPLE_BYTES_MAX = 1L << 30;

    private static final int BLOCK_BYTES = 1 << 17;

    private final Relocated relocated;
    private final int sample;
    private final Ingest ingest;
    private final Receipts receipts;
    private final TransactionTemplate transaction;
    private final LongAdder told = new LongAdder();
    private final Thread thread;

    /** What was found so far; written by the thread, and read when it has ended. */
    private volatile Comparison found = Comparison.failed("the folder does not respond");

    private volatile @Nullable Integer manifest;
    private volatile long filesRead;
    private volatile long bytesRead;
    private final List<String> otherContent = new ArrayList<>();
    private long toldBefore;
    private long answeredNanos = System.nanoTime();

    /**
     * Begins to compare.
     *
     * @param sample the number of files that are read
     * @param ended is told when the thread ends, however it ends
     */
    MoveCheck(
            Relocated relocated,
            int sample,
            Ingest ingest,
            Receipts receipts,
            TransactionTemplate transaction,
            Consumer<MoveCheck> ended) {
        this.relocated = relocated;
        this.sample = sample;
        this.ingest = ingest;
        this.receipts = receipts;
        this.transaction = transaction;
        this.thread = Thread.ofPlatform()
                .name("move-check-" + relocated.after().id())
                .daemon()
                .start(() -> run(ended));
    }

    void giveUp() {
        thread.interrupt();
    }

    /** Returns whether the source has reported nothing for this long; it is given up then. */
    boolean isStuck(Duration patience) {
        long now = System.nanoTime();
        if (told.sum() != toldBefore) {
            toldBefore = told.sum();
            answeredNanos = now;
        }
        boolean stuck = now - answeredNanos > patience.toNanos();
        if (stuck) {
            giveUp();
        }
        return stuck;
    }

    Done result(long number) {
        synchronized (otherContent) {
            String name = relocated.after().name();
            Compared compared =
                    new Compared(number, name, manifest, found, filesRead, bytesRead, List.copyOf(otherContent));
            return new Done(compared, relocated);
        }
    }

    private void run(Consumer<MoveCheck> ended) {
        try {
            Comparison compared = compared(relocated.after());
            if (compared.isWhole() && manifest != null) {
                readSample(relocated.after());
            }
            found = compared;
        } catch (InterruptedException | RuntimeException e) {
            found = Comparison.failed(Failure.reason(e, "compare it again"));
        } finally {
            ended.accept(this);
        }
    }

    private Comparison compared(Experiment after) throws InterruptedException {
        Known known = ingest.known(new int[] {after.id()}).get(after.id());
        if (known == null || known.manifest() == null) {
            return Files.isDirectory(after.opened())
                    ? Comparison.EQUAL
                    : Comparison.failed("there is no such folder, and no manifest yet");
        }
        manifest = known.manifest().number();
        try (SourceLook look = ingest.look(after, known, told)) {
            Comparison compared = transaction.execute(_ -> look.compare());
            return compared == null ? Comparison.failed("not compared") : compared;
        }
    }

    private void readSample(Experiment after) throws InterruptedException {
        long files = 0;
        long bytes = 0;
        for (ReadFile file : receipts.sample(after.id(), sample, SAMPLE_BYTES_MAX)) {
            if (bytes + file.sizeBytes() <= SAMPLE_BYTES_MAX) {
                String wrong = wrong(after, file);
                if (wrong != null) {
                    synchronized (otherContent) {
                        otherContent.add(file.path() + wrong);
                    }
                }
                files++;
                bytes += file.sizeBytes();
            }
        }
        filesRead = files;
        bytesRead = bytes;
    }

    /** Returns what is wrong with a file; null: it has the digest. */
    private @Nullable String wrong(Experiment after, ReadFile file) throws InterruptedException {
        MessageDigest content = Digest.algorithm();
        try (OpenFile open = OpenFile.open(after.opened(), file.path());
                InputStream in = open.stream()) {
            byte[] block = new byte[BLOCK_BYTES];
            for (int n = in.read(block); n >= 0; n = in.read(block)) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                content.update(block, 0, n);
                told.increment();
            }
            return Digest.of(content.digest()).equals(file.digest()) ? null : "";
        } catch (IOException e) {
            return ": " + e.getMessage();
        }
    }
}
