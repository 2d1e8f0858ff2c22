package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Verb;
import dozo.ledger.Sight;
import dozo.registry.Erasures;
import dozo.registry.Erasures.Erasure;
import dozo.registry.Erasures.ErasureAtSite;
import dozo.web.Change;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Erasures: one person requests that an experiment is removed everywhere, another approves it, and after a waiting time nights do it. */
@Verb.Group(name = "erasure", about = "Erasures of experiments", section = "Audit")
@RestController
@RequestMapping("/api/v1/erasures")
public record ErasureApi(Erasures erasures) {

    /**
     * An erasure to request.
     *
     * @param project required
     * @param experiment its code in the project, required
     * @param reason why, in one line; required
     */
    record NewErasure(
            @Nullable String project,
            @Nullable String experiment,
            @Nullable String reason) {}

    /**
     * That nothing is left at a site.
     *
     * @param reason how a person knows it, in one line; required
     */
    record Statement(@Nullable String reason) {}

    /**
     * An erasure and how far it is.
     *
     * @param sites by name; none before it has begun
     */
    public record ErasureDetail(Erasure erasure, List<ErasureAtSite> sites) {}

    /**
     * Lists erasures, the latest first.
     *
     * @param after only earlier ones than this
     */
    @Verb(
            value = "erasure list",
            columns = {
                ">ERASURE={id}",
                "OF={project}/{experiment}",
                "STATE={state word}",
                "REQUESTED={requestedAt}",
                "BY={requestedBy}",
                "APPROVED BY={approvedBy}|",
                "NOT BEFORE={notBefore}",
                "ERASED={completedAt}"
            },
            none = "There was no erasure yet.",
            example = "dozo erasure list")
    @GetMapping
    Page<Erasure> list(
            @RequestParam(required = false) @Nullable Long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        long before = after == null ? Long.MAX_VALUE : after;
        return Page.of(limit, most -> erasures.page(sight, before, most), Erasure::id);
    }

    /** Returns an erasure, with how far it is at each site. */
    @Verb(
            value = "erasure show ERASURE:id",
            columns = {
                "SITE={site}",
                ">FILES={files}",
                "REMOVED={removedAt}",
                "STATED BY={statedBy}|",
                "DONE={doneAt}",
                "MESSAGE={message}|"
            },
            lines = {
                "erasure {erasure.id} of {erasure.project}/{erasure.experiment}: {erasure.state word}",
                "requested by {erasure.requestedBy} at {erasure.requestedAt}: {erasure.reason}",
                "approved by {erasure.approvedBy} at {erasure.approvedAt}; not before {erasure.notBefore}",
                "not begun: {erasure.message}",
                "erased in the catalogue at {erasure.begunAt}: {erasure.manifests} manifests, the last with {erasure.files} files and {erasure.bytes} bytes; {erasure.receipts} receipts"
            },
            items = "sites",
            example = "dozo erasure show 3")
    @GetMapping("/{id}")
    ErasureDetail show(@PathVariable long id, Sight sight) {
        return detail(erasures.find(sight, id).orElseThrow(Missing.thing("erasure", id)));
    }

    /**
     * Requests that an experiment is removed from the catalogue and from every site. Another person has to approve it. The source
     * is not touched.
     */
    @Verb(
            value = "erasure request PROJECT/EXPERIMENT:project/experiment --reason=TEXT",
            arguments = "PROJECT/EXPERIMENT=the experiment",
            says = "erasure {id} of {project}/{experiment} is requested; another person has to approve it",
            example = "dozo erasure request P001/S0001 --reason letter-of-2026-11-20")
    @Change(destroys = true)
    @PostMapping
    @ResponseStatus(HttpStatus.CREATED)
    Erasure request(@RequestBody NewErasure asked, Sight sight, Principal actor) {
        return erasures.request(
                sight, text(asked.project), text(asked.experiment), text(asked.reason), actor.getName());
    }

    /** Approves an erasure that another person requested. Its waiting time begins. */
    @Verb(
            value = "erasure approve ERASURE:id",
            says = "erasure {id} of {project}/{experiment} is approved; the first night after {notBefore} begins it",
            example = "dozo erasure approve 3")
    @Change(destroys = true)
    @PostMapping("/{id}/approve")
    Erasure approve(@PathVariable long id, Principal actor) {
        return erasures.approve(id, actor.getName()).orElseThrow(Missing.thing("erasure", id));
    }

    /** Withdraws an erasure that has not begun. */
    @Verb(
            value = "erasure withdraw ERASURE:id",
            says = "erasure {id} is withdrawn",
            example = "dozo erasure withdraw 3")
    @PostMapping("/{id}/withdraw")
    Erasure withdraw(@PathVariable long id, Sight sight, Principal actor) {
        return erasures.withdraw(sight, id, actor.getName()).orElseThrow(Missing.thing("erasure", id));
    }

    /** Records a person's statement that nothing is left at a site: it was removed by hand, or the site is destroyed. */
    @Verb(
            value = "erasure state ERASURE:id --site=SITE:name --reason=TEXT",
            says = "it is recorded that nothing of {erasure.project}/{erasure.experiment} is left at {name}",
            example = "dozo erasure state 3 --site dr --reason 'the site burnt down'")
    @Change(destroys = true)
    @PostMapping("/{id}/sites/{name}/statement")
    ErasureDetail state(
            @PathVariable long id, @PathVariable String name, @RequestBody Statement asked, Principal actor) {
        return detail(erasures.state(id, name, text(asked.reason), actor.getName())
                .orElseThrow(Missing.thing("erasure", id)));
    }

    private ErasureDetail detail(Erasure erasure) {
        return new ErasureDetail(erasure, erasures.sites(erasure.id()));
    }

    private static String text(@Nullable String given) {
        return given == null ? "" : given;
    }
}
