package dozo.api;

import dozo.api.http.Sheet;
import dozo.api.http.Verb;
import dozo.ledger.Sight;
import dozo.registry.BulkCorrection;
import dozo.registry.BulkCorrection.CorrectedFile;
import java.io.IOException;
import java.io.InputStream;
import java.security.Principal;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Corrections of many experiments at once. */
@RestController
@RequestMapping("/api/v1/experiments")
public record CorrectionApi(BulkCorrection bulk) {

    /**
     * Corrects what was typed of the experiments of a CSV file, all or none. An empty cell stays as it is; - is unknown from now on.
     * The response is 200 even if lines are wrong; then nothing is changed. The charset of the content type is the file's encoding, if
     * given. 422: the whole file cannot be parsed.
     *
     * @param dryRun whether nothing is changed, and the response is that of a correction
     */
    @Verb(
            value = "edit --csv=FILE:- [--dry-run] [--encoding=E:-]",
            arguments = {
                "--csv=a file with a column code (PROJECT/EXPERIMENT, or with a column project), and any of title, modality, scanner, acquired, subject, note",
                "--dry-run=shows what would be changed; changes nothing",
                "--encoding=utf-8, shift_jis or utf-16le; by default detected"
            },
            items = "lines",
            columns = {
                ">LINE={line number}",
                "EXPERIMENT={project}/{code}",
                "FIELD={field}",
                "={message}|{before} → {after}|unknown → {after}|{before} → unknown"
            },
            total =
                    "{refused?}{refused number} lines are wrong: nothing is changed|{given.dryRun?}{changed number} experiments would be corrected, {unchanged number} are as in the file|{changed number} experiments are corrected, {unchanged number} were as in the file",
            result = true,
            exit = "{refused?}3|0",
            example = "dozo edit --csv corrections.csv --dry-run")
    @PatchMapping(path = "/bulk", consumes = Sheet.TYPE)
    CorrectedFile editAll(
            @RequestParam(defaultValue = "false") boolean dryRun,
            @RequestHeader("Content-Type") String type,
            InputStream csv,
            Principal actor,
            Sight sight)
            throws IOException {
        return bulk.correct(sight, csv, Sheet.charset(type), dryRun, actor.getName());
    }
}
