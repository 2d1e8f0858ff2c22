package dozo.ui;

import dozo.file.FilePath;
import dozo.file.Message;
import dozo.ledger.Sight;
import dozo.registry.BulkRegistration;
import dozo.registry.BulkRegistration.Typed;
import dozo.registry.Guess;
import dozo.registry.Hint;
import dozo.registry.Refusal;
import dozo.registry.Verdict;
import dozo.registry.Verdict.Outcome;
import dozo.suggest.FileGuesses;
import dozo.suggest.SourceFolders;
import dozo.suggest.SourceFolders.Level;
import dozo.suggest.SourceFolders.Root;
import dozo.suggest.SourceFolders.State;
import dozo.suggest.Suggestions;
import jakarta.servlet.http.HttpSession;
import java.nio.file.Path;
import java.security.Principal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;

/**
 * Shows the folders below the source roots, and registers the chosen ones: first with all suggested values in one form,
 * then all or none.
 */
@Controller
@RequestMapping("/register/folders")
record FoldersPage(SourceFolders folders, Suggestions suggestions, BulkRegistration bulk, Choices choices) {

    /** As many as a page shows. NB: Tomcat accepts 1,000 parameters of a form; each folder has 8. */
    static final int CHOSEN_MAX = SourceFolders.SHOWN;

    private static final Path TOP = Path.of("/");
    private static final String GUESSES = FoldersPage.class.getName() + ".guesses";

    /** A folder above the shown one. */
    record Link(String name, String path) {}

    /**
     * A chosen folder.
     *
     * @param number its number in the form: the end of its fields' names
     * @param unchanged whether it is registered already as the form says
     */
    record Row(int number, String name, String path, List<Hint> hints, boolean unchanged) {}

    /**
     * @param folder null: the roots, or the content of the only one
     * @param registered how many were registered just now
     */
    @GetMapping
    String list(
            @RequestParam(required = false) @Nullable String folder,
            @RequestParam(defaultValue = "") String after,
            @RequestParam(defaultValue = "0") int registered,
            Sight sight,
            Model model) {
        model.addAttribute("registered", registered);
        return listed(folder, after, null, sight, model);
    }

    /** Shows the form with the values of the chosen folders. Registers nothing. */
    @PostMapping
    String choose(
            @RequestParam(required = false) @Nullable List<String> folder,
            @RequestParam(required = false) @Nullable String from,
            HttpSession session,
            Principal actor,
            Sight sight,
            Model model) {
        List<String> chosen = folder == null ? List.of() : List.copyOf(new LinkedHashSet<>(folder));
        if (chosen.isEmpty()) {
            return listed(from, "", Message.of("choose at least one folder"), sight, model);
        }
        if (chosen.size() > CHOSEN_MAX) {
            return listed(from, "", Message.of("choose at most %d folders at once", CHOSEN_MAX), sight, model);
        }
        FileGuesses guesses = suggestions.forFolders(sight, chosen.size());
        session.setAttribute(GUESSES, guesses);
        Map<String, String> values = new HashMap<>();
        for (int n = 1; n <= chosen.size(); n++) {
            Path path = path(chosen.get(n - 1));
            values.put("source." + n, chosen.get(n - 1));
            for (Map.Entry<String, String> said :
                    RegistrationPage.said(guesses.apply(path)).entrySet()) {
                values.put(said.getKey() + "." + n, said.getValue());
            }
        }
        choices.fillOnlyProject(values, chosen.size(), sight);
        return form(values, true, guesses, from, actor, sight, model);
    }

    /** Leads to the list: the form exists only as the answer to a choice. */
    @GetMapping("/preview")
    String preview() {
        return "redirect:/register/folders";
    }

    /** Registers the folders of the form, except those left out: all or none. */
    @PostMapping("/preview")
    String register(
            @RequestParam Map<String, String> values,
            @RequestParam(required = false) @Nullable String from,
            HttpSession session,
            Principal actor,
            Sight sight,
            Model model) {
        FileGuesses guesses = session.getAttribute(GUESSES) instanceof FileGuesses known
                ? known
                : suggestions.forFolders(sight, rows(values).size());
        return form(values, false, guesses, from, actor, sight, model);
    }

    private String form(
            Map<String, String> values,
            boolean dryRun,
            FileGuesses guesses,
            @Nullable String from,
            Principal actor,
            Sight sight,
            Model model) {
        List<Integer> numbers = rows(values);
        List<Integer> taken =
                numbers.stream().filter(n -> !values.containsKey("skip." + n)).toList();
        if (taken.isEmpty()) {
            return listed(from, "", Message.of("choose at least one folder"), sight, model);
        }
        try {
            List<Verdict> verdicts = bulk.register(
                    sight, taken.stream().map(n -> typed(values, n)).toList(), dryRun, actor.getName());
            boolean refused = verdicts.stream().anyMatch(each -> each.outcome() == Outcome.REFUSED);
            if (!dryRun && !refused) {
                suggestions.note(guesses);
                return done(verdicts, from);
            }
            model.addAttribute(
                    "form",
                    Form.judged(values, verdicts, (verdict, field) -> field + "." + taken.get(verdict.line() - 1)));
            model.addAttribute("unanswered", null);
            model.addAttribute("rows", shown(values, numbers, taken, verdicts, guesses));
        } catch (Refusal unanswered) {
            model.addAttribute("form", new Form(values, Map.of()));
            model.addAttribute("unanswered", unanswered.message());
            model.addAttribute("rows", shown(values, numbers, taken, List.of(), guesses));
        }
        choices.addTo(model, sight);
        model.addAttribute("tried", !dryRun);
        model.addAttribute("from", from);
        return "chosen";
    }

    private static String done(List<Verdict> verdicts, @Nullable String from) {
        long registered = verdicts.stream()
                .filter(each -> each.outcome() == Outcome.REGISTERED)
                .count();
        String folder = from == null ? "" : "&folder=" + Bytes.of(Bytes.path("from", from));
        return "redirect:/register/folders?registered=" + registered + folder;
    }

    private static List<Integer> rows(Map<String, String> values) {
        List<Integer> rows = new ArrayList<>();
        for (int n = 1; n <= CHOSEN_MAX; n++) {
            if (values.containsKey("source." + n)) {
                rows.add(n);
            }
        }
        return rows;
    }

    private static Typed typed(Map<String, String> values, int number) {
        Map<String, String> fields = new HashMap<>();
        RegistrationPage.FIELDS.forEach(field -> fields.put(field, values.getOrDefault(field + "." + number, "")));
        return new Typed(path(values.getOrDefault("source." + number, "")), fields);
    }

    private static List<Row> shown(
            Map<String, String> values,
            List<Integer> numbers,
            List<Integer> taken,
            List<Verdict> verdicts,
            FileGuesses guesses) {
        return numbers.stream()
                .map(n -> {
                    String path = values.getOrDefault("source." + n, "");
                    int line = taken.indexOf(n);
                    boolean unchanged = line >= 0
                            && line < verdicts.size()
                            && verdicts.get(line).outcome() == Outcome.UNCHANGED;
                    Guess guess = guesses.apply(path(path));
                    return new Row(n, FilePath.render(FilePath.rawBytes(path(path))), path, guess.hints(), unchanged);
                })
                .toList();
    }

    private String listed(@Nullable String folder, String after, @Nullable Message error, Sight sight, Model model) {
        model.addAttribute("error", error);
        if (!model.containsAttribute("registered")) {
            model.addAttribute("registered", 0);
        }
        choices.addProjects(model, sight);
        if (folder != null) {
            return shown(folders.open(sight, Bytes.path("folder", folder), Bytes.path("after", after)), model);
        }
        List<Root> roots = folders.roots(sight);
        if (roots.size() == 1 && roots.getFirst().folder().state() == State.READABLE) {
            return shown(folders.open(sight, roots.getFirst().folder().path(), FilePath.ROOT), model);
        }
        model.addAttribute("roots", roots);
        return "roots";
    }

    private static String shown(Level level, Model model) {
        model.addAttribute("level", level);
        model.addAttribute("place", Bytes.of(level.path()));
        model.addAttribute("name", name(level.path(), level.root()));
        model.addAttribute(
                "way",
                level.way().stream()
                        .map(each -> new Link(name(each, level.root()), Bytes.of(each)))
                        .toList());
        model.addAttribute("folders", level.folders());
        model.addAttribute("next", level.next() == null ? null : Bytes.of(level.next()));
        return "folders";
    }

    private static String name(FilePath folder, FilePath root) {
        return FilePath.render(folder.equals(root) ? FilePath.rawBytes(folder.under(TOP)) : folder.name());
    }

    private static Path path(String base64) {
        return Bytes.path("folder", base64).under(TOP);
    }
}
