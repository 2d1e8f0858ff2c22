package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.command.Exit;
import dozo.loopback.LoopbackSite;
import dozo.people.Role;
import dozo.people.Users;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whoever comes to a source that was encrypted at night is told what happened, how to get it back, and how to release it last. */
class FrozenIT {

    private static final int FILES = 30;
    private static final String LIST = "/experiments/P1/E1/frozen";

    @TempDir
    Path temporary;

    @AutoClose
    private RunningService service;

    @AutoClose
    private LoopbackSite site;

    private Path source;

    @BeforeEach
    void start() throws Exception {
        Path folder = temporary.toRealPath();
        service = RunningService.shared();
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectory(folder.resolve("dr")), 0);
        service.register("dr", site.address()).expect(200);
        source = Files.createDirectory(folder.resolve("source"));
        for (int i = 0; i < FILES; i++) {
            byte[] image = new byte[5_000];
            System.arraycopy("DICM".getBytes(StandardCharsets.UTF_8), 0, image, 128, 4);
            Files.write(source.resolve("IM%02d.dcm".formatted(i)), image);
        }
        service.createExperiment("P1", "E1", source);
        service.backUp();
        encrypt();
        service.backUp();
    }

    @Test
    void everyFaceTellsWhatHappenedAndTheReleaseComesLast() throws Exception {
        Answer frozen = service.get("/api/v1/experiments/P1/E1");
        frozen.has("/frozen/manifest", 1);
        frozen.has("/frozen/signs/vanished", FILES);
        frozen.has("/frozen/signs/suffixes/0/name", ".locked");
        frozen.has("/frozen/signs/sample/wrong", FILES);
        service.get("/api/v1/experiments?frozen=true").has("/items/0/frozen/signs/before", FILES);

        Answer first = service.get("/api/v1/experiments/P1/E1/frozen?limit=1");
        first.has("/items/0/kind", "GONE");
        first.has("/items/0/path", "IM00.dcm");
        Answer next = service.get("/api/v1/experiments/P1/E1/frozen?limit=1&after=" + FILES);
        next.has("/items/0/kind", "NEW");
        next.has("/items/0/path", "IM00.dcm.locked");
        service.get("/api/v1/experiments/P1/X/frozen").expect(404);
        assertThat(Ended.dozo(service, "frozen P1/E1").ends(Exit.WELL).out())
                .contains("vanished  5.0 kB          IM00.dcm\n")
                .contains("IM29.dcm.locked");
        assertThat(Ended.dozo(service, "frozen P1/E1 --csv")
                        .ends(Exit.WELL)
                        .out()
                        .lines())
                .hasSize(1 + 2 * FILES)
                .startsWith("number,kind,path,pathBytes,bytesBefore,bytesAfter");

        HttpClient admin = service.browser();
        assertThat(service.page(admin, "/"))
                .containsSubsequence(
                        "href=\"/experiments/P1/E1/frozen\">Look at what changed.",
                        "This looks like encryption.",
                        "30 of 30 files and links vanished",
                        "href=\"/experiments/P1/E1/restore?manifest=1\"",
                        "Ask who changed it.",
                        "href=\"/experiments/P1/E1/frozen#release\">Release…");
        assertThat(service.page(admin, "/report"))
                .containsSubsequence(
                        "1. Look at what changed.", "2. Restore it", "3. Ask who", "4. Only then release it.");
        assertThat(service.page(admin, "/experiments/P1/E1"))
                .containsSubsequence("Look at what changed.", "Restore it to another folder.", "Release…");
        String page = service.page(admin, LIST);
        assertThat(page)
                .containsSubsequence(
                        "This looks like encryption.",
                        "30 of the new files end in .locked",
                        "frozen#changes\">Look at what changed.",
                        "Restore it to another folder.",
                        "IM00.dcm",
                        "This list as CSV",
                        "Release P1/E1?",
                        "30 of 30 files and links vanished",
                        "Release it")
                .doesNotContain("??");
        assertThat(service.look(admin, LIST, "ja").expect(200).text())
                .contains("暗号化された可能性が高いです。", "30 件が消失")
                .doesNotContain("??");
        assertThat(service.look(admin, LIST + "?after=59", "en").expect(200).text())
                .contains("IM29.dcm.locked");
        assertThat(service.look(admin, LIST + ".csv", "en").expect(200).text().lines())
                .hasSize(1 + 2 * FILES);

        assertThat(service.submit(admin, LIST, "confirmed=true&seen=2026-01-01T00:00:00Z")
                        .expect(422)
                        .text())
                .contains("P1/E1 was looked at again since");
        String form = page.replaceFirst("(?s).*<form action=\"(%s\\?seen=[^\"]+)\".*".formatted(LIST), "$1");
        assertThat(service.submit(admin, form, "confirmed=true")
                        .expect(200)
                        .uri()
                        .getPath())
                .isEqualTo("/experiments/P1/E1");

        assertThat(service.look(admin, LIST, "en").expect(404).text()).contains("P1/E1 is not frozen");
        assertThat(service.page(admin, "/experiments/P1/E1")).doesNotContain("Look at what changed.");
        assertThat(service.page(admin, "/")).doesNotContain("Frozen experiments");
        service.backUp();
        assertThat(service.get("/api/v1/experiments/P1/E1/frozen").items()).isZero();
    }

    @Test
    void whoMayNotReleaseIsToldWhoMayAndStrangersAreToldNothing() {
        service.createUser("lab", Role.LAB_MANAGER);
        service.createUser("alien", Role.LAB_MANAGER);
        service.bean(Users.class).join("P1", "lab", "test");

        assertThat(service.page(service.browser("lab"), LIST))
                .contains("an operator or administrator releases it.", "Restore it to another folder.")
                .doesNotContain("/release");
        for (String address : List.of(LIST, LIST + ".csv")) {
            service.look(service.browser("alien"), address, "en").expect(404);
        }
        service.as("alien").get("/api/v1/experiments/P1/E1/frozen").expect(404);
    }

    @Test
    void whatFrozeBeforeSignsWereKeptIsToldInTheWordsOfTheFinding() {
        service.jdbc().sql("delete from frozen_change").update();
        service.jdbc().sql("update frozen_experiment set signs = null").update();
        String message =
                service.get("/api/v1/experiments/P1/E1").at("/frozen/message").asString();

        assertThat(service.page(service.browser(), LIST)).contains(message, "Release P1/E1?");
        assertThat(service.page(service.browser(), "/experiments/P1/E1")).contains(message, "Look at what changed.");
        assertThat(service.get("/api/v1/experiments/P1/E1").at("/frozen/signs").isMissingNode())
                .isTrue();
        assertThat(Ended.dozo(service, "frozen P1/E1").ends(Exit.WELL).out())
                .isEqualTo("It is not frozen, or what changed was not kept.\n");
    }

    private void encrypt() throws Exception {
        List<Path> files;
        try (Stream<Path> all = Files.list(source)) {
            files = all.toList();
        }
        for (Path file : files) {
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(
                    Cipher.ENCRYPT_MODE,
                    new SecretKeySpec(new byte[16], "AES"),
                    new GCMParameterSpec(128, new byte[12]));
            Files.write(file.resolveSibling(file.getFileName() + ".locked"), cipher.doFinal(Files.readAllBytes(file)));
            Files.delete(file);
        }
    }
}
