package dozo.restore;

import dozo.copy.ProvenRead;
import dozo.copy.ProvenRead.Differs;
import dozo.file.EntryKind;
import dozo.ledger.Ledger;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.Sites.Site;
import dozo.remote.RemoteException;
import dozo.send.SiteCopy;
import dozo.verify.Copies;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.Map;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Single files for people who need one of them back: read at a site, and proven while they pass. */
@Component
public class FileDownloads {

    /** Each has a connection to a site of its own. */
    private static final int AT_ONCE_MAX = 4;

    private static final Logger LOG = LoggerFactory.getLogger(FileDownloads.class);

    private final Copies copies;
    private final Ledger ledger;
    private final Semaphore atOnce = new Semaphore(AT_ONCE_MAX);

    public FileDownloads(Copies copies, Ledger ledger) {
        this.copies = copies;
        this.ledger = ledger;
    }

    /**
     * Finds the copy of an entry of an experiment, of its current manifest or an earlier one.
     *
     * @throws Refusal if the entry is not a file with a verified copy at the site
     */
    public SiteCopy find(Experiment experiment, Site site, int entryNumber) {
        return copies.of(experiment.id(), site.id(), new int[] {entryNumber}).stream()
                .filter(copy -> copy.kind() == EntryKind.FILE)
                .findFirst()
                .orElseThrow(() -> Refusal.conflict(
                        "entry",
                        "site %s has no verified copy of this file, so there is nothing to download",
                        site.name()));
    }

    /**
     * Writes a copy's content. If it turns out not to be what was verified, the content ends early.
     *
     * @throws Refusal if it cannot be read now, or differs from what was verified
     */
    public void write(Experiment experiment, Site site, SiteCopy copy, String actor, OutputStream out)
            throws IOException {
        if (!atOnce.tryAcquire()) {
            throw Refusal.conflict(
                    "entry", "%d downloads are running; try again when one of them has ended", AT_ONCE_MAX);
        }
        try (ProvenRead read = new ProvenRead(site.address(), copy.path(), copy.digest())) {
            // Without the file's name, which may contain a person's: ledger rows are permanent.
            ledger.append(
                    actor,
                    "file.downloaded",
                    experiment.name(),
                    Map.of("site", site.name(), "entry", String.valueOf(copy.entryNumber())));
            read.into(out);
        } catch (Differs e) {
            // Without the file's name here, too.
            LOG.error(
                    "entry {} of {} was not downloaded from {}: its digest is not that of its receipt",
                    copy.entryNumber(),
                    experiment.name(),
                    site.name());
            throw Refusal.conflict(
                    "entry",
                    "the copy at site %s is not what was verified, and was not downloaded; check the site's disks",
                    site.name());
        } catch (RemoteException e) {
            LOG.warn(
                    "entry {} of {} could not be downloaded from {}: {}",
                    copy.entryNumber(),
                    experiment.name(),
                    site.name(),
                    e.reason());
            throw Refusal.conflict(
                    "entry", "the copy at site %s cannot be read now; check the site, then try again", site.name());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("the service ends");
        } finally {
            atOnce.release();
        }
    }
}
