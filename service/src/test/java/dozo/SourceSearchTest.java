package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.people.Role;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who knows where the files are finds the experiment by command, by REST and on the page. */
class SourceSearchTest {

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared();
        for (String project : List.of("P1", "P9")) {
            service.bean(Projects.class).create(project, "", "test");
            service.bean(Experiments.class)
                    .register(project, "E1", "", Files.createDirectories(folder.resolve("meg/of_" + project)), "test");
        }
    }

    @Test
    void experimentsAreFoundByAPartOfTheirSource() {
        Answer found = service.get("/api/v1/experiments?source=meg/of_P1");
        assertThat(found.at("/items")).hasSize(1);
        assertThat(found.at("/items/0/project").asString()).isEqualTo("P1");
        assertThat(service.get("/api/v1/experiments?q=meg/of_P9").at("/items")).hasSize(1);
        assertThat(service.get("/api/v1/experiments?q=of_P9").at("/items")).isEmpty();
        service.get("/api/v1/experiments?source=" + "x".repeat(201)).refused(422, "source");

        assertThat(Ended.dozo(service, "experiments --source eg/of_P1").out())
                .contains("P1/E1", folder.resolve("meg/of_P1").toString())
                .doesNotContain("P9/E1");
    }

    @Test
    void thePageShowsSourcesIfAskedAndOnlyThoseOfOwnProjects() throws Exception {
        service.createUser("lab", Role.LAB_MANAGER, "P1");
        HttpClient lab = service.browser("lab");
        String cell = "<code>" + folder.resolve("meg/of_P1") + "</code>";
        assertThat(service.page(lab, "/experiments")).contains("P1/E1").doesNotContain(cell);
        assertThat(service.page(lab, "/experiments?sources=true"))
                .contains(cell)
                .doesNotContain("of_P9");
        assertThat(service.page(lab, "/experiments?source=meg%2Fof_"))
                .contains(cell)
                .doesNotContain("of_P9");
        assertThat(service.page(lab, "/experiments?source=of_P9")).doesNotContain("of_P9</code>", cell);
        assertThat(service.as("lab").get("/api/v1/experiments?source=meg/of_").at("/items"))
                .hasSize(1);
    }
}
