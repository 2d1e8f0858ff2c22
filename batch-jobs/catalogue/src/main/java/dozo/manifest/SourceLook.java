package dozo.manifest;

import static java.util.Objects.requireNonNull;

import dozo.ledger.Findings.Finding;
import dozo.manifest.Manifests.Manifest;
import dozo.manifest.Sealing.First;
import dozo.registry.Experiments.Experiment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of one look at an experiment's source. None of it is in the database until {@link #seal} in a transaction
 * of the caller. The caller must close it, sealed or not.
 */
public final class SourceLook implements AutoCloseable {

    private final Sealing sealing;
    private final Experiment experiment;
    private final Known known;
    private final @Nullable FolderLoad load;
    private final List<Finding> added = new ArrayList<>();
    private @Nullable Finding refusal;

    /**
     * The result of sealing.
     *
     * @param sealed whether there is a new manifest
     */
    public record Ingested(boolean sealed, List<Finding> findings) {}

    SourceLook(Sealing sealing, Experiment experiment, Known known, @Nullable FolderLoad load) {
        this.sealing = sealing;
        this.experiment = experiment;
        this.known = known;
        this.load = load;
    }

    /**
     * Refuses to seal: unknown content is never treated as deleted. The crawl's findings follow the refusal, because
     * they often explain it.
     */
    void refuse(Finding why) {
        refusal = why;
    }

    void add(Finding finding) {
        added.add(finding);
    }

    /**
     * Seals the result, unless the source is unchanged, too much is lost, or its content is unknown. Seals all or
     * nothing in the caller's transaction, and writes nothing if nothing is new.
     *
     * @throws IllegalStateException if another manifest was sealed since the look
     */
    public Ingested seal() {
        List<Finding> findings = new ArrayList<>();
        boolean sealed = false;
        if (refusal != null) {
            findings.add(refusal);
        } else if (load != null && mayDiffer(load)) {
            sealed = seal(load, findings);
        }
        if (load != null) {
            findings.addAll(load.findings());
        }
        findings.addAll(added);
        return new Ingested(sealed, findings);
    }

    private boolean seal(FolderLoad read, List<Finding> findings) {
        Manifest before = known.manifest();
        if (before != null) {
            return sealing.seal(experiment, before, read, findings::add);
        }
        sealing.sealFirst(List.of(new First(experiment, read)));
        return true;
    }

    /** Returns whether it is the first of its experiment, has no findings, and at most this many entries. */
    public boolean isFirst(long entriesMax) {
        return refusal == null
                && load != null
                && known.manifest() == null
                && load.rows() <= entriesMax
                && load.findings().isEmpty()
                && added.isEmpty();
    }

    /** Seals what several {@linkplain #isFirst first} looks found, all or nothing in the caller's transaction. */
    public static void sealFirst(List<SourceLook> looks) {
        looks.getFirst()
                .sealing
                .sealFirst(looks.stream()
                        .map(look -> new First(look.experiment, requireNonNull(look.load)))
                        .toList());
    }

    /**
     * Seals what was found at a site as the experiment's first manifest, with this number, unless nothing was found. As
     * {@link #seal}, all or nothing in the caller's transaction.
     */
    public Ingested sealFound(int number) {
        if (load == null) {
            return new Ingested(false, List.of());
        }
        if (refusal == null) {
            sealing.sealFound(experiment, number, load);
        }
        return new Ingested(refusal == null, load.findings());
    }

    /**
     * Compares the source with the current manifest, in the caller's transaction. Seals nothing. Without a manifest, the source
     * only has to be there.
     */
    public Comparison compare() {
        if (load == null || load.nothingKnown() || (refusal != null && known.manifest() != null)) {
            return Comparison.failed(requireNonNull(refusal).message());
        }
        return known.manifest() == null ? Comparison.EQUAL : sealing.compare(experiment, known.manifest(), load);
    }

    /**
     * Returns whether the source equals the current manifest and there are no findings: then there is nothing to seal.
     */
    public boolean isUnchanged() {
        return refusal == null
                && load != null
                && !mayDiffer(load)
                && load.findings().isEmpty()
                && added.isEmpty();
    }

    /** Returns whether there is work: a comparison, or a freeze to report again or to end. */
    private boolean mayDiffer(FolderLoad told) {
        return told.differs() || known.freeze();
    }

    @Override
    public void close() {
        if (load != null) {
            load.close();
        }
    }
}
