package dozo.run;

import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.SiteLanes;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.TuningStart;
import dozo.run.AtSite.SourceAway;
import dozo.send.CopiesAtSite;
import dozo.send.CopiesAtSite.Place;
import dozo.send.Outcome.Verified;
import dozo.send.Route;
import dozo.send.SiteCopy;
import dozo.send.Unit;
import dozo.transfer.ClaimedUnits.Claim;
import dozo.verify.Copies;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The replications: runs that copy experiments from one site to another. A replication is a backup whose source is the
 * verified copies at a site. Its experiments are stored like those of a retry (ADR 0073).
 */
@Component
public class Replications {

    private final JdbcClient jdbc;
    private final Sites sites;
    private final Projects projects;
    private final Experiments experiments;
    private final Copies copies;
    private final TransferSettings settings;
    private final SiteLanes lanes;
    private final Map<Long, Optional<Site>> sources = new ConcurrentHashMap<>();
    private final Map<Long, Lanes> open = new ConcurrentHashMap<>();

    Replications(
            JdbcClient jdbc,
            Sites sites,
            Projects projects,
            Experiments experiments,
            Copies copies,
            TransferSettings settings,
            SiteLanes lanes) {
        this.jdbc = jdbc;
        this.sites = sites;
        this.projects = projects;
        this.experiments = experiments;
        this.copies = copies;
        this.settings = settings;
        this.lanes = lanes;
    }

    record Asked(
            Site from,
            Site to,
            @Nullable String project,
            @Nullable Experiment experiment,
            boolean sourceGone) {}

    /**
     * Returns what a request stands for.
     *
     * @throws Refusal if it is invalid, or there is nothing to copy
     */
    Asked checked(ReplicationRequest request) {
        Site from = sites.findEvenRemoved(request.from())
                .orElseThrow(() -> new Refusal("from", "site \"%s\" does not exist", request.from()));
        Site to = sites.find(request.to())
                .orElseThrow(() -> new Refusal("to", "site \"%s\" does not exist", request.to()));
        if (from.id() == to.id()) {
            throw new Refusal("to", "expected a site other than %s, which is read", from.name());
        }
        String project = request.project();
        if (project == null && request.experiment() == null && !request.sourceGone()) {
            throw new Refusal("experiment", "choose an experiment, a project, or all whose source is gone");
        }
        if (project != null && request.experiment() != null) {
            throw new Refusal("experiment", "choose an experiment or a project, not both");
        }
        if (project != null && projects.find(project).isEmpty()) {
            throw new Refusal("project", "project %s does not exist", project);
        }
        Experiment experiment = request.experiment() == null ? null : experiment(request.experiment());
        Asked asked = new Asked(from, to, project, experiment, request.sourceGone());
        refuseNothing(asked);
        return asked;
    }

    private Experiment experiment(String name) {
        return experiments
                .find(name)
                .orElseThrow(() -> new Refusal("experiment", "experiment %s does not exist", name));
    }

    private void refuseNothing(Asked asked) {
        boolean any =
                chosen("select exists (select %s)", asked).query(Boolean.class).single();
        if (any) {
            return;
        }
        if (asked.experiment == null) {
            throw Refusal.conflict(
                    "from",
                    "there is no such experiment with verified copies at site %s that is incomplete at site %s",
                    asked.from.name(),
                    asked.to.name());
        }
        throw isStored(asked.experiment, asked.from)
                ? Refusal.conflict(
                        "experiment",
                        "experiment %s is complete at site %s, or its source is there",
                        asked.experiment.name(),
                        asked.to.name())
                : Refusal.conflict(
                        "experiment",
                        "site %s has no verified copies of experiment %s",
                        asked.from.name(),
                        asked.experiment.name());
    }

    private boolean isStored(Experiment experiment, Site site) {
        return jdbc.sql("select exists (select from stored where experiment_id = :experiment and site_id = :site)")
                .param("experiment", experiment.id())
                .param("site", site.id())
                .query(Boolean.class)
                .single();
    }

    /** Stores the experiments of a replication: those with copies at the one site that are incomplete at the other. */
    void choose(long runId, Asked asked) {
        chosen("insert into run_experiment (run_id, experiment_id) select :run, e.experiment_id %s", asked)
                .param("run", runId)
                .update();
    }

    private JdbcClient.StatementSpec chosen(String use, Asked asked) {
        return jdbc.sql(use.formatted("""
                        from experiment e join project p using (project_id)
                        where (:project::text is null or p.code = :project)
                          and (:experiment::integer is null or e.experiment_id = :experiment)
                          and exists (select from stored s where s.experiment_id = e.experiment_id and s.site_id = :from)
                          and not exists (select from protection t
                                          where t.experiment_id = e.experiment_id and t.site_id = :to
                                            and t.entries = t.entries_safe)
                          and (not :sourceGone
                               or exists (select from finding f
                                          where f.experiment_id = e.experiment_id and f.superseded_by is null
                                            and f.reason in ('SOURCE_MISSING', 'SOURCE_EMPTY')))
                        """))
                .param("project", asked.project)
                .param("experiment", asked.experiment == null ? null : asked.experiment.id())
                .param("from", asked.from.id())
                .param("to", asked.to.id())
                .param("sourceGone", asked.sourceGone);
    }

    /** Returns the site that a run reads; empty: it is no replication. Asks the database once: every unit needs it. */
    Optional<Site> source(long runId) {
        return sources.computeIfAbsent(runId, this::find);
    }

    private Optional<Site> find(long runId) {
        return jdbc.sql("select from_site_id from run where run_id = :run and from_site_id is not null")
                .param("run", runId)
                .query((row, n) -> row.getInt(1))
                .optional()
                .flatMap(sites::find);
    }

    /**
     * Connects to the site that a replication reads; does nothing for other runs.
     *
     * @throws SourceAway if the site was lost after it had answered
     * @throws RemoteException if the site cannot be used
     */
    void connect(long runId) throws RemoteException, SourceAway, InterruptedException {
        Optional<Site> from = source(runId);
        if (from.isEmpty()) {
            return;
        }
        try {
            var _ = lanes(runId, from.get()).next();
        } catch (RemoteException e) {
            String words = "site %s cannot be read: %s".formatted(from.get().name(), e.getMessage());
            if (e.reason() == Reason.LOST) {
                throw new SourceAway(from.get().name(), words);
            }
            throw new RemoteException(e.reason(), words, e);
        }
    }

    /** Returns the route of a unit: in a replication, from the verified copies of its entries. */
    Route route(Claim claim) {
        return source(claim.runId()).map(from -> route(claim, from)).orElse(claim.route());
    }

    private Route route(Claim claim, Site from) {
        int[] files = (switch (claim.unit()) {
                    case Unit.Bundle(var entries) -> entries.stream();
                    case Unit.Large(var entry) -> Stream.of(entry);
                    case Unit.Links(var entries, var links) ->
                        Stream.concat(entries.stream(), links.stream().map(Verified::entry));
                })
                .filter(entry -> entry.facts().kind() == EntryKind.FILE)
                .mapToInt(Entry::number)
                .toArray();
        Map<Integer, Place> places = copies.of(claim.experimentId(), from.id(), files).stream()
                .collect(Collectors.toMap(SiteCopy::entryNumber, copy -> new Place(copy.path(), copy.digest())));
        return claim.route()
                .from(new CopiesAtSite(
                        from.name(),
                        lanes(claim.runId(), from),
                        entry -> Optional.ofNullable(places.get(entry.number()))));
    }

    private Lanes lanes(long runId, Site from) {
        return open.computeIfAbsent(
                runId,
                _ -> settings.lanes() == 0
                        ? lanes.tuned(from, new TuningStart.Unknown())
                        : lanes.to(from, settings.lanes()));
    }

    /** Closes the lanes to the site that a run reads, if there are any, and forgets the site. */
    void close(long runId) {
        sources.remove(runId);
        Lanes lanes = open.remove(runId);
        if (lanes != null) {
            lanes.close();
        }
    }
}
