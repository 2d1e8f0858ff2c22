package dozo.ui;

import dozo.file.Message;
import dozo.ledger.Sight;
import dozo.registry.BulkRegistration;
import dozo.registry.BulkRegistration.Answer;
import dozo.registry.BulkRegistration.Mode;
import dozo.registry.Refusal;
import dozo.registry.Verdict;
import dozo.registry.Verdict.Outcome;
import dozo.suggest.Suggestions;
import dozo.ui.Uploads.Upload;
import jakarta.servlet.http.HttpSession;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.multipart.MultipartFile;

/**
 * Registers many experiments from a file. First shows a verdict on each line, then registers the file when a user
 * confirms.
 */
@Controller
record CsvPage(BulkRegistration bulk, Suggestions suggestions, Uploads uploads) {

    /** Smaller than REST's limit, because the file waits in memory until it is confirmed. */
    static final int BYTES_MAX = 4 * 1024 * 1024;

    private static final int LINES_SHOWN = 200;

    /** The page if no file is waiting, or not any more. */
    private static final String GONE = "redirect:/register/csv?gone";

    private static final String KEPT = CsvPage.class.getName() + ".upload";

    @GetMapping("/register/csv")
    String form(Model model) {
        return form(Form.EMPTY, model);
    }

    @PostMapping("/register/csv")
    String upload(
            @RequestParam MultipartFile file,
            @RequestParam(defaultValue = "") String encoding,
            @RequestParam(defaultValue = "false") boolean suggest,
            HttpSession session,
            Principal actor,
            Sight sight,
            Model model)
            throws IOException {
        try {
            check(
                    file,
                    Message.of("expected a file with a header line and one line for each experiment"),
                    "dozo register --csv");
            Upload upload = new Upload(
                    String.valueOf(file.getOriginalFilename()),
                    file.getBytes(),
                    encoding.isBlank() ? null : encoding,
                    suggest ? suggestions.forFile(sight) : null);
            answer(upload, Mode.ALL, true, actor, sight);
            session.setAttribute(KEPT, uploads.keep(actor.getName(), upload));
            return "redirect:/register/csv/preview";
        } catch (Refusal refused) {
            return form(Form.refused(Map.of("encoding", encoding, "suggest", String.valueOf(suggest)), refused), model);
        }
    }

    /**
     * Refuses a file that is empty, or too large for the memory.
     *
     * @param command takes larger ones
     */
    static void check(MultipartFile file, Message expected, String command) {
        if (file.isEmpty()) {
            throw new Refusal("file", expected);
        }
        if (file.getSize() > BYTES_MAX) {
            throw new Refusal(
                    "file", "the file has more than %,d bytes: split it, or use the command %s", BYTES_MAX, command);
        }
    }

    /** @param after the page begins after this line */
    @GetMapping("/register/csv/preview")
    String preview(
            @RequestParam(defaultValue = "0") int after,
            @RequestParam(defaultValue = "false") boolean refused,
            HttpSession session,
            Principal actor,
            Sight sight,
            Model model)
            throws IOException {
        Upload upload = kept(session, actor);
        if (upload == null) {
            return GONE;
        }
        return answered(upload, answer(upload, Mode.ALL, true, actor, sight), true, after, refused, model);
    }

    /** Registers the file that the user has seen. */
    @PostMapping("/register/csv/preview")
    String register(@RequestParam String mode, HttpSession session, Principal actor, Sight sight, Model model)
            throws IOException {
        Upload upload = kept(session, actor);
        if (upload == null) {
            return GONE;
        }
        Answer answer = answer(upload, Mode.of(mode), false, actor, sight);
        if (upload.guesses() != null) {
            suggestions.note(upload.guesses());
        }
        uploads.remove(actor.getName(), (UUID) session.getAttribute(KEPT));
        session.removeAttribute(KEPT);
        return answered(upload, answer, false, 0, false, model);
    }

    private @Nullable Upload kept(HttpSession session, Principal actor) {
        return session.getAttribute(KEPT) instanceof UUID id
                ? uploads.find(actor.getName(), id).orElse(null)
                : null;
    }

    private Answer answer(Upload upload, Mode mode, boolean dryRun, Principal actor, Sight sight) throws IOException {
        return bulk.register(
                sight,
                new ByteArrayInputStream(upload.bytes()),
                upload.encoding(),
                mode,
                dryRun,
                upload.guesses(),
                actor.getName());
    }

    private static String answered(
            Upload upload, Answer answer, boolean preview, int after, boolean refused, Model model) {
        Cut<Verdict> lines = Cut.of(
                LINES_SHOWN, most -> lines(answer, after, refused, most), verdict -> String.valueOf(verdict.line()));
        model.addAttribute("name", upload.name());
        model.addAttribute("encoding", answer.encoding());
        model.addAttribute("preview", preview);
        model.addAttribute("onlyRefused", refused);
        model.addAttribute("lines", lines);
        for (Outcome outcome : Outcome.values()) {
            model.addAttribute("count" + outcome, answer.count(outcome));
        }
        return "preview";
    }

    private static List<Verdict> lines(Answer answer, int after, boolean refused, int limit) {
        return answer.lines().stream()
                .filter(line -> line.line() > after && (!refused || line.outcome() == Outcome.REFUSED))
                .limit(limit)
                .toList();
    }

    private static String form(Form form, Model model) {
        model.addAttribute("form", form);
        model.addAttribute("bytesMax", BYTES_MAX);
        return "csv";
    }
}
