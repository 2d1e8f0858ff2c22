package dozo.api;

import dozo.api.http.Page;
import dozo.registry.Scanners;
import dozo.registry.Scanners.Scanner;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Scanners. */
@RestController
@RequestMapping("/api/v1/scanners")
record ScannerApi(Scanners scanners) {

    /**
     * All settings of a scanner.
     *
     * @param aeTitles the application entity titles under which it is booked and sends; default: none
     * @param purgeDays after how many days its console deletes images; missing: unknown
     * @param title by what people know it, at most 200 characters in one line; missing: only by its code
     */
    record NewScanner(
            @Nullable List<String> aeTitles,
            @Nullable Integer purgeDays,
            @Nullable String title) {}

    /** Lists the scanners by code, without retired ones. */
    @GetMapping
    Page<Scanner> list(
            @RequestParam(defaultValue = "") String after, @RequestParam(defaultValue = Page.LIMIT) int limit) {
        return Page.of(limit, most -> scanners.page(after, most), Scanner::code);
    }

    /** Replaces all settings of a scanner. */
    @PutMapping("/{scanner}")
    Scanner put(@PathVariable("scanner") String code, @RequestBody NewScanner said, Principal actor) {
        Scanner scanner = new Scanner(
                code,
                said.aeTitles == null ? List.of() : said.aeTitles,
                said.purgeDays,
                said.title == null ? "" : said.title);
        scanners.put(scanner, actor.getName());
        return scanner;
    }
}
