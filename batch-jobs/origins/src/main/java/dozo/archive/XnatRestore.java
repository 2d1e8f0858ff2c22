package dozo.archive;

import static dozo.archive.XnatJson.field;
import static dozo.archive.XnatJson.shown;
import static dozo.archive.XnatJson.text;

import dozo.copy.Copy;
import dozo.copy.Inventory.Item;
import dozo.copy.Inventory.StoredCopy;
import dozo.copy.ManifestPart;
import dozo.copy.ProvenRead;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.RemoteException;
import dozo.restore.ArchiveRestore;
import dozo.send.Crew;
import dozo.send.SiteReader;
import dozo.send.Throttle;
import dozo.source.xnat.Writes;
import dozo.source.xnat.Xnat;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Restores an image session of a manifest into an XNAT, by the {@code xnat.json} that was collected with it: subject,
 * session, scans, assessors, reconstructions and resources that are missing, and their files, as files, so that XNAT does
 * not change their bytes. A file is verified if the bytes that XNAT returns have the manifest's digest. A restore that was
 * interrupted is completed by running it again. Studies and series count sessions and scans.
 */
final class XnatRestore implements ArchiveRestore {

    /** Files of a resource that are restored at the same time. Each of them lies in a temporary file meanwhile. */
    private static final int AT_ONCE = 4;

    /** The values that a new session, scan or other holder gets. */
    private static final List<String> FIELDS = List.of(
            "date",
            "time",
            "note",
            "UID",
            "scanner",
            "operator",
            "type",
            "quality",
            "series_description",
            "baseScanType");

    private final ManifestPart part;
    private final ProvenRead site;
    private final Opening opening;
    private final boolean replaces;
    private final Throttle throttle;
    private final Tries tries = new Tries();
    private final Tally tally = new Tally();
    private final SelectedFiles files;

    /** The addresses of what holds resources, by level and sealed id. */
    private final Map<String, String> addresses = new HashMap<>();

    /** Opens the XNAT. */
    interface Opening {
        Xnat open();
    }

    /** A file with its bytes there, that was sent just now. */
    private record Sent(FilePath place, String name, long sizeBytes) {}

    /**
     * A resource there.
     *
     * @param address its path
     * @param listed the files in its catalogue before this restore
     * @param sent what this restore has sent
     */
    private record There(String what, String address, JsonNode sealed, Set<String> listed, Queue<Sent> sent) {}

    XnatRestore(ManifestPart part, ProvenRead site, Opening opening, boolean replaces, Throttle throttle) {
        this.part = part;
        this.site = site;
        this.opening = opening;
        this.replaces = replaces;
        this.throttle = throttle;
        this.files = new SelectedFiles(part, XnatJson.PLACE, tally);
    }

    @Override
    public Progress run(Consumer<Finding> told) throws IOException, InterruptedException {
        tally.tell(told);
        part.select();
        part.reportUnmatched(told);
        XnatJson sealed = XnatJson.read(part, site);
        part.items(item -> files.take(item, sealed.places()::contains));
        tally.allTaken();
        try (Xnat xnat = opening.open()) {
            Writes writes = new Writes(xnat);
            String session = session(sealed, writes);
            addresses.put("resources ", session);
            tally.found(1, 0);
            for (XnatJson.Holder holder : sealed.holders()) {
                bring(holder, session, writes);
            }
            for (JsonNode resource : sealed.resources()) {
                bring(resource, writes);
            }
        }
        return progress();
    }

    /**
     * Finds or creates the subject and the session. NB: XNAT moves a session to the subject in a creating request, so that
     * one that exists is compared first.
     *
     * @return its address
     * @throws NotRestored if there is no such project, or another session has its label
     */
    private String session(XnatJson sealed, Writes writes) throws IOException, InterruptedException {
        String project = field(sealed.session(), "project");
        String label = field(sealed.session(), "label");
        String person = field(sealed.subject(), "label");
        if (!Writes.isPlain(project) || !Writes.isPlain(label) || !Writes.isPlain(person)) {
            throw new NotRestored("xnat.json does not state usable labels of project, subject and session");
        }
        if (writes.find("the project", Xnat.path("projects", project)).isEmpty()) {
            throw new NotRestored("XNAT has no project %s, or hides it; create it first".formatted(shown(project)));
        }
        JsonNode subject = writes.ensure("the subject", Xnat.path("projects", project, "subjects", person), Map.of());
        Optional<JsonNode> there = writes.find("the session", Xnat.path("projects", project, "experiments", label));
        if (there.isPresent()) {
            boolean isSame = field(there.get(), "subject_ID").equals(field(subject, "ID"))
                    && !contradicts(sealed.session(), there.get());
            if (!isSame) {
                throw new NotRestored(
                        "XNAT has another session with this label: of another subject, or with another UID");
            }
        }
        String address = Xnat.path("projects", project, "subjects", person, "experiments", label);
        var _ = writes.ensure("the session", address, fields(sealed.session()));
        return address;
    }

    private static boolean contradicts(JsonNode ours, JsonNode theirs) {
        String our = field(ours, "UID");
        String their = field(theirs, "UID");
        return !our.isEmpty() && !their.isEmpty() && !our.equals(their);
    }

    private static Map<String, String> fields(JsonNode item) {
        Map<String, String> fields = new TreeMap<>();
        fields.put("xsiType", XnatJson.type(item));
        FIELDS.forEach(name -> fields.put(name, field(item, name)));
        return fields;
    }

    private void bring(XnatJson.Holder holder, String session, Writes writes) throws IOException, InterruptedException {
        String address = session + Xnat.path(holder.level(), holder.name()).substring("/data".length());
        String failed = tries.failure(false, () -> {
            if (!Writes.isPlain(holder.name())) {
                throw new NotRestored("its id cannot be a part of an address");
            }
            JsonNode there = writes.ensure(holder.shown(), address, fields(holder.item()));
            if (contradicts(holder.item(), there)) {
                throw new NotRestored("XNAT has another one with this id: its UID differs");
            }
        });
        if (failed != null) {
            tally.finding(XnatJson.PLACE, Problem.NOT_SENT, "%s: %s".formatted(holder.shown(), failed));
        } else {
            addresses.put(holder.level() + " " + holder.id(), address);
            tally.found(0, holder.level().equals("scans") ? 1 : 0);
        }
    }

    private void bring(JsonNode resource, Writes writes) throws IOException, InterruptedException {
        String label = text(resource, "label");
        String holder = addresses.get(text(resource, "level") + " " + text(resource, "holder"));
        @Nullable There[] there = new There[1];
        String failed = tries.failure(false, () -> {
            if (holder == null) {
                throw new NotRestored("what holds its resource was not restored");
            }
            if (resource.path("input").asBoolean(false)) {
                throw new NotRestored("it is an input of an assessor or reconstruction, which are not restored");
            }
            if (label.isEmpty() || !Writes.isPlain(label)) {
                throw new NotRestored("the label of its resource cannot be a part of an address");
            }
            String what = "resource " + shown(label);
            writes.ensureResource(
                    what,
                    holder,
                    label,
                    Map.of("format", text(resource, "format"), "content", text(resource, "content")));
            String address = holder + Xnat.path("resources", label).substring("/data".length());
            there[0] = new There(what, address, resource, writes.files(what, address), new ConcurrentLinkedQueue<>());
        });
        There found = there[0];
        try (Crew crew = new Crew(AT_ONCE)) {
            for (JsonNode file : resource.path("files")) {
                crew.start(() -> bring(file, found, failed, writes));
            }
            crew.join();
        }
        if (found != null && !found.sent().isEmpty()) {
            check(found, writes);
        }
    }

    /**
     * Restores a file.
     *
     * @param there null if its resource is not there
     * @param failed why not
     */
    private void bring(JsonNode file, @Nullable There there, @Nullable String failed, Writes writes)
            throws IOException, InterruptedException {
        FilePath place = XnatJson.place(file).orElse(null);
        Item item = place == null ? null : files.find(place);
        StoredCopy copy = item == null ? null : item.copy();
        if (place == null) {
            tally.finding(
                    XnatJson.PLACE,
                    Problem.NOT_SENT,
                    "file %s was listed by XNAT, but never delivered".formatted(shown(text(file, "name"))));
        } else if (copy != null) {
            String why = there == null
                    ? String.valueOf(failed)
                    : tries.failure(false, () -> send(text(file, "name"), place, copy, there, writes));
            if (why != null) {
                tally.notSent(place, Problem.NOT_SENT, why);
            }
        }
    }

    private void send(String name, FilePath place, StoredCopy copy, There there, Writes writes)
            throws IOException, InterruptedException {
        if (!Writes.isPlain(name)) {
            throw new NotRestored("xnat.json does not state its name");
        }
        try (Batch bytes = new Batch()) {
            site.into(new Throttled(bytes.append(), throttle), copy.place(), copy.digest());
            String address = Writes.file(there.address(), name);
            Optional<Digest> before =
                    there.listed().contains(name) ? writes.digest(there.what(), address) : Optional.empty();
            if (before.filter(copy.digest()::equals).isPresent()) {
                tally.verified(bytes.sizeBytes(), false);
            } else if (before.isPresent() && !replaces) {
                differs(place, "");
            } else {
                upload(new Sent(place, name, bytes.sizeBytes()), address, bytes, copy.digest(), there, writes);
            }
        } catch (ProvenRead.Differs e) {
            tally.notSent(place, Problem.MISMATCHED, "the copy is not what was verified; check the site's disks");
        } catch (RemoteException e) {
            tally.notSent(place, SiteReader.problem(e), "cannot be read at the site: " + e.getMessage());
        }
    }

    private void upload(Sent file, String address, Batch bytes, Digest digest, There there, Writes writes)
            throws IOException, InterruptedException {
        if (file.sizeBytes() == 0) {
            throw new NotRestored("XNAT accepts no empty files");
        }
        Map<String, String> fields = Map.of(
                "inbody",
                "true",
                "overwrite",
                replaces ? "true" : "",
                "format",
                text(there.sealed(), "format"),
                "content",
                text(there.sealed(), "content"));
        boolean isStored = writes.upload(there.what(), address, fields, bytes.whole());
        tally.moved(file.sizeBytes());
        Optional<Digest> now = writes.digest(there.what(), address);
        if (now.filter(digest::equals).isPresent()) {
            there.sent().add(file);
        } else if (!isStored) {
            throw new NotRestored("XNAT has a file of this name that its catalogue does not list, perhaps a part of an"
                    + " upload that was interrupted; check it, then repeat with --replace");
        } else if (now.isEmpty()) {
            throw new NotRestored("XNAT reports success, but does not have it: may its user write in the project?");
        } else {
            differs(file.place(), ", after it was sent");
        }
    }

    /** Counts what was sent, if it is listed under its name: XNAT may store a name in another form. */
    private void check(There there, Writes writes) throws IOException, InterruptedException {
        Set<String> listed = new HashSet<>();
        String failed = tries.failure(false, () -> listed.addAll(writes.files(there.what(), there.address())));
        for (Sent file : there.sent()) {
            if (listed.contains(file.name())) {
                tally.verified(file.sizeBytes(), true);
            } else {
                tally.notSent(
                        file.place(),
                        Problem.NOT_SENT,
                        failed == null ? "it was sent, but XNAT does not list it under its name" : failed);
            }
        }
    }

    private void differs(FilePath place, String when) {
        tally.differing();
        tally.finding(place, Problem.ARCHIVE_DIFFERS, "XNAT has other bytes under this name" + when);
    }

    @Override
    public Counts counts() {
        return tally.counts();
    }

    @Override
    public Copy.Progress progress() {
        return tally.progress();
    }

    @Override
    public void close() {
        site.close();
    }
}
