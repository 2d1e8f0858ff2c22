package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.manifest.Comparison;
import dozo.manifest.SourceLook;
import dozo.registry.Experiments.Experiment;
import dozo.run.SourceMoves.Compared;
import dozo.source.OpenFile;
import dozo.verify.Receipts;
import dozo.verify.Receipts.ReadFile;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/** Compares a new folder of an experiment with its current manifest, and a sample of the files with their digests. */
@Component
record MoveCheck(Receipts receipts, TransactionTemplate transaction) {

    /** What is read of one experiment at most. */
    private static final long SAMPLE_BYTES_MAX = 1L << 30;

    private static final int BLOCK_BYTES = 1 << 17;

    /**
     * Compares.
     *
     * @param after the experiment with its new folder
     * @param sample the number of files that are read
     * @param told grows as long as the source responds
     */
    Compared compare(Experiment after, SourceLook look, int sample, LongAdder told) {
        Comparison found = requireNonNull(transaction.execute(_ -> look.compare()));
        List<String> other = new ArrayList<>();
        long files = 0;
        long bytes = 0;
        if (found.same()) {
            for (ReadFile file : receipts.sample(after.id(), sample, SAMPLE_BYTES_MAX)) {
                if (bytes + file.sizeBytes() <= SAMPLE_BYTES_MAX) {
                    String wrong = wrong(after, file, told);
                    if (!wrong.isEmpty()) {
                        other.add(file.path() + ": " + wrong);
                    }
                    files++;
                    bytes += file.sizeBytes();
                }
            }
        }
        return new Compared(after.id(), after.name(), found, files, bytes, List.copyOf(other));
    }

    /** Returns what is wrong with a file; empty: it has the digest. */
    private static String wrong(Experiment after, ReadFile file, LongAdder told) {
        MessageDigest content = Digest.algorithm();
        try (OpenFile open = OpenFile.open(after.opened(), file.path());
                InputStream in = open.stream()) {
            byte[] block = new byte[BLOCK_BYTES];
            for (int n = in.read(block); n >= 0; n = in.read(block)) {
                content.update(block, 0, n);
                told.increment();
            }
            return Digest.of(content.digest()).equals(file.digest()) ? "" : "other content";
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
