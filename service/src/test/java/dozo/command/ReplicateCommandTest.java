package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Ended;
import dozo.RunningService;
import dozo.loopback.LoopbackSite;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands copy an experiment from one site to another, and restore it to an SFTP server. */
class ReplicateCommandTest {

    @TempDir
    Path folder;

    private RunningService service;
    private LoopbackSite site;
    private LoopbackSite second;

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared();
        site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0);
        second = LoopbackSite.openSsh(folder.resolve("keys2"), folder.resolve("second"), 0);
        service.register("dr", site.address());
        Path source = Files.createDirectories(folder.resolve("source"));
        Files.writeString(source.resolve("a"), "1");
        Files.createDirectory(source.resolve("b"));
        Files.writeString(source.resolve("b/c"), "22");
        service.createExperiment("P1", "S1", source);
        dozo("run --wait").ends(0);
        Files.move(source, folder.resolve("kept"));
    }

    @AfterEach
    void stop() {
        service.close();
        site.close();
        second.close();
    }

    @Test
    void anExperimentIsReplicated() {
        service.register("second", second.address());
        dozo("replicate P1/S1 --from dr").ends(Exit.USAGE);
        assertThat(dozo("replicate --from dr --to second").err())
                .contains("choose an experiment, a project, or all whose source is gone");
        assertThat(dozo("replicate P1/S2 --from dr --to second"))
                .satisfies(refused -> assertThat(refused.code()).isEqualTo(Exit.REFUSED))
                .satisfies(refused -> assertThat(refused.err()).contains("experiment P1/S2 does not exist"));

        dozo("replicate P1 --from dr --to second --wait -q").ends(0);
        assertThat(folder.resolve("second/P1/S1/data/b/c")).hasContent("22");
        service.get("/api/v1/runs/2").has("/kind", "REPLICATION");
        service.get("/api/v1/runs/2").has("/from", "dr");
        service.get("/api/v1/runs/2").has("/replication/experiments", 1);
        assertThat(dozo("replicate P1/S1 --from dr --to second").err())
                .contains("experiment P1/S1 is complete at site second");
    }

    @Test
    void anExperimentIsRestoredToAServer() throws IOException {
        String target =
                second.address().user() + "@" + second.address().host() + ":" + folder.resolve("second/restored");

        assertThat(restore(List.of("--dry-run"), target).out())
                .startsWith("dry run, nothing was changed. 3 entries, 3 B");
        assertThat(folder.resolve("second/restored")).doesNotExist();
        assertThat(restore(List.of(), target).ends(0).out()).contains("3 entries, 3 B: all verified at ");
        assertThat(folder.resolve("second/restored/a")).hasContent("1");
        assertThat(folder.resolve("second/restored/b/c")).hasContent("22");
        assertThat(restore(List.of(), target))
                .satisfies(again -> assertThat(again.code()).isEqualTo(Exit.REFUSED))
                .satisfies(again -> assertThat(again.err()).contains("is not empty"));
        assertThat(dozo("restore P1/S1", target).code())
                .as("its host key is unknown")
                .isEqualTo(Exit.NOT_ALLOWED);
        assertThat(dozo("restore P1/S1 -o Port=1", folder.resolve("here")).err())
                .contains("-o: only if TARGET is a folder of an SFTP server");
    }

    private Ended restore(List<String> more, String target) throws IOException {
        SiteAddress to = second.address();
        Path known = folder.resolve("known");
        Files.writeString(
                known,
                "[%s]:%d %s\n".formatted(to.host(), to.port(), to.hostKey().strip()));
        List<String> all = new ArrayList<>(List.of("restore", "-q", "P1/S1", target));
        for (String option :
                List.of("Port=" + to.port(), "IdentityFile=" + to.identity(), "UserKnownHostsFile=" + known)) {
            all.add("-o");
            all.add(option);
        }
        all.addAll(more);
        return Ended.at(service, all.toArray(String[]::new));
    }

    private Ended dozo(String line, Object... more) {
        return Ended.dozo(service, line, more);
    }
}
