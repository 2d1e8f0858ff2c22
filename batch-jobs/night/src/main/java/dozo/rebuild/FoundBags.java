package dozo.rebuild;

import static java.util.Objects.requireNonNull;

import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.manifest.Ingest;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.manifest.SourceLook;
import dozo.manifest.SourceLook.Ingested;
import dozo.registry.Code;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import dozo.send.SiteFolders;
import dozo.send.SiteReader;
import dozo.source.Listings;
import dozo.verify.Bags;
import dozo.verify.Contents;
import dozo.verify.FoundCopies;
import dozo.verify.Receipts;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Pattern;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Finds the bags at a site and loads each into the catalogue: its list gives the digests, the listing of its data folder
 * the entries. All of a bag is one transaction, so whoever continues skips what is there. Nothing of it is safe yet.
 */
@Component
record FoundBags(
        Experiments experiments,
        Ingest ingest,
        Manifests manifests,
        Receipts receipts,
        FoundCopies foundCopies,
        Contents contents,
        Bags bags,
        Findings findings,
        Ledger ledger,
        TransactionTemplate transaction) {

    private static final FilePath OURS = FilePath.of(".dozo");

    /** What a version's folder contains of the source, and not of tag files. */
    private static final Pattern IN_VERSION = Pattern.compile("[0-9]+/data/.*", Pattern.DOTALL);

    /** How often a bag is read from its beginning, because a lane was lost in the middle of a folder. */
    private static final int TRIES = 3;

    /**
     * Returns the experiments that have a folder at the site, as {@code project/experiment}, and reports all other folders
     * and files.
     *
     * @throws RemoteException if nothing is there at all: a missing mount, or another root
     */
    List<String> find(long run, SiteReader reader) throws RemoteException, InterruptedException {
        List<String> found = new ArrayList<>();
        List<Finding> foreign = new ArrayList<>();
        for (Map.Entry<FilePath, RemoteFacts> project : inOrder(reader, FilePath.ROOT)) {
            if (project.getKey().equals(OURS)) {
                continue;
            }
            if (!isOurs(project)) {
                foreign.add(foreign(project.getKey()));
                continue;
            }
            for (Map.Entry<FilePath, RemoteFacts> experiment : inOrder(reader, project.getKey())) {
                if (isOurs(experiment)) {
                    found.add(experiment.getKey().toString());
                } else {
                    foreign.add(foreign(experiment.getKey()));
                }
            }
        }
        if (found.isEmpty()) {
            throw new RemoteException(
                    Reason.REFUSED,
                    "the site's root contains no experiment: is this the right root, and is its file system mounted?");
        }
        // A site may still have what was erased elsewhere.
        for (String erased : experiments.erased(found)) {
            found.remove(erased);
            foreign.add(new Finding(
                    null,
                    Problem.UNERASED,
                    "experiment %s was erased and is left out; its folder is still, or again, at the site"
                            .formatted(erased)));
        }
        findings.add(run, foreign);
        return found;
    }

    private static Iterable<Map.Entry<FilePath, RemoteFacts>> inOrder(SiteReader reader, FilePath folder)
            throws RemoteException, InterruptedException {
        return new TreeMap<>(reader.names(folder)).entrySet();
    }

    private static boolean isOurs(Map.Entry<FilePath, RemoteFacts> there) {
        return there.getValue().kind() == Kind.DIRECTORY
                && Code.isCode(FilePath.render(there.getKey().name()));
    }

    private static Finding foreign(FilePath path) {
        return notRebuilt(path, "%s is no folder of an experiment; it was not read".formatted(path));
    }

    private static Finding notRebuilt(FilePath path, String message) {
        return new Finding(null, Problem.NOT_REBUILT, path, message);
    }

    /**
     * Loads an experiment's bag, unless the catalogue has the experiment already: then its tag files are compared. A
     * folder that is no complete bag is a finding. Returns the number of entries loaded.
     */
    long load(long run, int site, String name, SiteReader reader) throws IOException, InterruptedException {
        Bag bag;
        try {
            bag = Bag.read(reader, name);
            Optional<Experiment> registered = experiments.find(name);
            if (registered.isPresent() && registered.get().names().areCodes() != bag.coded()) {
                throw new BrokenBag("the catalogue knows other names of its files");
            }
            Optional<Experiment> known = registered.filter(
                    experiment -> manifests.current(experiment.id()).isPresent());
            if (known.isPresent()) {
                compare(run, site, known.get(), bag);
                return 0;
            }
            try (BagList list = bag.list(reader);
                    BagContent content = bag.content(reader)) {
                return load(run, site, name, bag, list, content, reader);
            }
        } catch (BrokenBag broken) {
            findings.add(
                    run,
                    notRebuilt(FilePath.of(name), "experiment %s was not read: %s".formatted(name, broken.message())));
            return 0;
        }
    }

    private void compare(long run, int site, Experiment experiment, Bag bag) {
        if (bag.tagFiles().equals(bags.tagFiles(experiment.id(), site))) {
            return;
        }
        transaction.executeWithoutResult(_ -> {
            bags.writeAgain(experiment.id(), site);
            findings.add(
                    run,
                    new Finding(
                            experiment.id(),
                            Problem.TAGS_ALTERED,
                            "the tag files of %s at the site are not those that the catalogue knows; the next night writes them again"
                                    .formatted(experiment.name())));
        });
    }

    private long load(long run, int site, String name, Bag bag, BagList list, BagContent content, SiteReader reader)
            throws IOException, InterruptedException {
        String[] codes = name.split("/", 2);
        Experiment experiment = experiments.registerFound(codes[0], codes[1], bag.coded(), Ledger.SYSTEM);
        Told told = new Told(experiment.id());
        list.index((problem, message) -> told.add(problem, null, message));
        try (SourceLook look = look(experiment, list, told, reader)) {
            list.missing((path, digest) -> told.add(
                    Problem.MISSING,
                    path,
                    "%s: the bag lists it with digest %s, and it is not at the site".formatted(path, digest)));
            addVersions(experiment, reader, told);
            return requireNonNull(
                    transaction.execute(_ -> keep(run, site, experiment, bag, list, content, look, told)));
        }
    }

    /** Lists the data folder. Only listed files become entries: nobody has verified others. */
    private SourceLook look(Experiment experiment, BagList list, Told told, SiteReader reader)
            throws IOException, InterruptedException {
        FilePath data = SiteFolders.of(experiment.name()).data();
        for (int i = 1; ; i++) {
            IOException[] lost = new IOException[1];
            SourceLook look = ingest.look(
                    experiment,
                    requireNonNull(ingest.known(new int[] {experiment.id()}).get(experiment.id())),
                    (Ingest.Walk) listings -> {
                        try {
                            reader.walk(data, new OnlyListed(listings, list, told));
                        } catch (IOException e) {
                            lost[0] = e;
                        }
                    },
                    new LongAdder());
            if (lost[0] == null) {
                return look;
            }
            look.close();
            if (i == TRIES || !(lost[0] instanceof RemoteException site && site.retryable())) {
                throw lost[0];
            }
        }
    }

    private static void addVersions(Experiment experiment, SiteReader reader, Told told)
            throws RemoteException, InterruptedException {
        FilePath versions = SiteFolders.of(experiment.name()).versions();
        int cut = versions.bytes().length + 1;
        long[] count = new long[1];
        reader.list(versions, (path, facts) -> {
            boolean isContent = facts.kind() == Kind.FILE || facts.kind() == Kind.LINK;
            count[0] += isContent
                            && IN_VERSION
                                    .matcher(path.toString().substring(cut))
                                    .matches()
                    ? 1
                    : 0;
        });
        if (count[0] > 0) {
            told.add(
                    Problem.NOT_REBUILT,
                    null,
                    "%,d earlier versions of files stay at the site, but are not in the catalogue: a bag does not list them"
                            .formatted(count[0]));
        }
    }

    private long keep(
            long run,
            int site,
            Experiment experiment,
            Bag bag,
            BagList list,
            BagContent content,
            SourceLook look,
            Told told) {
        Ingested ingested = look.sealFound(bag.manifest());
        if (!ingested.sealed()) {
            told.add(
                    Problem.NOT_REBUILT,
                    null,
                    "nothing that the bag of %s lists is there".formatted(experiment.name()));
        }
        if (ingested.sealed()) {
            contents.addFound(
                    experiment.id(),
                    each -> content.each((problem, message) -> told.add(problem, null, message), each));
        }
        findings.add(run, ingested.findings());
        findings.add(run, told.findings());
        if (!ingested.sealed()) {
            return 0L;
        }
        receipts.carryOver(experiment.id());
        foundCopies.addAll(experiment.id(), site, bag.manifest(), path -> requireNonNull(list.digest(path)));
        bags.written(Map.of(experiment.id(), bag.tagFiles()), site);
        Manifest manifest = manifests.current(experiment.id()).orElseThrow();
        ledger.append(
                Ledger.SYSTEM,
                "experiment.found",
                experiment.name() + "#" + manifest.number(),
                Map.of(
                        "run", run,
                        "bagging_date", bag.day(),
                        "files", manifest.files(),
                        "bytes", manifest.bytes(),
                        "folders", manifest.folders(),
                        "links", manifest.links(),
                        "missing", told.count(Problem.MISSING),
                        "unlisted", told.count(Problem.UNEXPECTED)));
        return manifest.entries();
    }

    /** Passes on what a bag's data folder contains, except for files that the bag does not list. */
    private record OnlyListed(Listings to, BagList list, Told told) implements Listings {

        @Override
        public Listing folder(FilePath folder) throws IOException, InterruptedException {
            Listing listing = to.folder(folder);
            return new Listing() {
                @Override
                public void entry(byte[] name, Facts facts) throws IOException, InterruptedException {
                    // A listed link leads to a listed file.
                    boolean listed = facts.kind() != EntryKind.DIRECTORY && list.take(folder.resolve(name)) != null;
                    if (listed || facts.kind() != EntryKind.FILE) {
                        listing.entry(name, facts);
                    }
                    if (!listed && facts.kind() == EntryKind.FILE) {
                        FilePath path = folder.resolve(name);
                        told.add(
                                Problem.UNEXPECTED,
                                path,
                                "%s: is at the site, but the bag does not list it, so nobody has verified it; it is left alone"
                                        .formatted(path));
                    }
                }

                @Override
                public void end() throws IOException, InterruptedException {
                    listing.end();
                }
            };
        }

        @Override
        public void problem(FilePath path, Problem problem, String message) throws IOException, InterruptedException {
            to.problem(path, problem, message);
        }
    }
}
