package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.RunningService;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A site's first day and a run's first minute: no table is only a head, and no picture is without values. */
class EmptyPagesTest {

    private static final Pattern ONLY_A_HEAD =
            Pattern.compile("<table[^>]*>(?:(?!</table>).)*<tbody>\\s*</tbody>", Pattern.DOTALL);

    /** What is shown with its first values. */
    private static final Pattern HIDDEN =
            Pattern.compile("<(figure|div)[^>]* hidden(?:=\"hidden\")?[^>]*>.*?</\\1>", Pattern.DOTALL);

    @TempDir
    Path folder;

    @AutoClose
    private final RunningService service = RunningService.shared();

    @Test
    void nothingIsDrawnOfNothing() throws Exception {
        look();
        service.saveUnreachable("dr");
        service.jdbc().sql("""
                        insert into site_space (site_id, day, seen_at, total_bytes, free_bytes)
                        select site_id, current_date, now(), 100, 50 from site
                        """).update();
        look();
        service.createExperiment("P1", "E1", folder.resolve("E1"));
        look();
        long run = service.openRun().id();
        look();
        whole("/runs/" + run);
    }

    private void look() {
        for (String path : List.of(
                "/",
                "/findings",
                "/experiments",
                "/gaps",
                "/gaps?all=true",
                "/runs",
                "/drills",
                "/restores",
                "/audit",
                "/audit?report=true",
                "/audit/report",
                "/audit/ledger",
                "/sites",
                "/administration",
                "/administration/projects",
                "/administration/tokens",
                "/administration/users",
                "/administration/users/admin",
                "/alerts",
                "/arrivals",
                "/origins",
                "/holds",
                "/erasures",
                "/report",
                "/register",
                "/register/folders",
                "/register/csv")) {
            whole(path);
        }
    }

    private void whole(String path) {
        HttpClient browser = service.browser();
        String page = service.look(browser, path, "en").expect(200).text();
        String shown = HIDDEN.matcher(page).replaceAll("");
        assertThat(ONLY_A_HEAD.matcher(shown).find())
                .as(path + ": a table with only a head")
                .isFalse();
        assertThat(shown.contains("data-chart")).as(path + ": a picture").isFalse();
    }
}
