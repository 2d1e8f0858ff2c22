package dozo.manifest;

import dozo.ledger.Findings.Finding;
import dozo.manifest.Ingest.Ingested;
import dozo.registry.Experiments.Experiment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one look at an experiment's source found. Nothing of it is in the database before it is sealed, in a transaction of the
 * caller's. To be closed, whether it was sealed or not.
 */
public final class SourceLook implements AutoCloseable {

    private final Sealing sealing;
    private final Experiment experiment;
    private final Known known;
    private final @Nullable FolderLoad load;
    private final List<Finding> added = new ArrayList<>();
    private @Nullable Finding refusal;

    SourceLook(Sealing sealing, Experiment experiment, Known known, @Nullable FolderLoad load) {
        this.sealing = sealing;
        this.experiment = experiment;
        this.known = known;
        this.load = load;
    }

    /**
     * Nothing is sealed: what is not known of the source is never taken for its end. What the crawl found until then comes
     * after the refusal: it often says why there was nothing to seal.
     */
    void refuse(Finding why) {
        refusal = why;
    }

    void add(Finding finding) {
        added.add(finding);
    }

    /**
     * Seals what was found, unless the source is as the current manifest says, too much of it is gone, or it is not known. All of it or nothing,
     * in the caller's transaction; where nothing is new, nothing is written.
     *
     * @throws IllegalStateException when another manifest was sealed since the look
     */
    public Ingested seal() {
        List<Finding> findings = new ArrayList<>();
        boolean sealed = false;
        if (refusal != null) {
            findings.add(refusal);
        } else if (load != null && mayDiffer(load)) {
            sealed = sealing.seal(experiment, known.current(), load, findings::add);
        }
        if (load != null) {
            findings.addAll(load.findings());
        }
        findings.addAll(added);
        return new Ingested(sealed, findings);
    }

    /** Whether the source is as the current manifest says, and there is nothing to tell of it: then there is nothing to seal. */
    public boolean isUnchanged() {
        return refusal == null
                && load != null
                && !mayDiffer(load)
                && load.findings().isEmpty()
                && added.isEmpty();
    }

    /** Whether there is anything to do: to compare, or to say again or no more that the experiment is frozen. */
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
