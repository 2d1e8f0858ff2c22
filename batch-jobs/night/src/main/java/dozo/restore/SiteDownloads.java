package dozo.restore;

import dozo.copy.Inventory;
import dozo.copy.Inventory.Item;
import dozo.copy.Inventory.StoredCopy;
import dozo.copy.ProvenRead;
import dozo.copy.ProvenRead.Differs;
import dozo.copy.Selected;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Selection;
import dozo.ledger.Ledger;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.Sites.Site;
import dozo.remote.RemoteException;
import dozo.send.SiteCopy;
import dozo.verify.Copies;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Files and small folders for people who need them back: read at a site, and proven while they pass. */
@Component
public class SiteDownloads {

    /** Each has a connection to a site of its own. */
    private static final int AT_ONCE_MAX = 4;

    /** A larger folder is restored: a restore uses several connections, and continues after an interruption. */
    private static final int FOLDER_ENTRIES_MAX = 10_000;

    private static final long FOLDER_GIGABYTES_MAX = 10;

    private static final int PAGE = 500;

    private static final int PERMISSIONS = 0777;

    private static final Logger LOG = LoggerFactory.getLogger(SiteDownloads.class);

    private final Copies copies;
    private final Inventories inventories;
    private final Ledger ledger;
    private final Semaphore atOnce = new Semaphore(AT_ONCE_MAX);

    public record FoundFile(Experiment experiment, Site site, SiteCopy copy) {

        /** Returns the file's own name. */
        public byte[] name() {
            return copy.name().name();
        }

        public long sizeBytes() {
            return copy.sizeBytes();
        }
    }

    /** What a folder of a manifest contains. */
    public record FoundFolder(Experiment experiment, Manifest manifest, Site site, FilePath path, List<Item> items) {}

    private interface Reading {
        void with(ProvenRead site) throws IOException, InterruptedException;
    }

    public SiteDownloads(Copies copies, Inventories inventories, Ledger ledger) {
        this.copies = copies;
        this.inventories = inventories;
        this.ledger = ledger;
    }

    /**
     * Finds the copy of an entry of an experiment, of its current manifest or an earlier one.
     *
     * @throws Refusal if the entry is not a file with a verified copy at the site
     */
    public FoundFile find(Experiment experiment, Site site, int entryNumber) {
        return copies.of(experiment.id(), site.id(), new int[] {entryNumber}).stream()
                .filter(copy -> copy.kind() == EntryKind.FILE)
                .findFirst()
                .map(copy -> new FoundFile(experiment, site, copy))
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
    public void write(FoundFile file, String actor, OutputStream out) throws IOException {
        write(file, "file.downloaded", actor, out);
    }

    /** Writes a copy's content as {@link #write} does, for a picture. */
    void show(FoundFile file, String actor, OutputStream out) throws IOException {
        write(file, "picture.shown", actor, out);
    }

    private void write(FoundFile file, String action, String actor, OutputStream out) throws IOException {
        Experiment experiment = file.experiment;
        Site site = file.site;
        SiteCopy copy = file.copy;
        read(experiment, site, at -> {
            // Without the file's name, which may contain a person's: ledger rows are permanent.
            ledger.append(
                    actor,
                    action,
                    experiment.name(),
                    Map.of("site", site.name(), "entry", String.valueOf(copy.entryNumber())));
            write(at, experiment, site, copy.entryNumber(), new StoredCopy(copy.path(), copy.digest()), out);
        });
    }

    /**
     * Finds what a folder of a manifest contains.
     *
     * @param folder {@link FilePath#ROOT} for everything
     * @throws Refusal if it does not exist, is too large for a download, or contains a file without a verified copy
     */
    public FoundFolder find(Experiment experiment, Manifest manifest, Site site, FilePath folder) {
        Inventory whole = inventories.of(manifest, site.id());
        if (!folder.isRoot() && whole.find(folder).isEmpty()) {
            throw new Refusal("folder", "the manifest has nothing with this path");
        }
        Inventory part = folder.isRoot() ? whole : new Selected(Selection.of(folder), whole).inventory();
        List<Item> found = new ArrayList<>();
        List<Item> page = part.page(FilePath.ROOT, PAGE);
        while (!page.isEmpty()) {
            // NB: the folders above it are in the page, too.
            page.stream().filter(item -> item.entry().path().startsWith(folder)).forEach(found::add);
            long bytes = found.stream()
                    .mapToLong(item -> item.entry().facts().sizeBytes())
                    .sum();
            if (found.size() > FOLDER_ENTRIES_MAX || bytes > FOLDER_GIGABYTES_MAX * 1_000_000_000) {
                throw Refusal.conflict(
                        "folder",
                        "a download is of at most %d entries and %d GB; restore this folder instead",
                        FOLDER_ENTRIES_MAX,
                        FOLDER_GIGABYTES_MAX);
            }
            page = part.page(page.getLast().entry().path(), PAGE);
        }
        long lacking = found.stream()
                .filter(item -> item.entry().facts().kind() == EntryKind.FILE && item.copy() == null)
                .count();
        if (lacking > 0) {
            throw Refusal.conflict(
                    "folder",
                    "files of this folder without a verified copy at site %s: %d; restore it instead, which brings the others",
                    site.name(),
                    lacking);
        }
        return new FoundFolder(experiment, manifest, site, folder, found);
    }

    /**
     * Writes a folder as a tar archive (GNU format: names are bytes). If a copy turns out not to be what was verified,
     * the archive ends early.
     *
     * @throws Refusal if it cannot be read now, or differs from what was verified
     */
    public void write(FoundFolder folder, String actor, OutputStream out) throws IOException {
        Experiment experiment = folder.experiment;
        Site site = folder.site;
        read(experiment, site, at -> {
            ledger.append(
                    actor,
                    "folder.downloaded",
                    experiment.name(),
                    Map.of(
                            "site",
                            site.name(),
                            "manifest",
                            folder.manifest.number(),
                            "folder",
                            Digest.ofContent(folder.path.bytes()),
                            "entries",
                            folder.items.size()));
            // NB: closing it after a failure would write a proper end.
            TarArchiveOutputStream tar = new TarArchiveOutputStream(out, StandardCharsets.ISO_8859_1.name());
            tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_GNU);
            tar.setBigNumberMode(TarArchiveOutputStream.BIGNUMBER_STAR);
            for (Item item : folder.items) {
                tar.putArchiveEntry(header(item.entry(), folder.path));
                if (item.copy() != null) {
                    write(at, experiment, site, item.entry().number(), item.copy(), tar);
                }
                tar.closeArchiveEntry();
            }
            tar.finish();
        });
    }

    /** Returns the header of an entry, whose path begins with the folder's own name. */
    private static TarArchiveEntry header(Entry entry, FilePath folder) {
        byte[] path = entry.path().bytes();
        int above = folder.isRoot() ? 0 : folder.bytes().length - folder.name().length;
        String name = new String(path, above, path.length - above, StandardCharsets.ISO_8859_1);
        Facts facts = entry.facts();
        TarArchiveEntry header = switch (facts.kind()) {
            case DIRECTORY -> new TarArchiveEntry(name + "/");
            case FILE -> new TarArchiveEntry(name);
            case LINK -> new TarArchiveEntry(name, TarConstants.LF_SYMLINK);
        };
        if (facts.linkTarget() != null) {
            header.setLinkName(new String(facts.linkTarget(), StandardCharsets.ISO_8859_1));
        }
        header.setSize(facts.sizeBytes());
        header.setMode(facts.mode() & PERMISSIONS);
        header.setModTime(FileTime.from(facts.modifiedNanos(), TimeUnit.NANOSECONDS));
        // Otherwise it is the name of the service's user.
        header.setUserName("");
        return header;
    }

    private static void write(
            ProvenRead at, Experiment experiment, Site site, int entryNumber, StoredCopy copy, OutputStream out)
            throws IOException, InterruptedException {
        try {
            at.into(out, copy.place(), copy.digest());
        } catch (Differs e) {
            // Without the file's name here, too.
            LOG.error(
                    "entry {} of {} was not downloaded from {}: its digest is not that of its receipt",
                    entryNumber,
                    experiment.name(),
                    site.name());
            throw Refusal.conflict(
                    "entry",
                    "the copy at site %s is not what was verified, and was not downloaded; check the site's disks",
                    site.name());
        }
    }

    private void read(Experiment experiment, Site site, Reading reading) throws IOException {
        if (!atOnce.tryAcquire()) {
            throw Refusal.conflict(
                    "entry", "%d downloads are running; try again when one of them has ended", AT_ONCE_MAX);
        }
        try (ProvenRead at = new ProvenRead(site.address())) {
            reading.with(at);
        } catch (RemoteException e) {
            LOG.warn("a download of {} from {} ended early: {}", experiment.name(), site.name(), e.reason());
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
