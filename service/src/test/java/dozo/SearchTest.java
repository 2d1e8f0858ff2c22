package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.command.Exit;
import dozo.people.Role;
import dozo.registry.Experiments.Experiment;
import dozo.search.Names;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Search by command, by REST and on the pages: everybody finds what they may see, and nothing else. */
class SearchTest {

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared();
        for (String project : List.of("P1", "P9")) {
            Experiment experiment = service.createExperiment(project, "E1", folder.resolve(project));
            service.jdbc().sql("""
                            insert into directory (experiment_id, directory_no, path) values (:e, 1, ''), (:e, 2, 'anat');
                            insert into entry values (:e, 1, 1, 1, 0, 0, 420, 'd', 'anat'), (:e, 2, 2, 1, 9, 0, 420, 'f', 'sub-01_T1w.nii.gz');
                            insert into manifest values (:e, 1, now(), 1, 9, 1, 0, 2, 0, 0, 0);
                            """).param("e", experiment.id()).update();
        }
        service.createUser("lab", Role.LAB_MANAGER, "P1");
    }

    @Test
    void theCommandFindsByWordsAndPrintsATable() {
        assertThat(dozo("find t1w anat").out())
                .containsPattern("(?m)^file +P9/E1: anat/sub-01_T1w.nii.gz")
                .containsPattern("(?m)^file +P1/E1: anat/sub-01_T1w.nii.gz");
        assertThat(dozo("find p1").out())
                .containsPattern("(?m)^experiment +P1/E1")
                .containsPattern("(?m)^project +P1");
        assertThat(dozo("find nix")).isEqualTo(new Ended(0, "Nothing was found.\n", ""));
        assertThat(dozo("find nix --kind file")).isEqualTo(new Ended(0, "Nothing was found.\n", ""));
        assertThat(dozo("find t1w --kind file").out().lines()).hasSize(3);
        assertThat(dozo("find t1w --kind file --limit 1").out().lines()).hasSize(2);
        assertThat(dozo("find t1w --json").out()).contains("\"partial\" : false", "/experiments/P1/E1/proof?path=");
        assertThat(dozo("find t1w --limit 1").out())
                .contains("There is more of: file. To see all of a kind: dozo find --kind KIND");
        assertThat(dozo("find t1w --kind scanner").ends(Exit.REFUSED).err())
                .contains("\"scanner\": expected experiment, project, file, finding or user");
        dozo("find").ends(Exit.USAGE);
    }

    @Test
    void listedNamesAreFoundAsBefore() {
        Names names = service.bean(Names.class);
        while (names.listSome()) {
            assertThat(service.count("select count(*) from unlisted_manifest")).isNotNegative();
        }
        assertThat(service.count("select count(*) from name_block")).isEqualTo(2);
        assertThat(dozo("find t1w --kind file").out().lines()).hasSize(3);
    }

    @Test
    void aLabManagerFindsOnlyWhatBelongsToOwnProjects() {
        Answer found = service.as("lab").get("/api/v1/search?q=t1w");
        assertThat(found.has("/items/0/experiment", "P1/E1").text()).doesNotContain("P9");
        assertThat(service.as("lab").get("/api/v1/search?q=lab").text()).contains("\"items\":[]");
        service.get("/api/v1/search?q=lab").has("/items/0/kind", "user").has("/items/0/about", "LAB_MANAGER");
        service.get("/api/v1/search?q=p9&q=e1&kind=experiment&limit=1").has("/items/0/name", "P9/E1");
        service.get("/api/v1/search?q=").refused(422, "q");
        service.get("/api/v1/search?q=x&kind=file&after=x").refused(422, "after");
        service.get("/api/v1/search?q=x&limit=0").refused(422, "limit");
    }

    @Test
    void everyPageHasTheFieldAndTheResultsAreAPage() {
        HttpClient lab = service.browser("lab");
        assertThat(service.page(lab, "/experiments")).contains("id=\"search\"", "/search-");
        assertThat(service.page(lab, "/search")).contains("<h1>Search</h1>", "Each word has to be found");
        assertThat(service.page(lab, "/search?q=t1w"))
                .contains("<h1>Search: t1w</h1>", "<h2 id=\"found-file\">Files</h2>", "anat/sub-01_T1w.nii.gz")
                .contains("href=\"/experiments/P1/E1/proof?path=")
                .doesNotContain("P9", "Users");
        assertThat(service.page(lab, "/search?q=anat&kind=file"))
                .contains("href=\"/experiments/P1/E1/manifests/1?folder=", "Search everything");
        assertThat(service.page(lab, "/search?q=nix")).contains("Nothing was found.");
        assertThat(service.page(lab, "/search?q=%3Cb%3E"))
                .contains("Search: &lt;b&gt;")
                .doesNotContain("<b>&");
        assertThat(service.look(lab, "/search?q=t1w", "ja").text()).contains("検索：t1w", "ファイル");
    }

    @Test
    void suggestionsAreAPartOfThePage() {
        HttpClient lab = service.browser("lab");
        assertThat(service.part(lab, "/search?q=e1").text())
                .contains("1 suggestion", "href=\"/experiments/P1/E1\"")
                .doesNotContain("<html", "P9/");
        assertThat(service.part(lab, "/search?q=").text())
                .contains("No suggestions")
                .doesNotContain("<ul");
        assertThat(service.part(lab, "/search?q=nix").text()).contains("Nothing was found.");
    }

    private Ended dozo(String line, Object... more) {
        return Ended.dozo(service, line, more);
    }
}
