package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.record.Forgetting;
import dozo.record.Records;
import dozo.registry.Erasures;
import dozo.registry.Holds;
import dozo.registry.Holds.Hold;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.run.Runs.RunKind;
import dozo.send.Sender;
import dozo.send.SiteFolders;
import java.io.UncheckedIOException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Erases experiments whose erasure is approved and has waited: in the catalogue in one transaction, then at each site in the nights
 * there (ADR 0093). A night begins with it, when nothing reads or sends yet, and no other run is active. What is left to do is in
 * the database, so a process that died is continued by the next.
 */
@Component
record Erasing(
        JdbcClient jdbc,
        TransactionTemplate transaction,
        Erasures erasures,
        Holds holds,
        Forgetting forgetting,
        Records records,
        Ledger ledger,
        Findings findings,
        Runs runs,
        AtSite site,
        Optional<Collecting> collecting,
        InstantSource clock) {

    /** At a site that has this folder a night has been recorded: the right disk is mounted. */
    private static final FilePath USED = FilePath.of(".dozo/ledger");

    private static final Logger LOG = LoggerFactory.getLogger(Erasing.class);

    /** An erasure that may begin. */
    private record Due(long id, int experiment, int project, String subject) {}

    /**
     * An erasure that is not complete at the site.
     *
     * @param used whether the site must have {@link #USED}
     */
    private record Open(long id, String subject, boolean used) {}

    /** Begins what is due, and removes the folders of what has begun from the site. Returns the number of experiments. */
    int erase(NightFlow flow) throws JobInterruptedException, InterruptedException, RemoteException {
        if (runs.find(flow.run()).orElseThrow().kind() != RunKind.NIGHTLY_BACKUP) {
            return 0;
        }
        int erased = 0;
        for (Due due : due()) {
            erased += begin(flow, due) ? 1 : 0;
            flow.check();
        }
        for (Open open : open(flow.site(), false)) {
            remove(flow, open);
            flow.check();
        }
        return erased;
    }

    // NB: both clocks, because one that has jumped ahead must not end the waiting time.
    private List<Due> due() {
        return jdbc.sql("""
                        select x.erasure_id as id, x.experiment_id as experiment, x.project_id as project,
                               p.code || '/' || x.code as subject
                        from erasure x join project p using (project_id)
                        where x.not_before <= least(:now, now()) and x.withdrawn_at is null and x.begun_at is null
                        order by x.erasure_id
                        """).param("now", now()).query(Rows.of(Due.class)).list();
    }

    /** Erases an experiment at home. Returns false if something stands against it, or if it was withdrawn before its turn. */
    private boolean begin(NightFlow flow, Due due) {
        Optional<String> against;
        try {
            against = requireNonNull(transaction.execute(_ -> inCatalogue(due)));
        } catch (UncheckedIOException e) {
            // A finding also if it is withdrawn by now, because a part may have been removed.
            report(flow, due, "what was collected of it could not be removed: " + e.getMessage());
            return false;
        }
        if (against.isEmpty()) {
            LOG.info("run {}: erasure {} of {} has begun", flow.run(), due.id, due.subject);
            return true;
        }
        if (isWithdrawn(due)) {
            LOG.info("run {}: erasure {} of {} was withdrawn before its turn", flow.run(), due.id, due.subject);
        } else {
            report(flow, due, against.get());
        }
        return false;
    }

    private boolean isWithdrawn(Due due) {
        return jdbc.sql("select withdrawn_at is not null from erasure where erasure_id = :id")
                .param("id", due.id)
                .query(Boolean.class)
                .single();
    }

    private void report(NightFlow flow, Due due, String why) {
        jdbc.sql("update erasure set message = :why where erasure_id = :id and withdrawn_at is null")
                .param("id", due.id)
                .param("why", why)
                .update();
        findings.add(flow.run(), finding(due.experiment, due.id, due.subject, why));
    }

    /**
     * Erases an experiment in the catalogue, and remembers at which sites it is to be removed. The project is locked, so that no hold
     * is placed meanwhile, and the experiment, so that nothing refers to it any more.
     *
     * @return what stands against it; empty: it is erased
     */
    private Optional<String> inCatalogue(Due due) {
        lock("select from project where project_id = :id for update", due.project);
        lock("select from experiment where experiment_id = :id for update", due.experiment);
        Optional<String> against = against(due);
        if (against.isPresent()) {
            return against;
        }
        int begun = jdbc.sql("""
                        update erasure set begun_at = :now, message = '',
                               manifests = (select count(*) from manifest where experiment_id = :experiment),
                               files = coalesce(last.files, 0), bytes = coalesce(last.bytes, 0),
                               receipts = (select count(*) from receipt where experiment_id = :experiment)
                        from (select 1) one
                        left join (select files, bytes from manifest where experiment_id = :experiment
                                   order by manifest_no desc limit 1) last on true
                        where erasure_id = :id and withdrawn_at is null and begun_at is null
                        """)
                .param("id", due.id)
                .param("experiment", due.experiment)
                .param("now", now())
                .update();
        if (begun == 0) {
            return Optional.of("it was withdrawn");
        }
        List<String> sites = jdbc.sql("""
                        with open as (
                            insert into erasure_site (erasure_id, site_id, files, bytes)
                            select :id, s.site_id, coalesce(t.files_stored, 0), coalesce(t.bytes_stored, 0)
                            from site s left join protection t on t.site_id = s.site_id and t.experiment_id = :experiment
                            where s.removed_at is null
                               or exists (select from transfer_unit u
                                          where u.experiment_id = :experiment and u.site_id = s.site_id)
                               or exists (select from receipt r where r.experiment_id = :experiment and r.site_id = s.site_id)
                               or exists (select from found_copy f
                                          where f.experiment_id = :experiment and f.site_id = s.site_id)
                            returning site_id
                        )
                        select name from open join site using (site_id) order by name
                        """)
                .param("id", due.id)
                .param("experiment", due.experiment)
                .query((row, n) -> row.getString(1))
                .list();
        // NB: within the transaction, when nothing stands against it any more. If it is not committed, it is repeated.
        collecting.ifPresent(origins -> origins.erase(due.experiment));
        forgetting.forget(due.experiment);
        records.renew();
        ledger.append(Ledger.SYSTEM, "erasure.begun", due.subject, Map.of("erasure", due.id, "sites", sites));
        return Optional.empty();
    }

    private void lock(String sql, int id) {
        jdbc.sql(sql).param("id", id).query().listOfRows();
    }

    private Optional<String> against(Due due) {
        Optional<Hold> hold = holds.on(due.experiment);
        if (hold.isPresent()) {
            return Optional.of(
                    "hold %d stands on %s".formatted(hold.get().id(), hold.get().subject()));
        }
        return jdbc.sql("select min(restore_id) from restore where experiment_id = :experiment and ended_at is null")
                .param("experiment", due.experiment)
                .query((row, n) -> Optional.ofNullable(row.getObject(1, Long.class)))
                .single()
                .map("restore %d of it is under way"::formatted);
    }

    private List<Open> open(int siteId, boolean removed) {
        return jdbc.sql("""
                        select x.erasure_id as id, p.code || '/' || x.code as subject,
                               a.files > 0 or exists (select from ledger l
                                                      where l.action = 'ledger.anchored' and l.subject = s.name) as used
                        from erasure_site a join erasure x using (erasure_id) join project p using (project_id)
                        join site s using (site_id)
                        where a.site_id = :site and a.done_at is null and (a.removed_at is not null) = :removed
                        order by x.erasure_id
                        """)
                .param("site", siteId)
                .param("removed", removed)
                .query(Rows.of(Open.class))
                .list();
    }

    private void remove(NightFlow flow, Open open)
            throws JobInterruptedException, InterruptedException, RemoteException {
        try {
            site.of(flow, sender -> {
                remove(sender, open);
                return null;
            });
            tried(flow, open, "", now());
        } catch (RemoteException e) {
            failed(flow, open, e);
        }
    }

    private static void remove(Sender sender, Open open) throws RemoteException, InterruptedException {
        if (open.used && !sender.isFolder(USED)) {
            throw new RemoteException(
                    Reason.REFUSED, "the site has no folder %s: is its disk mounted?".formatted(USED));
        }
        for (FilePath folder : folders(open.subject)) {
            sender.erase(folder);
        }
    }

    /** Returns all folders that an experiment has at a site. */
    private static List<FilePath> folders(String experiment) {
        SiteFolders folders = SiteFolders.of(experiment);
        return List.of(folders.bag(), folders.versions(), folders.incoming(), Records.FOLDER.resolve(experiment));
    }

    /**
     * Ends erasures whose folders are gone from the site: removes the records of the catalogue that still have what was erased. To be
     * called after the night has recorded the catalogue.
     */
    void conclude(NightFlow flow) throws JobInterruptedException, InterruptedException, RemoteException {
        List<Open> all = open(flow.site(), true);
        for (Open open : all) {
            try {
                site.of(flow, sender -> {
                    conclude(flow.site(), sender, open);
                    return null;
                });
                erasures.done(open.id, flow.site());
                LOG.info("run {}: nothing of erasure {} is left at the site", flow.run(), open.id);
            } catch (RemoteException e) {
                failed(flow, open, e);
            }
        }
    }

    private void conclude(int siteId, Sender sender, Open open) throws RemoteException, InterruptedException {
        Set<FilePath> there = sender.reader().names(Records.FOLDER).keySet();
        sender.erase(records.superseded(siteId, there)
                .orElseThrow(() -> new RemoteException(
                        Reason.REFUSED,
                        "the records of the catalogue at the site, which still have it, were not written anew")));
        for (FilePath folder : folders(open.subject)) {
            if (sender.isFolder(folder)) {
                throw new RemoteException(Reason.REFUSED, "the folder %s is there again".formatted(folder));
            }
        }
    }

    /** A site that is away fails the run, as in every other step; anything else is a finding, and the next night tries again. */
    private void failed(NightFlow flow, Open open, RemoteException why) throws RemoteException {
        if (why.retryable()) {
            throw why;
        }
        tried(flow, open, String.valueOf(why.getMessage()), null);
        findings.add(
                flow.run(),
                finding(null, open.id, open.subject, "it could not be removed from the site: " + why.getMessage()));
    }

    /** @param removedAt null: the folders are not gone, or may be there again; the next night looks */
    private void tried(NightFlow flow, Open open, String message, @Nullable Timestamp removedAt) {
        jdbc.sql("""
                        update erasure_site set tried_at = :now, message = :message, removed_at = :removed
                        where erasure_id = :id and site_id = :site and done_at is null
                        """)
                .param("id", open.id)
                .param("site", flow.site())
                .param("now", now())
                .param("message", message)
                .param("removed", removedAt, Types.TIMESTAMP)
                .update();
    }

    private static Finding finding(@Nullable Integer experiment, long erasure, String subject, String why) {
        return new Finding(experiment, Problem.UNERASED, "erasure %d of %s: %s".formatted(erasure, subject, why));
    }

    private Timestamp now() {
        return Timestamp.from(clock.instant());
    }
}
