package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Verb;
import dozo.ledger.Sight;
import dozo.registry.Retirements;
import dozo.registry.Retirements.Asked;
import dozo.registry.Retirements.Kind;
import dozo.registry.Retirements.Retired;
import dozo.registry.Sites;
import dozo.web.Change;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** What is over: retired experiments, projects, scanners and sites. */
@Verb.Group(name = "scanner", about = "Scanners", section = "Set-up")
@RestController
@RequestMapping("/api/v1")
public record RetirementApi(Retirements retirements, Sites sites) {

    /**
     * Why something is over.
     *
     * @param reason why, in one line of at most 200 characters; required
     * @param evenUnsafe also if something has no verified copy: it would never be sent; default: false
     */
    record NewRetirement(@Nullable String reason, @Nullable Boolean evenUnsafe) {

        Asked by(Principal actor) {
            return new Asked(reason == null ? "" : reason, Boolean.TRUE.equals(evenUnsafe), actor.getName());
        }
    }

    /**
     * Why a scanner is over.
     *
     * @param reason why, in one line of at most 200 characters; required
     */
    record ScannerRetirement(@Nullable String reason) {}

    /** Lists what is over, by kind and name. */
    @Verb(
            value = "retired",
            columns = {
                "KIND={kind}",
                "NAME={name}",
                "SINCE={retiredAt}",
                "BY={retiredBy}|",
                "REASON={reason}|removed",
                "NOT VERIFIED={unsafe}|"
            },
            none = "Nothing is retired.",
            example = "dozo retired")
    @GetMapping("/retirements")
    Page<Retired> list(
            @RequestParam(defaultValue = "") String after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        return Page.of(limit, most -> retirements.page(sight, after, most), Retired::place);
    }

    /**
     * Retires an experiment: no run looks at its source any more. Its copies are kept, scrubbed and restored as before. 409: it is
     * retired already, or something of it has no verified copy.
     */
    @Verb(
            value = "retire PROJECT/EXPERIMENT:project/code --reason=TEXT [--even-unsafe:evenUnsafe=true]",
            arguments = "PROJECT/EXPERIMENT=the experiment",
            says = "{name} is retired; not verified: {unsafe}|{name} is retired",
            example = "dozo retire P001/S0001 --reason 'source deleted after publication'")
    @Change(destroys = true, undo = "DELETE /experiments/{project}/{code}/retirement")
    @PostMapping("/experiments/{project}/{code}/retirement")
    Retired retireExperiment(
            @PathVariable String project,
            @PathVariable String code,
            @RequestBody NewRetirement asked,
            Principal actor) {
        String name = project + "/" + code;
        return retirements
                .retire(Kind.EXPERIMENT, name, asked.by(actor))
                .orElseThrow(Missing.thing("experiment", name));
    }

    /** Brings a retired experiment back: the next run looks at its source. 409: it is not retired, or its project is. */
    @Verb(
            value = "unretire PROJECT/EXPERIMENT:project/code",
            arguments = "PROJECT/EXPERIMENT=the experiment",
            says = "{project}/{code} is not retired any more",
            example = "dozo unretire P001/S0001")
    @DeleteMapping("/experiments/{project}/{code}/retirement")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void unretireExperiment(@PathVariable String project, @PathVariable String code, Principal actor) {
        unretire(Kind.EXPERIMENT, project + "/" + code, actor);
    }

    /**
     * Retires a project, with its experiments that are not retired yet. Nothing can be registered in it any more. 409: it is retired
     * already, or something of it has no verified copy.
     */
    @Verb(
            value = "project retire CODE:project --reason=TEXT [--even-unsafe:evenUnsafe=true]",
            arguments = "CODE=the project",
            says = "{name} is retired; not verified: {unsafe}|{name} is retired",
            example = "dozo project retire P001 --reason 'study closed'")
    @Change(destroys = true, undo = "DELETE /projects/{project}/retirement")
    @PostMapping("/projects/{project}/retirement")
    Retired retireProject(@PathVariable String project, @RequestBody NewRetirement asked, Principal actor) {
        return retirements
                .retire(Kind.PROJECT, project, asked.by(actor))
                .orElseThrow(Missing.thing("project", project));
    }

    /** Brings a retired project back, with the experiments that were retired with it. 409: it is not retired. */
    @Verb(
            value = "project unretire CODE:project",
            arguments = "CODE=the project",
            says = "{project} is not retired any more",
            example = "dozo project unretire P001")
    @DeleteMapping("/projects/{project}/retirement")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void unretireProject(@PathVariable String project, Principal actor) {
        unretire(Kind.PROJECT, project, actor);
    }

    /** Retires a scanner: nothing is expected from it any more. What it acquired stays as it is. 409: it is retired already. */
    @Verb(
            value = "scanner retire CODE:scanner --reason=TEXT",
            arguments = "CODE=the scanner",
            says = "{name} is retired",
            example = "dozo scanner retire MR3T02 --reason 'replaced by MR3T04'")
    @Change(destroys = true, undo = "DELETE /scanners/{scanner}/retirement")
    @PostMapping("/scanners/{scanner}/retirement")
    Retired retireScanner(@PathVariable String scanner, @RequestBody ScannerRetirement asked, Principal actor) {
        return retirements
                .retire(Kind.SCANNER, scanner, new NewRetirement(asked.reason, null).by(actor))
                .orElseThrow(Missing.thing("scanner", scanner));
    }

    /** Brings a retired scanner back. 409: it is not retired. */
    @Verb(
            value = "scanner unretire CODE:scanner",
            arguments = "CODE=the scanner",
            says = "{scanner} is not retired any more",
            example = "dozo scanner unretire MR3T02")
    @DeleteMapping("/scanners/{scanner}/retirement")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void unretireScanner(@PathVariable String scanner, Principal actor) {
        unretire(Kind.SCANNER, scanner, actor);
    }

    /**
     * Retires a site: it is not contacted any more, and its copies do not count as safe. Evidence stays. 409: a run or a restore uses
     * it, it has copies of a held experiment, or no other site has complete copies of what it has.
     */
    @Verb(
            value = "site retire NAME --reason=TEXT [--even-unsafe:evenUnsafe=true]",
            arguments = "NAME=the site's name",
            says = "{name} is retired; {unsafe}|{name} is retired",
            example = "dozo site retire dr-old --reason 'replaced by dr'")
    @Change(destroys = true, undo = "DELETE /sites/{name}/retirement")
    @PostMapping("/sites/{name}/retirement")
    Retired retireSite(@PathVariable String name, @RequestBody NewRetirement asked, Principal actor) {
        Asked wanted = asked.by(actor);
        if (!sites.retire(name, wanted)) {
            throw Missing.thing("site", name).get();
        }
        return retirements.find(Kind.SITE, name).orElseThrow();
    }

    /** Brings a site back that was retired or removed. 409: it is not retired, or another site has its root. */
    @Verb(
            value = "site unretire NAME",
            arguments = "NAME=the site's name",
            says = "{name} is not retired any more",
            example = "dozo site unretire dr-old")
    @DeleteMapping("/sites/{name}/retirement")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void unretireSite(@PathVariable String name, Principal actor) {
        if (!sites.unretire(name, actor.getName())) {
            throw Missing.thing("site", name).get();
        }
    }

    private void unretire(Kind kind, String name, Principal actor) {
        if (!retirements.unretire(kind, name, actor.getName())) {
            throw Missing.thing(kind.word(), name).get();
        }
    }
}
