package dozo.ui;

import dozo.certificate.Certificates;
import dozo.certificate.Issued;
import dozo.file.Message;
import dozo.ledger.Sight;
import dozo.manifest.Manifests;
import dozo.people.Permissions;
import dozo.people.Permissions.Endpoint;
import dozo.people.Users.User;
import dozo.registry.ExperimentSearch;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.ui.Operation.Each;
import dozo.ui.OperationCalls.Sent;
import dozo.ui.PageProblems.NotThere;
import dozo.web.Download;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Controller;
import org.springframework.util.MultiValueMap;
import org.springframework.util.StreamUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.servlet.ModelAndView;

/**
 * An operation of REST for experiments that somebody has ticked in the list, or for all that the list has found. Each of
 * them is done or refused for itself, as if it had been asked for alone; those that were refused stay ticked.
 */
@Controller
@RequestMapping("/experiments/selected")
record SelectedPage(
        OperationCalls calls,
        OperationPage forms,
        Experiments experiments,
        ExperimentSearch search,
        Projects projects,
        Sites sites,
        Manifests manifests,
        Certificates certificates) {

    /** The most experiments of one request. */
    static final int MOST = 500;

    /** The operations that the list offers, in the order of its buttons, each with the fields it asks for; empty: all. */
    static final Map<String, List<String>> OFFERED = offered();

    /** The form that issues the certificate of one experiment. */
    private static final Endpoint CERTIFICATE = new Endpoint("POST", "/experiments/{project}/{code}/certificate");

    private static final MediaType ZIP = MediaType.valueOf("application/zip");

    private static Map<String, List<String>> offered() {
        Map<String, List<String>> offered = new LinkedHashMap<>();
        offered.put("/do/post/runs/experiments", List.of());
        offered.put("/do/post/experiments/{project}/{code}/restores", List.of("folder", "asOf", "site"));
        offered.put("/do/post/drills", List.of());
        offered.put("/do/post/experiments/{project}/{code}/labels", List.of());
        offered.put("/do/post/holds", List.of());
        offered.put("/do/post/experiments/{project}/{code}/retirement", List.of());
        return offered;
    }

    /** The list, for whoever comes back to this address. */
    @GetMapping
    String list() {
        return "redirect:/experiments";
    }

    /** Asks for what the operation needs; with the confirmation of the form's button, does it. */
    @PostMapping
    @Nullable
    ModelAndView submit(
            HttpServletRequest request,
            HttpServletResponse response,
            @RequestParam MultiValueMap<String, String> typed,
            Sight seen,
            Principal actor)
            throws Exception {
        Form form = Form.of(typed);
        // NB: a mapping by parameter would have every request without a mapping read as a form.
        if (form.value("do").equals("certificates")) {
            certify(request, response, form, seen, actor);
            return null;
        }
        Operation operation = offered(form.value("do"));
        Sight sight = operation == null
                ? null
                : sight(request, new Endpoint("POST", operation.page())).orElse(null);
        if (operation == null || sight == null) {
            throw new NotThere("there is no form for this");
        }
        List<String> names = names(form, seen);
        if (names.isEmpty()) {
            forms.lead(request, response, form, 0, Map.of());
            return null;
        }
        if (form.value("confirmed").isEmpty()) {
            Form begun = form.value("folder").isEmpty() ? form.with("folder", "{root}/{project}-{code}") : form;
            return forms.selected(request, operation, begun, names, Map.of(), 0, HttpStatus.OK, seen);
        }
        // What the operation is told of its user's sight is its own, not that of this page.
        request.setAttribute(Sight.class.getName(), sight);
        Map<String, Map<String, Message>> refused = done(request, operation, form, names, sight);
        request.setAttribute(Sight.class.getName(), seen);
        if (refused.isEmpty()) {
            forms.lead(request, response, form, names.size(), undo(request, operation, names));
            return null;
        }
        List<Map<String, Message>> reasons =
                refused.values().stream().distinct().toList();
        boolean alike = refused.size() == names.size() && reasons.size() == 1;
        return forms.selected(
                request,
                operation,
                new Form(form.values(), alike ? reasons.getFirst() : Map.of()),
                List.copyOf(refused.keySet()),
                alike ? Map.of() : refused,
                names.size() - refused.size(),
                alike ? HttpStatus.UNPROCESSABLE_CONTENT : HttpStatus.OK,
                seen);
    }

    /** Issues a certificate for each as one archive; a file in it says which are not certified, and why. */
    private void certify(
            HttpServletRequest request, HttpServletResponse response, Form form, Sight seen, Principal actor) {
        Sight sight = sight(request, CERTIFICATE).orElseThrow(() -> new NotThere("there is no form for this"));
        List<String> names = names(form, seen);
        if (names.isEmpty()) {
            throw new Refusal("experiments", "tick at least one experiment");
        }
        new Download(ZIP, "certificates.zip").send(request, response, out -> {
            try (ZipOutputStream zip = new ZipOutputStream(out)) {
                StringBuilder refused = new StringBuilder();
                for (String name : names) {
                    try (Issued issued = issue(name, form.given("site"), sight, actor)) {
                        zip.putNextEntry(new ZipEntry(issued.fileName()));
                        issued.writeTo(StreamUtils.nonClosing(zip));
                    } catch (Refusal why) {
                        refused.append("%s: %s\n".formatted(name, why.message()));
                    }
                }
                if (!refused.isEmpty()) {
                    zip.putNextEntry(new ZipEntry("NOT-CERTIFIED.txt"));
                    zip.write(refused.toString().getBytes(StandardCharsets.UTF_8));
                }
            }
        });
    }

    private Issued issue(String name, @Nullable String site, Sight sight, Principal actor) {
        Experiment experiment = experiments
                .find(name)
                .filter(found -> sight.sees(found.project()))
                .orElseThrow(() -> new Refusal("experiment", missing(name)));
        return certificates.issue(
                experiment, ManifestPage.chosen(manifests, experiment, ""), sites.chosen(site), actor.getName());
    }

    /** Returns an operation that the list offers, or one that undoes such an operation; null: it is neither. */
    private @Nullable Operation offered(String page) {
        return OFFERED.keySet().stream()
                .flatMap(each -> Stream.ofNullable(calls.all().get(each)))
                .flatMap(each -> Stream.of(each.page(), each.undo()))
                .filter(page::equals)
                .flatMap(each -> Stream.ofNullable(calls.all().get(each)))
                .filter(found -> found.each() != Each.NONE)
                .map(found -> found.only(OFFERED.getOrDefault(found.page(), List.of())))
                .findFirst()
                .orElse(null);
    }

    private static Message missing(String name) {
        return Message.of("experiment \"%s\" does not exist", name);
    }

    private static Optional<Sight> sight(HttpServletRequest request, Endpoint endpoint) {
        User user = Viewer.of(request).user();
        return user == null
                ? Optional.empty()
                : Permissions.of(endpoint).flatMap(line -> line.sight(user.roles(), user.projects()));
    }

    /** Returns those that are ticked, or all that the list has found. */
    private List<String> names(Form form, Sight seen) {
        List<String> names = form.value("all").isEmpty()
                ? Arrays.stream(form.value("experiments").split("\\s+", -1))
                        .filter(name -> !name.isEmpty())
                        .distinct()
                        .toList()
                : ExperimentsPage.found(search, sites.all(), seen, form.value("filter"), MOST + 1).stream()
                        .map(Experiment::name)
                        .toList();
        if (names.size() > MOST) {
            throw new Refusal("experiments", "at most %,d experiments at once: search for fewer", MOST);
        }
        return names;
    }

    /** Returns why some were refused. The others are done. */
    private Map<String, Map<String, Message>> done(
            HttpServletRequest request, Operation operation, Form form, List<String> names, Sight sight)
            throws Exception {
        Map<String, Map<String, Message>> refused = new LinkedHashMap<>();
        List<String> seen = names.stream()
                .filter(name -> {
                    boolean sees = name.matches("[^/]+/[^/]+") && sight.sees(name.replaceFirst("/.*", ""));
                    if (!sees) {
                        refused.put(name, Map.of("", missing(name)));
                    }
                    return sees;
                })
                .toList();
        if (operation.each() == Each.LIST && !seen.isEmpty()) {
            Sent sent = calls.send(request, operation, Map.of(), form.with("experiments", String.join("\n", seen)));
            seen.forEach(name -> note(refused, name, sent));
            return refused;
        }
        for (String name : seen) {
            String[] codes = name.split("/", -1);
            Form own = form.with("project", codes[0])
                    .with("experiment", codes[1])
                    .with("folder", folder(form.value("folder"), codes[0], codes[1]));
            Map<String, String> variables =
                    operation.each() == Each.PATH ? Map.of("project", codes[0], "code", codes[1]) : Map.of();
            note(refused, name, calls.send(request, operation, variables, own));
        }
        return refused;
    }

    private static void note(Map<String, Map<String, Message>> refused, String name, Sent sent) {
        if (!sent.errors().isEmpty()) {
            refused.put(name, sent.errors());
        }
    }

    /** Returns a folder of its own for an experiment: the form says where by the words in braces. */
    private String folder(String typed, String project, String code) {
        String root = projects.find(project).stream()
                .flatMap(found -> found.restoreRoots().stream())
                .findFirst()
                .map(String::valueOf)
                .orElse("");
        return typed.replace("{root}", root).replace("{project}", project).replace("{code}", code);
    }

    /** Returns the fields of the form that undoes it for all of them; empty if nothing does. */
    private Map<String, String> undo(HttpServletRequest request, Operation done, List<String> names) {
        Operation undo = calls.all().get(done.undo());
        return undo == null || undo.each() != Each.PATH || !Viewer.of(request).may("POST", undo.page())
                ? Map.of()
                : Map.of("do", undo.page(), "experiments", String.join(" ", names));
    }
}
