package dozo.rebuild;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.record.DamagedRecord;
import dozo.record.Loading;
import dozo.record.Loading.Loaded;
import dozo.record.RecordsAtSite;
import dozo.registry.Code;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.Lanes;
import dozo.remote.Patience;
import dozo.remote.RemoteException;
import dozo.remote.RootMark;
import dozo.remote.SiteAddress;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import dozo.run.TransferSettings;
import dozo.send.Crew;
import dozo.send.SiteReader;
import dozo.transfer.OfferedLooks;
import dozo.transfer.TransferUnits;
import dozo.verify.FoundCopies;
import dozo.verify.FoundCopies.Found;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Rebuilds the catalogue from a site, for a centre that has lost everything else. First the lists are loaded, then every
 * copy is verified at the site. Nothing is written there. Killed anywhere and called again, it continues: an experiment
 * that is in the catalogue is not loaded again, and what was verified is no longer claimed (ADR 0070).
 */
@Component
public class Rebuild {

    /** Says in the service what continues the run. */
    static final String UNFINISHED =
            "the catalogue is being rebuilt: stop the service and run dozo rebuild-catalogue until it has finished";

    private static final String UNUSABLE = "the records of the catalogue cannot be used";

    /** Claims that one command verifies: some thousand files. */
    private static final int CLAIMS_AT_ONCE = 4;

    private static final int LANES_USUAL = 4;

    private final Runs runs;
    private final OfferedLooks looks;
    private final Sites sites;
    private final FoundBags foundBags;
    private final FoundCopies foundCopies;
    private final FoundVerification verification;
    private final Loading loading;
    private final TransferUnits units;
    private final Findings findings;
    private final Ledger ledger;
    private final TransferSettings settings;
    private final JdbcClient jdbc;
    private final TransactionTemplate transaction;

    private final LongAdder experimentsDone = new LongAdder();
    private final LongAdder entriesLoaded = new LongAdder();
    private final LongAdder entriesVerified = new LongAdder();
    private final LongAdder bytesVerified = new LongAdder();
    private volatile @Nullable Loaded records;
    private volatile @Nullable String unusable;
    private volatile long experimentsFound;
    private volatile long entriesToVerify;
    private volatile Duration lists = Duration.ZERO;
    private volatile Duration digests = Duration.ZERO;

    /**
     * What opens records.
     *
     * @param identity the text of a file with private keys
     * @param signers SHA-256 of the keys, in DER, that may have signed records; empty: any
     */
    public record RecordKey(String identity, Set<Digest> signers) {}

    /**
     * How far this process has come.
     *
     * @param records what was loaded from the records of the catalogue; null: none were
     * @param found experiments at the site; 0 before they are known
     * @param done those of them whose lists are loaded
     * @param entries loaded from lists
     * @param toVerify entries; 0 before all lists are loaded
     * @param lists how long loading the lists took; zero before that
     * @param digests how long verifying took; zero before that
     */
    public record Progress(
            @Nullable Loaded records,
            long found,
            long done,
            long entries,
            long toVerify,
            long verified,
            long bytesVerified,
            Duration lists,
            Duration digests) {}

    Rebuild(
            Runs runs,
            OfferedLooks looks,
            Sites sites,
            FoundBags foundBags,
            FoundCopies foundCopies,
            FoundVerification verification,
            Loading loading,
            TransferUnits units,
            Findings findings,
            Ledger ledger,
            TransferSettings settings,
            JdbcClient jdbc,
            TransactionTemplate transaction) {
        this.runs = runs;
        this.looks = looks;
        this.sites = sites;
        this.foundBags = foundBags;
        this.foundCopies = foundCopies;
        this.verification = verification;
        this.loading = loading;
        this.units = units;
        this.findings = findings;
        this.ledger = ledger;
        this.settings = settings;
        this.jdbc = jdbc;
        this.transaction = transaction;
    }

    public Progress progress() {
        return new Progress(
                records,
                experimentsFound,
                experimentsDone.sum(),
                entriesLoaded.sum(),
                entriesToVerify,
                entriesVerified.sum(),
                bytesVerified.sum(),
                lists,
                digests);
    }

    /**
     * Begins or continues the rebuild, and returns its run when it has ended.
     *
     * @param name the site's name in the catalogue; if records are loaded, it keeps the name that it had
     * @param key what opens the records of the catalogue; null: only the bags are read
     * @throws Refusal if the database contains anything but an unfinished rebuild from this site
     * @throws IOException if the site cannot be used; the same call continues
     */
    public Run run(String name, SiteAddress address, @Nullable RecordKey key) throws IOException, InterruptedException {
        return run(name, address, key, false);
    }

    /**
     * Does the same, or with {@code listsOnly} only the first part: then the run goes on, and the service can restore what the
     * lists claim, because a restore verifies what it gets.
     */
    public Run run(String name, SiteAddress address, @Nullable RecordKey key, boolean listsOnly)
            throws IOException, InterruptedException {
        Code.checked("site", name);
        Site site = open(begun(name, address, key), address);
        Run run = runs.goingOn().orElseThrow();
        try (Lanes lanes = Lanes.to(site.address(), settings.lanes() == 0 ? LANES_USUAL : settings.lanes())) {
            RootMark.at(lanes.next()).ifPresent(mark -> sites.keepMark(site, mark));
            SiteReader reader = SiteReader.readOnly(lanes, new Patience(settings.patience()));
            long began = System.nanoTime();
            if (!looks.isLooked(run.id())) {
                load(run.id(), site.id(), reader);
                looks.looked(run.id());
                lists = Duration.ofNanos(System.nanoTime() - began);
            }
            if (listsOnly) {
                return run;
            }
            began = System.nanoTime();
            verify(run.id(), site.id(), reader);
            digests = Duration.ofNanos(System.nanoTime() - began);
        } catch (RemoteException e) {
            runs.say(run.id(), "%s. Last: %s".formatted(UNFINISHED, e.getMessage()));
            throw e;
        }
        return end(run.id(), site);
    }

    /**
     * Checks that the database is empty, and loads records into it, or that it has what an earlier call left. Returns the
     * site's name.
     *
     * @throws Refusal if the database has anything else
     */
    private String begun(String name, SiteAddress address, @Nullable RecordKey key)
            throws IOException, InterruptedException {
        Optional<Run> left = runs.goingOn();
        boolean isAnother = left.filter(run -> run.kind() != RunKind.REBUILD).isPresent();
        if (isAnother || (left.isEmpty() && !foundCopies.any())) {
            requireEmpty();
            return key == null ? name : load(name, address, key);
        }
        if (left.isEmpty() && !isAny("select exists (select from run where kind = 'rebuild')")) {
            throw Refusal.conflict(
                    "database",
                    "an earlier call was interrupted while it loaded records; begin again with an empty database");
        }
        left.ifPresent(run -> {
            if (run.state() != RunState.RUNNING) {
                throw Refusal.conflict("run", "run %d is active; stop it first", run.id());
            }
            if (key != null && !isWithRecords()) {
                throw Refusal.conflict(
                        "database",
                        "this rebuild began without a recovery key; begin again with an empty database, or continue without the key");
            }
        });
        requireSite(name);
        return name;
    }

    /**
     * Loads the records of the catalogue. What they say is not read from bags again: those are compared. Returns the name that the site
     * has by them; if none can be used, the given one.
     */
    private String load(String name, SiteAddress address, RecordKey key) throws IOException, InterruptedException {
        try (RecordsAtSite files = new RecordsAtSite(address)) {
            Loaded loaded = loading.load(files, key.identity(), key.signers());
            records = loaded;
            return sites.find(loaded.siteId()).orElseThrow().name();
        } catch (DamagedRecord e) {
            unusable = e.getMessage();
            return name;
        } catch (IOException e) {
            if (isUsed()) {
                throw Refusal.conflict(
                        "database",
                        "the records were not loaded completely: %s; begin again with an empty database",
                        String.valueOf(e.getMessage()));
            }
            throw e;
        }
    }

    private Site open(String name, SiteAddress address) {
        return requireNonNull(transaction.execute(_ -> {
            Site site = sites.save(name, address, Ledger.SYSTEM);
            if (runs.goingOn().isEmpty()) {
                Run run = runs.open(RunKind.REBUILD, site, Ledger.SYSTEM);
                runs.say(run.id(), UNFINISHED);
                findings.add(run.id(), notLoaded());
                Loaded loaded = records;
                if (loaded != null) {
                    ledger.append(
                            Ledger.SYSTEM,
                            "catalogue.loaded",
                            name,
                            Map.of("written", loaded.writtenAt(), "signed_with", loaded.signedWith()));
                }
            }
            return site;
        }));
    }

    /** Returns findings for the records that cannot be used; of experiments the bags are read instead. */
    private List<Finding> notLoaded() {
        Loaded loaded = records;
        if (loaded == null) {
            return unusable == null
                    ? List.of()
                    : List.of(new Finding(
                            null,
                            Problem.NOT_REBUILT,
                            "%s: %s; only the bags were read".formatted(UNUSABLE, unusable)));
        }
        List<Finding> found = new ArrayList<>();
        loaded.unusable().forEach(why -> found.add(new Finding(null, Problem.NOT_REBUILT, why)));
        loaded.broken()
                .forEach(broken -> found.add(new Finding(
                        broken.id(),
                        Problem.NOT_REBUILT,
                        "the records of %s cannot be used: %s; its bag was read instead"
                                .formatted(broken.experiment(), broken.reason()))));
        return found;
    }

    /** Returns whether the first call had a key: then records were loaded, or it is a finding that they cannot be. */
    private boolean isWithRecords() {
        return isAny("""
                select exists (select from ledger where action = 'catalogue.loaded')
                    or exists (select from finding where starts_with(message, '%s'))
                """.formatted(UNUSABLE));
    }

    private void requireEmpty() {
        if (isUsed()) {
            throw Refusal.conflict(
                    "database",
                    "the database is in use: a catalogue is rebuilt only into an empty one; set another DOZO_DB_URL or DOZO_WORK");
        }
    }

    private boolean isUsed() {
        return isAny(
                "select exists (select from project) or exists (select from run) or exists (select from experiment)");
    }

    private boolean isAny(String question) {
        return jdbc.sql(question).query(Boolean.class).single();
    }

    private void requireSite(String name) {
        boolean same = jdbc.sql("""
                        select exists (select from site where name = :name
                                       and (site_id in (select site_id from run where ended_at is null)
                                            or site_id in (select site_id from found_copy)))
                        """).param("name", name).query(Boolean.class).single();
        if (!same) {
            throw Refusal.conflict("site", "the unfinished rebuild is from another site than %s", name);
        }
    }

    private void load(long run, int site, SiteReader reader) throws IOException, InterruptedException {
        List<String> names = foundBags.find(run, reader);
        experimentsFound = names.size();
        try (Crew crew = new Crew(settings.partitions())) {
            for (String name : names) {
                crew.start(() -> {
                    entriesLoaded.add(foundBags.load(run, site, name, reader));
                    experimentsDone.increment();
                });
            }
            crew.join();
        }
    }

    private void verify(long run, int site, SiteReader reader) throws IOException, InterruptedException {
        entriesToVerify = foundCopies.entries(site);
        for (int experiment : units.toConclude(run, site)) {
            // A dead process had verified them.
            verification.conclude(run, site, experiment);
        }
        int after = 0;
        Optional<Integer> next = foundCopies.nextExperiment(site, after);
        while (next.isPresent()) {
            after = next.get();
            verify(run, site, after, reader);
            next = foundCopies.nextExperiment(site, after);
        }
    }

    private void verify(long run, int site, int experiment, SiteReader reader)
            throws IOException, InterruptedException {
        // What is unknown is claimed again with a higher number, and is not read twice by one call.
        long last = foundCopies.last(experiment, site);
        try (Crew crew = new Crew(settings.partitions())) {
            List<Found> page = foundCopies.page(experiment, site, 0, last, CLAIMS_AT_ONCE);
            while (!page.isEmpty()) {
                List<Found> claims = page;
                crew.start(() -> {
                    var verified = verification.verify(run, site, experiment, claims, reader);
                    entriesVerified.add(verified.entries());
                    bytesVerified.add(verified.bytes());
                });
                page = foundCopies.page(experiment, site, page.getLast().id(), last, CLAIMS_AT_ONCE);
            }
            crew.join();
        }
        if (foundCopies.waiting(List.of(experiment), site).isEmpty()) {
            verification.conclude(run, site, experiment);
        } else {
            verification.count(experiment);
        }
    }

    private Run end(long run, Site site) {
        return requireNonNull(transaction.execute(_ -> {
            ledger.append(
                    Ledger.SYSTEM,
                    "catalogue.rebuilt",
                    site.name(),
                    Map.of(
                            "run", run,
                            "experiments",
                                    jdbc.sql("select count(*) from experiment")
                                            .query(Long.class)
                                            .single(),
                            "entries", units.verified(run).entries(),
                            "unknown", foundCopies.entries(site.id()),
                            "findings", findings.count(run)));
            runs.close(run, RunState.COMPLETE, "");
            return runs.find(run).orElseThrow();
        }));
    }
}
