package dozo.api;

import dozo.api.http.Verb;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import dozo.report.Report;
import dozo.report.Report.Need;
import dozo.report.Report.SiteNight;
import dozo.report.Report.Verdict;
import dozo.report.Reports;
import dozo.report.Teller;
import dozo.report.Told;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What the night before a morning did. */
@RestController
@RequestMapping("/api/v1/report")
public record ReportApi(Reports reports, Teller teller) {

    /**
     * The morning report, of the user's projects.
     *
     * @param date of the morning
     * @param from when the night could begin: noon of the day before
     * @param at the moment of which it tells how everything stood
     * @param current whether that is now; an earlier report says only what the catalogue knows of its time
     * @param sentence the verdict in words
     * @param experiments how many were registered then
     * @param sites by name
     * @param needs what needed a person then
     * @param text the whole report in words
     */
    public record ShownReport(
            LocalDate date,
            Instant from,
            Instant at,
            boolean current,
            Verdict verdict,
            String sentence,
            long experiments,
            List<SiteNight> sites,
            List<Need> needs,
            String text) {

        static ShownReport of(Report report, Told told) {
            return new ShownReport(
                    report.day(),
                    report.from(),
                    report.at(),
                    report.current(),
                    told.verdict(),
                    told.sentence(),
                    report.experiments(),
                    report.sites(),
                    report.needs(),
                    told.text());
        }
    }

    /**
     * Reports what the night before a morning did, how everything stood, and what needed a person.
     *
     * @param date of the morning; missing: today
     * @param language of {@code sentence} and {@code text}: en or ja
     */
    @Verb(
            value = "report [--date=DAY] [--language=LANGUAGE]",
            arguments = {
                "--date=the day of the morning; default: today",
                "--language=the language, en or ja; default: en"
            },
            about = "Says what the night before a morning did, how everything stood, and what needed a person.",
            footer = "Exit code: 0: all that was due is safe at every site; 1: it is not, or nobody knows.",
            says = "{text lines}",
            exit = "{verdict=SAFE?}0|{verdict=SAFE_BUT?}0|1",
            example = "dozo report --date 2026-10-01")
    @GetMapping
    ShownReport of(
            @RequestParam(required = false) @Nullable String date,
            @RequestParam(defaultValue = "en") String language,
            Sight sight) {
        if (!language.equals("en") && !language.equals("ja")) {
            throw new Refusal("language", "\"%s\": expected en or ja", language);
        }
        Report report = reports.of(sight, date);
        return ShownReport.of(report, teller.tell(report, Locale.of(language)));
    }
}
