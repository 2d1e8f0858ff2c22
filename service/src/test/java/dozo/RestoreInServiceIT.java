package dozo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dozo.command.Exit;
import dozo.file.FilePath;
import dozo.ledger.Ledger;
import dozo.loopback.LoopbackSite;
import dozo.people.Role;
import dozo.people.Users;
import dozo.run.Runs.RunState;
import dozo.ui.Bytes;
import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A lab manager uses the service to restore experiments of own projects, into folders that an administrator has
 * allowed.
 */
class RestoreInServiceIT {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    /** So large that a download has begun before it is read to its end. */
    private static final int LARGE_BYTES = 3 << 20;

    @TempDir
    static Path temporary;

    private static Path folder;
    private static Path allowed;
    private static RunningService service;
    private static LoopbackSite site;

    @BeforeAll
    static void start() throws Exception {
        folder = temporary.toRealPath();
        allowed = Files.createDirectory(folder.resolve("allowed"));
        service = RunningService.shared();
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectory(folder.resolve("dr")), 0);
        service.register("dr", site.address());
        service.createUser("lab", Role.LAB_MANAGER);
        service.createUser("operator", Role.OPERATOR);
        service.createUser("auditor", Role.AUDITOR);
        for (String project : List.of("OWN", "ALIEN")) {
            Path source = Files.createDirectory(folder.resolve("source-" + project));
            Files.writeString(source.resolve("脳 scan"), "of " + project);
            service.createExperiment(project, "E1", source);
            allow(project, allowed);
        }
        service.bean(Users.class).join("OWN", "lab", "test");
        addFiles();
        addTree();
        assertThat(service.backUp().state()).isEqualTo(RunState.COMPLETE);
    }

    /** Registers an experiment whose copies tests may damage. */
    private static void addFiles() throws Exception {
        Path source = Files.createDirectory(folder.resolve("source-files"));
        Files.createDirectory(source.resolve("empty"));
        for (String name : List.of("脳 image", "flipped", "gone")) {
            Files.writeString(source.resolve(name), "content of " + name);
        }
        Files.write(source.resolve("large"), new byte[LARGE_BYTES]);
        service.createExperiment("OWN", "FILES", source);
    }

    /** Registers an experiment with names and facts that archives tend to lose. */
    private static void addTree() throws Exception {
        Path source = Files.createDirectory(folder.resolve("source-tree"));
        Path deep = Files.createDirectories(
                source.resolve("研究").resolve("n".repeat(250)).resolve("m".repeat(250)));
        Files.writeString(deep.resolve("file"), "in the deep");
        Files.writeString(source.resolve("beside"), "not in it");
        Files.createSymbolicLink(source.resolve("研究/link"), Path.of("/nowhere/" + "t".repeat(200)));
        Files.createFile(source.resolve("研究/empty"));
        Files.writeString(
                FilePath.of("研究")
                        .resolve(new byte[] {(byte) 0x94, (byte) 0x5c, (byte) 0xff, '\\', '\n'})
                        .under(source),
                "no text");
        Path old = Files.writeString(source.resolve("研究/old"), "old");
        Files.setPosixFilePermissions(old, PosixFilePermissions.fromString("r-x--x---"));
        Files.setLastModifiedTime(old, FileTime.from(Instant.parse("1969-07-20T20:17:40.5Z")));
        service.createExperiment("OWN", "TREE", source);
    }

    @AfterAll
    static void stop() {
        service.close();
        site.close();
    }

    @Test
    void anExperimentOfAnOwnProjectComesBackAndTheLedgerSaysWho() throws Exception {
        long before = service.bean(Ledger.class).last();
        Answer asked = service.as("lab")
                .post(
                        "/api/v1/experiments/OWN/E1/restores",
                        "{\"folderBytes\": \"%s\", \"manifest\": 1, \"site\": \"dr\"}"
                                .formatted(Base64.getEncoder()
                                        .encodeToString(
                                                allowed.resolve("研究").toString().getBytes(StandardCharsets.UTF_8))));

        asked.expect(202);
        Answer ended = ended("lab", String.valueOf(asked.location()));
        ended.has("/state", "COMPLETE");
        ended.has("/requestedBy", "lab");
        ended.has("/bytesVerified", 6);
        assertThat(allowed.resolve("研究/脳 scan")).hasContent("of OWN");
        assertThat(names(allowed.resolve("研究"))).hasSize(1);
        for (String user : List.of("lab", "operator", "auditor")) {
            assertThat(ask(user, "GET", "/OWN/E1/restores", null).text()).contains("研究");
            assertThat(ask(user, "GET", "/OWN/E1/restores/%s/findings".formatted(id(ended)), null)
                            .items())
                    .isZero();
        }
        ask("lab", "POST", "/OWN/E1/restores/%s/stop".formatted(id(ended)), null)
                .expect(409);
        assertThat(service.ledgerAfter(before))
                .filteredOn(row -> row.action().startsWith("restore."))
                .anyMatch(row -> row.actor().equals("lab")
                        && row.action().equals("restore.requested")
                        && row.subject().equals("OWN/E1"))
                .anyMatch(row ->
                        row.action().equals("restore.ended") && row.subject().equals("OWN/E1"));
    }

    @Test
    void tickedExperimentsComeBackEachIntoAFolderOfItsOwn() throws Exception {
        HttpClient lab = service.browser("lab");
        String asked = "do=/do/post/experiments/{project}/{code}/restores&experiments=OWN/E1+OWN/FILES+ALIEN/E1"
                + "&folder={root}/{project}-{code}&site=dr&confirmed=true";

        Answer some = service.submit(lab, "/experiments/selected", asked);

        assertThat(some.text())
                .contains("2 restores are requested.", "value=\"ALIEN/E1\"", "ALIEN/E1&quot; does not exist")
                .contains("value=\"{root}/{project}-{code}\"");
        for (String code : List.of("E1", "FILES")) {
            await().atMost(LIMIT)
                    .until(() -> ask("lab", "GET", "/OWN/%s/restores".formatted(code), null)
                            .string("/items/0/state")
                            // Another test may have damaged a copy of FILES.
                            .matches("COMPLETE|FINDINGS"));
            assertThat(allowed.resolve("OWN-" + code)).isDirectory();
        }
        assertThat(allowed.resolve("OWN-E1/脳 scan")).hasContent("of OWN");
        assertThat(allowed.resolve("ALIEN-E1")).doesNotExist();
    }

    @Test
    void aForeignExperimentIsAsOneThatIsNotThere() {
        Answer operators = restore("operator", "ALIEN", allowed.resolve("alien"));
        operators.expect(202);
        String id = id(operators);

        restore("lab", "ALIEN", allowed.resolve("never")).expect(404);
        ask("lab", "GET", "/ALIEN/E1/restores", null).expect(404);
        ask("lab", "GET", "/ALIEN/E1/restores/" + id, null).expect(404);
        assertThat(ask("lab", "GET", "/OWN/E1/restores/" + id, null).status())
                .as("by the address of an own one")
                .isEqualTo(404);
        ask("lab", "POST", "/OWN/E1/restores/%s/stop".formatted(id), null).expect(404);
        restore("auditor", "OWN", allowed.resolve("never")).expect(403);
        assertThat(allowed.resolve("never")).doesNotExist();
        ended("operator", String.valueOf(operators.location())).has("/state", "COMPLETE");
    }

    @Test
    void aFileIsDownloadedAndTheLedgerSaysByWhom() {
        Answer file = download("lab", "OWN/FILES", "脳 image");

        file.expect(200);
        assertThat(file.text()).isEqualTo("content of 脳 image");
        assertThat(file.headers().firstValue("Content-Disposition"))
                .get()
                .asString()
                .startsWith("attachment; ")
                .contains("filename*=UTF-8''%E8%84%B3%20image");
        assertThat(service.ledger())
                .anyMatch(row -> row.action().equals("file.downloaded")
                        && row.actor().equals("lab")
                        && row.subject().equals("OWN/FILES"));
        assertThat(download("lab", "OWN/FILES", "large").text()).hasSize(LARGE_BYTES);
    }

    @Test
    void aFileIsOfferedWhereItsProofIs() {
        String address = "/experiments/OWN/FILES/proof?path="
                + Bytes.of(FilePath.of("脳 image".getBytes(StandardCharsets.UTF_8)));

        assertThat(service.page(service.browser("lab"), address))
                .contains(
                        "Download this content",
                        "name=\"entry\" value=\"%d\"".formatted(entry("OWN/FILES", "脳 image")));
        assertThat(service.page(service.browser("auditor"), address)).doesNotContain("Download this content");
    }

    @Test
    void noPictureIsShownUnlessTheCentreAllowsIt() {
        String proof = "/experiments/OWN/FILES/proof?path=" + Bytes.of(FilePath.of("large"));

        assertThat(ask("lab", "GET", "/OWN/FILES/content/picture?path=large", null)
                        .isProblem(409)
                        .text())
                .contains("pictures are turned off");
        assertThat(service.page(service.browser("lab"), proof)).doesNotContain("/picture?");
    }

    @Test
    void noFileIsDownloadedByOthersAndNothingThatIsNoFile() {
        download("lab", "ALIEN/E1", "脳 scan").expect(404);
        download("auditor", "OWN/FILES", "脳 image").expect(403);
        assertThat(download("lab", "OWN/FILES", "empty").expect(422).text())
                .contains("has no verified copy of this file");
        service.submit(service.browser("lab"), "/experiments/OWN/FILES/download", "site=dr&entry=999999")
                .expect(422);
    }

    @Test
    void whatIsNotWhatWasVerifiedIsNotDownloaded() throws Exception {
        Path copies = folder.resolve("dr/OWN/FILES/data");
        Files.writeString(copies.resolve("flipped"), "c0ntent of flipped");
        Files.delete(copies.resolve("gone"));
        byte[] changed = new byte[LARGE_BYTES];
        changed[LARGE_BYTES / 2] = 1;
        Path large = copies.resolve("large");
        byte[] right = Files.readAllBytes(large);
        Files.write(large, changed);

        Answer flipped = download("lab", "OWN/FILES", "flipped");
        Answer gone = download("lab", "OWN/FILES", "gone");

        flipped.expect(422);
        assertThat(flipped.text())
                .contains("is not what was verified, and was not downloaded")
                .doesNotContain("c0ntent");
        gone.expect(422);
        assertThat(gone.text()).contains("cannot be read now");
        assertThatThrownBy(() -> download("lab", "OWN/FILES", "large"))
                .as("it has begun, so it breaks off")
                .hasRootCauseInstanceOf(IOException.class);
        assertThatThrownBy(() -> download("lab", "OWN/FILES", FilePath.of("large")))
                .as("an archive breaks off, too")
                .hasRootCauseInstanceOf(IOException.class);
        HttpResponse<byte[]> folder = download("lab", "OWN/FILES", FilePath.ROOT);
        assertThat(folder.statusCode()).isEqualTo(422);
        assertThat(text(folder)).contains("is not what was verified, and was not downloaded");
        Files.write(large, right);
    }

    @Test
    void aFolderIsDownloadedAsAnArchiveThatTarUnpacks() throws Exception {
        Path source = folder.resolve("source-tree");

        HttpResponse<byte[]> archive = download("lab", "OWN/TREE", FilePath.of("研究"));

        assertThat(archive.statusCode()).isEqualTo(200);
        assertThat(archive.headers().firstValue("Content-Disposition"))
                .get()
                .asString()
                .contains("filename*=UTF-8''%E7%A0%94%E7%A9%B6.tar");
        Path unpacked = Files.createDirectory(folder.resolve("unpacked"));
        Path file = Files.write(folder.resolve("archive.tar"), archive.body());
        assertThat(Ended.printed("tar", "-C", unpacked.toString(), "-xf", file.toString()))
                .isEmpty();
        assertThat(Ended.printed(
                        "diff", "-r", "--no-dereference", source.resolve("研究").toString(), unpacked + "/研究"))
                .isEmpty();
        assertThat(names(unpacked)).containsExactly("研究");
        for (String each : List.of("研究", "研究/old")) {
            assertThat(Files.getPosixFilePermissions(unpacked.resolve(each)))
                    .isEqualTo(Files.getPosixFilePermissions(source.resolve(each)));
            assertThat(Files.getLastModifiedTime(unpacked.resolve(each)).toInstant())
                    .isEqualTo(Files.getLastModifiedTime(source.resolve(each))
                            .toInstant()
                            .truncatedTo(ChronoUnit.SECONDS));
        }
        assertThat(new String(archive.body(), StandardCharsets.ISO_8859_1))
                .doesNotContain(System.getProperty("user.name"));
        assertThat(service.ledger())
                .anyMatch(row -> row.action().equals("folder.downloaded")
                        && row.actor().equals("lab")
                        && row.subject().equals("OWN/TREE")
                        && !row.detail().contains("研究"));
    }

    @Test
    void aWholeExperimentIsDownloadedUnderItsCode() throws Exception {
        HttpResponse<byte[]> archive = download("lab", "OWN/TREE", FilePath.ROOT);

        assertThat(archive.headers().firstValue("Content-Disposition"))
                .get()
                .asString()
                .contains("\"TREE.tar\"");
        assertThat(Ended.printed(
                        "tar",
                        "-tf",
                        Files.write(folder.resolve("whole.tar"), archive.body()).toString()))
                .contains("beside\n");
    }

    @Test
    void aProgramDownloadsAFileOrAFolderOfAManifest() {
        String encoded = URLEncoder.encode("脳 image", StandardCharsets.UTF_8);
        String files = "/OWN/FILES/manifests/1/download";

        assertThat(ask("lab", "POST", files + "?path=" + encoded, null).text()).isEqualTo("content of 脳 image");
        assertThat(ask("lab", "POST", files + "?path=empty", null).text()).contains("empty/");
        assertThat(ask("lab", "POST", "/OWN/TREE/manifests/1/download?site=dr", null)
                        .text())
                .contains("in the deep", "beside");
        service.as("lab")
                .ask("POST", "/api/v1/experiments" + files + "?path=empty", null, "Accept", "application/x-tar")
                .expect(200);
        ask("lab", "POST", files + "?path=nothing", null).expect(404);
        ask("lab", "POST", files + "?path=../x", null).expect(422);
        ask("lab", "POST", "/OWN/FILES/manifests/9/download", null).expect(404);
        ask("lab", "POST", "/ALIEN/E1/manifests/1/download", null).expect(404);
        ask("auditor", "POST", files + "?path=" + encoded, null).expect(403);
    }

    @Test
    void noFolderIsDownloadedByOthersAndNothingThatIsNotThere() {
        assertThat(download("lab", "ALIEN/E1", FilePath.ROOT).statusCode()).isEqualTo(404);
        assertThat(download("auditor", "OWN/TREE", FilePath.ROOT).statusCode()).isEqualTo(403);
        assertThat(text(download("lab", "OWN/TREE", FilePath.of("nothing")))).contains("has nothing with this path");
        service.submit(service.browser("lab"), "/experiments/OWN/TREE/manifests/7/download", "site=dr")
                .expect(404);
    }

    @Test
    void aFolderComesBackFromItsPageAndThePageOfTheRestoreFollowsIt() {
        HttpClient lab = service.browser("lab");
        String page = service.page(lab, "/experiments/OWN/TREE/manifests/1?folder=" + Bytes.of(FilePath.of("研究")));
        assertThat(page)
                .contains("Restore this folder…", "/restore?manifest=1&amp;path=" + Bytes.of(FilePath.of("研究")));
        String form = "manifest=1&site=dr&path=%s&folder=%s".formatted(Bytes.of(FilePath.of("研究")), allowed);

        Answer requested = service.submit(lab, "/experiments/OWN/TREE/restore", form + "/tree");

        requested.expect(200);
        String address = requested.uri().getPath();
        assertThat(address).matches("/experiments/OWN/TREE/restores/[0-9]+");
        await().atMost(LIMIT).until(() -> service.page(lab, address).contains("Everything is restored"));
        assertThat(service.page(lab, address))
                .contains(allowed + "/tree", "研究", "manifest 1")
                .doesNotContain("Stop this restore", "hx-get=\"" + address);
        assertThat(allowed.resolve("tree/研究/old")).hasContent("old");
        assertThat(allowed.resolve("tree/beside")).doesNotExist();
        service.look(service.browser("auditor"), address, "en").expect(200);
        service.look(lab, address.replace("OWN/TREE", "OWN/E1"), "en").expect(404);
        assertThat(service.submit(lab, "/experiments/OWN/TREE/restore", form + "/tree")
                        .text())
                .contains("is not empty", "value=\"" + allowed + "/tree\"");
    }

    @Test
    void theFormIsFilledInAndItsResultSaysWhatToDoNext() throws Exception {
        HttpClient lab = service.browser("lab");
        String form = "/experiments/OWN/E1/restore";
        String proposed = allowed + "/E1-" + LocalDate.now(service.bean(ZoneId.class));
        assertThat(service.page(lab, form)).contains("value=\"%s\"".formatted(proposed));
        Files.createSymbolicLink(Path.of(proposed), Path.of("nowhere"));
        Files.createDirectory(Path.of(proposed + "-2"));

        assertThat(service.page(lab, form)).contains("value=\"%s-3\"".formatted(proposed));
        assertThat(service.page(lab, form + "?folder=/typed")).contains("value=\"/typed\"");
        service.put("/api/v1/projects/OWN/restore-roots", "{\"roots\": []}").expect(200);
        assertThat(service.page(lab, form)).contains("id=\"folder\" name=\"folder\" type=\"text\" value=\"\"");
        allow("OWN", allowed);

        Answer requested = service.submit(lab, form, "manifest=1&site=dr&folder=" + proposed + "-3");
        String address = requested.expect(200).uri().getPath();
        await().atMost(LIMIT).until(() -> service.page(lab, address).contains("Everything is restored"));
        assertThat(service.page(lab, address))
                .contains("What to do next", proposed + "-3", "dozo manifest --site dr --number 1 OWN/E1 &gt; list")
                .doesNotContain("The same restore again…");
        long id = Long.parseLong(address.replaceFirst(".*/", ""));
        for (String state : List.of("STOPPED", "FAILED")) {
            service.jdbc()
                    .sql("update restore set state = '%s' where restore_id = %d".formatted(state, id))
                    .update();
            assertThat(service.page(lab, address))
                    .contains(
                            form + "?manifest=1&amp;folder=" + proposed + "-3&amp;site=dr", "The same restore again…");
            assertThat(service.page(service.browser("auditor"), address)).doesNotContain("The same restore again…");
        }
        service.saveUnreachable("other");
        service.jdbc()
                .sql("update restore set state = 'FINDINGS' where restore_id = " + id)
                .update();
        assertThat(service.page(lab, address)).contains("&amp;site=other", "The rest from site other…");
        assertThat(service.page(lab, form)).as("the site with the copies").contains("value=\"dr\"");
        service.jdbc()
                .sql("update restore set state = 'RUNNING', ended_at = null, message = 'waits' where restore_id = "
                        + id)
                .update();
        assertThat(service.page(lab, address)).contains("Progress", "on average.", "waits");
        service.jdbc()
                .sql("update restore set state = 'COMPLETE', ended_at = now(), message = '' where restore_id = " + id)
                .update();
        service.delete("/api/v1/sites/other");
    }

    @Test
    void aPartComesBackByRestAndByTheCommand() throws Exception {
        Answer asked = service.as("lab")
                .post(
                        "/api/v1/experiments/OWN/TREE/restores",
                        "{\"folder\": \"%s\", \"paths\": [\"beside\"], \"patterns\": [\"研究/**/file\"]}"
                                .formatted(allowed.resolve("by-rest")));

        asked.expect(202);
        Answer restored = ended("lab", String.valueOf(asked.location()));
        restored.has("/paths/0", "beside");
        restored.has("/patterns/0", "研究/**/file");
        assertThat(names(allowed.resolve("by-rest"))).containsExactlyInAnyOrder("beside", "研究");
        assertThat(names(allowed.resolve("by-rest/研究"))).containsExactly("n".repeat(250));
        command("restore", "OWN/TREE", folder.resolve("by-command").toString(), "--path", "研究/")
                .ends(Exit.WELL);
        assertThat(names(folder.resolve("by-command"))).containsExactly("研究");
        assertThat(folder.resolve("by-command/研究/old")).hasContent("old");
        Ended nothing = command("restore", "OWN/TREE", folder.resolve("never").toString(), "--path", "nothing");
        nothing.ends(Exit.REFUSED);
        assertThat(nothing.err()).contains("has nothing with this path");
        assertThat(folder.resolve("never")).doesNotExist();
        Path list = Files.write(folder.resolve("list"), "./beside\0研究/old\0gone\0".getBytes(StandardCharsets.UTF_8));
        Ended listed =
                command("restore", "OWN/TREE", folder.resolve("by-list").toString(), "--paths-from", list.toString());
        listed.ends(Exit.NOT_SAFE);
        assertThat(listed.err()).contains("NO_MATCH", "gone: OWN/TREE#1 has nothing with this path");
        assertThat(names(folder.resolve("by-list"))).containsExactlyInAnyOrder("beside", "研究");
        assertThat(names(folder.resolve("by-list/研究"))).containsExactly("old");
        Ended followed = command(
                "restore",
                "OWN/TREE",
                allowed.resolve("by-pattern").toString(),
                "--in-service",
                "--pattern",
                "ol?",
                "--path",
                "beside");
        followed.ends(Exit.WELL);
        assertThat(followed.out()).contains(", only beside, ol?, into");
        assertThat(names(allowed.resolve("by-pattern/研究"))).containsExactly("old");
        Ended empty = command(
                "restore",
                "OWN/TREE",
                folder.resolve("never").toString(),
                "--paths-from",
                Files.createFile(folder.resolve("empty-list")).toString());
        empty.ends(Exit.USAGE);
        assertThat(empty.err()).contains("the list contains no path");
        for (String path : List.of("../beside", "/beside", "a//b")) {
            service.as("lab")
                    .post(
                            "/api/v1/experiments/OWN/TREE/restores",
                            "{\"folder\": \"%s\", \"paths\": [\"%s\"]}".formatted(allowed.resolve("never"), path))
                    .refused(422, "paths");
        }
        for (String wrong : List.of(
                "\"patterns\": [\"a/../b\"]",
                "\"patterns\": [\"[a\"]",
                "\"patterns\": []",
                "\"asOf\": \"2020-01-01\"")) {
            service.as("lab")
                    .post(
                            "/api/v1/experiments/OWN/TREE/restores",
                            "{\"folder\": \"%s\", %s}".formatted(allowed.resolve("never"), wrong))
                    .refused(422, wrong.substring(1, wrong.indexOf('"', 1)));
        }
    }

    @Test
    void aSeriesComesBackByRestByTheCommandAndByThePage() throws Exception {
        service.jdbc().sql("""
                insert into image_series (experiment_id, series_uid, description, instance_numbers, entry_nos)
                select experiment_id, '1.2.7', '', '{[1,2)}', int4multirange(int4range(entry_no, entry_no + 1))
                from entry_version where entry_no = %d and experiment_id = (select experiment_id from experiment where code = 'TREE')
                """.formatted(entry("OWN/TREE", "beside"))).update();
        String body = "{\"folder\": \"%s\", \"series\": [%s]}";
        String rest = "/OWN/TREE/restores";

        Answer asked = ask("lab", "POST", rest, body.formatted(allowed.resolve("series"), "\"1.2.7\""));
        ended("lab", String.valueOf(asked.expect(202).location()))
                .has("/state", "COMPLETE")
                .has("/paths/0", "beside");
        assertThat(names(allowed.resolve("series"))).containsExactly("beside");
        for (String wrong : List.of("", "\"1.2.8\"")) {
            ask("lab", "POST", rest, body.formatted(allowed.resolve("never"), wrong))
                    .refused(422, "series");
        }
        ask("lab", "POST", "/ALIEN/E1/restores", body.formatted(allowed.resolve("never"), "\"1.2.7\""))
                .expect(404);
        ask("operator", "POST", rest + "/archive", "{\"origin\": \"none\", \"series\": [\"1.2.8\"]}")
                .refused(422, "series");

        String into = allowed.resolve("series-command").toString();
        command("restore", "OWN/TREE", "--series", "1.2.7", "--in-service", into)
                .ends(Exit.WELL);
        assertThat(names(Path.of(into))).containsExactly("beside");
        assertThat(command("restore", "OWN/TREE", "--series", "1.2.7", "/here")
                        .ends(Exit.USAGE)
                        .err())
                .contains("--series: only with");
        command("restore", "--all", "--in-place", "--series", "1.2.7").ends(Exit.USAGE);

        HttpClient lab = service.browser("lab");
        String form = "/experiments/OWN/TREE/restore";
        assertThat(service.submit(lab, form, "series=1.2.8&folder=" + allowed.resolve("never"))
                        .text())
                .contains("has no file of series 1.2.8", "<details class=\"detail field\" open");
        Answer paged = service.submit(lab, form, "series=+1.2.7%0A%0A&folder=" + allowed.resolve("series-page"));
        await().atMost(LIMIT)
                .until(() -> service.page(lab, paged.uri().getPath()).contains("Everything is restored"));
        assertThat(names(allowed.resolve("series-page"))).containsExactly("beside");
    }

    @Test
    void commitmentsAreListedForWhoeverSeesAllProjects() {
        service.jdbc().sql("""
                insert into commitment (caller, transaction_uid, class_uids, instance_uids, asked_at, reported_at, failed)
                values ('MR7T', '1.2.3', '{1,1}', '{2,3}', now(), now(), 1)
                """).update();

        String address = "/api/v1/commitments";
        service.as("lab").get(address).expect(403);
        for (String user : List.of("operator", "auditor")) {
            service.as(user)
                    .get(address)
                    .has("/items/0/caller", "MR7T")
                    .has("/items/0/state", "REPORTED")
                    .has("/items/0/committed", 1);
            assertThat(service.page(service.browser(user), "/origins")).contains("Storage Commitment", "MR7T");
        }
        assertThat(service.as("operator").get(address + "?after=1").items()).isZero();
        assertThat(command("commitment", "list").ends(Exit.WELL).out()).contains("MR7T", "reported");
        service.jdbc().sql("delete from commitment").update();
        assertThat(command("commitment", "list").out()).contains("No request yet.");
    }

    @Test
    void manyAreRestoredInTheOrderOfAListAndALabManagerSeesOnlyOwnOnes() throws Exception {
        Path into = Files.createDirectory(allowed.resolve("many"));
        Path list = Files.writeString(folder.resolve("wanted"), "ALIEN/E1\n\nOWN/E1\n");

        Ended restored = command("restore", "--list", list.toString(), "--in-service", into.toString())
                .ends(Exit.WELL);

        assertThat(restored.out()).contains("complete, 2 of 2 experiments complete", "left: 0, 0 files");
        assertThat(into.resolve("ALIEN.E1/脳 scan")).hasContent("of ALIEN");
        assertThat(into.resolve("OWN.E1/脳 scan")).hasContent("of OWN");
        String batch = "" + service.count("select max(batch_id) from restore_batch");
        String address = "/api/v1/restore-batches/" + batch;
        assertThat(command("restore-batch", "list").out()).contains(batch, "complete", into.toString());
        assertThat(command("restore-batch", "show", batch).out()).contains("2 of 2 experiments complete");
        assertThat(command("restore-batch", "items", batch, "--state", "COMPLETE")
                        .out())
                .containsSubsequence("ALIEN/E1", "OWN/E1");
        assertThat(command("restore-batch", "items", batch, "--state", "FAILED").out())
                .contains("No experiment.");
        command("restore-batch", "stop", batch).ends(Exit.REFUSED);
        command("restore-batch", "resume", batch).ends(Exit.REFUSED);

        service.as("lab").get(address).has("/experiments", 1);
        for (String seen : List.of("/api/v1/restore-batches", address, address + "/items")) {
            assertThat(service.as("lab").get(seen).text()).as(seen).doesNotContain("ALIEN");
        }
        assertThat(service.as("lab").get(address + "/items").text()).contains("\"position\":2", "OWN/E1");
        service.as("lab").post(address + "/stop", null).refused(422, "batch");
        service.as("lab").post(address + "/resume", null).expect(403);
        service.as("auditor").get(address).has("/experiments", 2);
        service.as("auditor").post("/api/v1/restore-batches", "{}").expect(403);
        service.as("lab").post("/api/v1/restore-batches/archive", "{}").expect(403);
        for (String gone : List.of("", "/items")) {
            assertThat(service.as("lab")
                            .get("/api/v1/restore-batches/999999" + gone)
                            .status())
                    .isEqualTo(404);
        }
    }

    @Test
    void aBatchThatIsNotClearIsRefusedAtItsField() throws Exception {
        String home = ", \"inPlace\": true}";
        for (List<String> each : List.of(
                List.of("{\"all\": false" + home, "experiments"),
                List.of("{\"all\": true, \"project\": \"OWN\"" + home, "experiments"),
                List.of("{\"experiments\": []" + home, "experiments"),
                List.of("{\"experiments\": [\"ALIEN/E1\"]" + home, "experiments"),
                List.of("{\"experiments\": [\"OWN/E1\"], \"order\": \"NEWEST\"" + home, "order"),
                List.of("{\"project\": \"ALIEN\"" + home, "project"),
                List.of("{\"project\": \"OWN\"}", "folder"),
                List.of("{\"project\": \"OWN\", \"folder\": \"%s\"%s".formatted(allowed, home), "folder"),
                List.of("{\"project\": \"OWN\", \"folder\": \"%s\"}".formatted(folder), "folder"),
                List.of("{\"project\": \"OWN\", \"asOf\": \"soon\"" + home, "asOf"))) {
            service.as("lab").post("/api/v1/restore-batches", each.getFirst()).refused(422, each.getLast());
        }
        for (List<String> each : List.of(
                List.of("{\"all\": true}", "origin"), List.of("{\"all\": true, \"origin\": \"none\"}", "origin"))) {
            service.as("operator")
                    .post("/api/v1/restore-batches/archive", each.getFirst())
                    .refused(422, each.getLast());
        }
        Path list = Files.writeString(folder.resolve("wrong"), "\nOWN/E1\nOWN/NEVER\n");
        assertThat(command("restore", "--list", list.toString(), "--in-place")
                        .ends(Exit.REFUSED)
                        .err())
                .contains("3 \"OWN/NEVER\"");
        for (List<String> wrong : List.of(
                List.of("restore", "--all"),
                List.of("restore", "--all", "/somewhere"),
                List.of("restore", "--all", "--project", "OWN", "--in-place"),
                List.of("restore", "--all", "--in-place", "/somewhere"),
                List.of("restore", "--all", "--in-place", "--path", "a"),
                List.of("restore", "--all", "--in-place", "--manifest", "1"),
                List.of("restore", "--all", "--in-service", "OWN/E1", "/somewhere"),
                List.of("restore", "--order", "newest", "OWN/E1", "/somewhere"),
                List.of("restore", "--in-place"))) {
            assertThat(command(wrong.toArray(String[]::new)).code())
                    .as(wrong.toString())
                    .isEqualTo(Exit.USAGE);
        }
    }

    @Test
    void batchesHaveAPageFromWhichOneIsRequestedAndFollowed() throws Exception {
        Path into = Files.createDirectory(allowed.resolve("paged"));
        HttpClient lab = service.browser("lab");
        assertThat(service.page(lab, "/restores"))
                .contains("Restore many experiments")
                .doesNotContain("Into an archive");
        assertThat(service.submit(lab, "/do/post/restore-batches", "confirmed=true&inPlace=true&experiments=ALIEN/E1")
                        .text())
                .contains("there are no such experiments, by line: 1");
        service.submit(
                lab,
                "/do/post/restore-batches",
                "confirmed=true&back=/restores/*&experiments=OWN/E1&folder="
                        + URLEncoder.encode(into.toString(), StandardCharsets.UTF_8));
        String batch = "" + service.count("select max(batch_id) from restore_batch where folder is not null");
        ended("lab", "/api/v1/restore-batches/" + batch).has("/state", "COMPLETE");
        assertThat(service.page(lab, "/restores")).contains("/restores/" + batch);
        assertThat(service.page(lab, "/restores/" + batch))
                .contains("All experiments are restored", "OWN/E1", into.toString());
        assertThat(service.page(lab, "/restores/" + batch + "?state=WAITING")).doesNotContain("OWN/E1");
        assertThat(service.page(service.browser("operator"), "/experiments/OWN/E1/restore"))
                .contains("/do/post/experiments/OWN/E1/restores/archive");
        assertThat(service.page(lab, "/experiments/OWN/E1/restore")).doesNotContain("/restores/archive");
    }

    @Test
    void anOperatorRehearsesARestoreAndALabManagerSeesThoseOfOwnProjects() throws Exception {
        String body = "{\"project\": \"ALIEN\", \"experiment\": \"E1\"}";
        for (String user : List.of("lab", "auditor")) {
            service.as(user).post("/api/v1/drills", body).expect(403);
        }
        Answer asked = service.as("operator").post("/api/v1/drills", body);
        asked.expect(202);
        String alien = String.valueOf(asked.location());
        Answer drilled = ended("operator", alien);
        drilled.has("/state", "COMPLETE");
        assertThat(drilled.at("/seconds").asDouble()).isPositive();
        assertThat(names(service.work().resolve("drills"))).isEmpty();

        assertThat(command("drill", "OWN/E1", "--wait").ends(Exit.WELL).out())
                .contains("of OWN/E1, manifest 1, from dr: complete, 1 of 1 entries");
        assertThat(command("drill", "list").out()).contains("OWN/E1", "ALIEN/E1");
        assertThat(command("drill", "promises").out()).contains("OWN", "ALIEN", "kept");
        assertThat(command("drill", "forecast").out()).contains("fewer than 5", "unknown");
        assertThat(command("status").out()).doesNotContain("ehearsed");

        assertThat(service.as("lab").get("/api/v1/drills").text())
                .contains("OWN/E1")
                .doesNotContain("ALIEN");
        assertThat(service.as("lab").get("/api/v1/drills/promises").text())
                .contains("\"KEPT\"")
                .doesNotContain("ALIEN");
        assertThat(service.as("lab").get("/api/v1/drills/forecast").text())
                .contains("OWN")
                .doesNotContain("ALIEN");
        for (String foreign : List.of(
                alien, alien + "/findings", "/api/v1/drills/forecast?experiment=ALIEN/E1", "/api/v1/drills/999999")) {
            assertThat(service.as("lab").get(foreign).status()).as(foreign).isEqualTo(404);
        }
        assertThat(ask("operator", "GET", "/ALIEN/E1/restores", null).text())
                .as("nobody asked for its result")
                .doesNotContain(alien.substring(alien.lastIndexOf('/') + 1) + ",\"experiment");
    }

    @Test
    void whatCannotBeRehearsedIsRefusedAtItsField() {
        for (List<String> each : List.of(
                List.of("{\"project\": \"NONE\"}", "project"),
                List.of("{\"project\": \"OWN\", \"experiment\": \"NONE\"}", "experiment"),
                List.of("{\"experiment\": \"E1\"}", "project"),
                List.of("{\"project\": \"OWN\", \"site\": \"nowhere\"}", "site"))) {
            service.as("operator").post("/api/v1/drills", each.getFirst()).refused(422, each.getLast());
        }
        for (String days : List.of("0", "3661", "\"ten\"")) {
            assertThat(service.put("/api/v1/projects/OWN/drill-days", "{\"days\": %s}".formatted(days))
                            .status())
                    .isBetween(400, 422);
        }
    }

    @Test
    void drillsHaveAPageFromWhichOneIsStartedAndFollowed() {
        HttpClient operator = service.browser("operator");
        assertThat(service.page(operator, "/drills")).contains("Rehearse a restore", "Rehearsed in time");
        assertThat(service.submit(operator, "/do/post/drills", "confirmed=true&project=NONE")
                        .text())
                .contains("does not exist");

        Answer requested = service.submit(
                operator, "/do/post/drills", "confirmed=true&project=OWN&experiment=TREE&back=/drills/*");

        String address = requested.uri().getPath();
        assertThat(address).as(requested.text()).matches("/drills/[0-9]+");
        await().atMost(LIMIT).until(() -> service.page(operator, address).contains("every file was verified"));
        assertThat(service.page(operator, address)).doesNotContain("hx-get=\"/drills");
        HttpClient lab = service.browser("lab");
        assertThat(service.look(lab, "/drills", "ja").text())
                .contains("OWN/TREE", "期限内")
                .doesNotContain("復元を試す", "ALIEN");
        assertThat(service.page(lab, "/experiments/OWN/TREE/restore")).contains("Time for everything, from site dr");
    }

    @Test
    void aSiteThatWasAddedAfterTheFirstNightsAndNotUsedCanBeRemoved() {
        service.register("late", site.address());

        service.delete("/api/v1/sites/late").expect(204);

        assertThat(service.get("/api/v1/sites").text()).doesNotContain("late");
        service.register("later", site.address()).expect(200);
        service.delete("/api/v1/sites/later").expect(204);
    }

    /** Submits the form of a manifest's page. */
    private static HttpResponse<byte[]> download(String user, String experiment, FilePath path) {
        return service.submit(
                service.browser(user),
                "/experiments/" + experiment + "/manifests/1/download",
                "site=dr&folder=" + Bytes.of(path),
                BodyHandlers.ofByteArray());
    }

    private static String text(HttpResponse<byte[]> response) {
        return new String(response.body(), StandardCharsets.UTF_8);
    }

    /** Submits the form of a proof's page. */
    private static Answer download(String user, String experiment, String name) {
        return service.submit(
                service.browser(user),
                "/experiments/" + experiment + "/download",
                "site=dr&entry=" + entry(experiment, name));
    }

    private static int entry(String experiment, String name) {
        return service.jdbc()
                .sql("""
                        select v.entry_no
                        from entry_version v join experiment e using (experiment_id) join project p using (project_id)
                        where p.code || '/' || e.code = ? and v.name = ?
                        """)
                .param(experiment)
                .param(name.getBytes(StandardCharsets.UTF_8))
                .query(Integer.class)
                .single();
    }

    @Test
    void whatIsNotAllowedIsRefusedInWordsThatSayWhatIs() throws Exception {
        Path outside = Files.createDirectory(folder.resolve("outside"));
        Files.createSymbolicLink(allowed.resolve("link"), outside);
        Path inside = Files.createDirectories(allowed.resolve("not-empty"));
        Files.writeString(inside.resolve("mine"), "mine");

        for (String user : List.of("lab", "operator", "admin")) {
            for (Path refused : List.of(
                    outside.resolve("new"),
                    allowed,
                    allowed.resolve("link/new"),
                    folder.resolve("source-OWN/new"),
                    folder.resolve("work/new"))) {
                Answer answer = restore(user, "OWN", refused);
                answer.refused(422, "folder");
                assertThat(answer.text()).contains("choose a folder below " + allowed);
            }
        }
        assertThat(restore("lab", "OWN", inside).text()).contains("is not empty");
        assertThat(names(outside)).isEmpty();
        ask("lab", "POST", "/OWN/E1/restores", "{}").expect(422);
        assertThat(ask(
                                "lab",
                                "POST",
                                "/OWN/E1/restores",
                                "{\"folder\": \"%s\", \"manifest\": 7}".formatted(allowed.resolve("new")))
                        .text())
                .contains("has no such manifest");
    }

    @Test
    void anAdministratorSetsTheFoldersAndNoneOverlapsWithASourceOrWithOurs() throws Exception {
        service.post("/api/v1/projects", "{\"code\": \"NEW\"}").expect(201);
        for (Path refused :
                List.of(folder.resolve("source-ALIEN"), folder, service.work(), folder.resolve("nothing"))) {
            allow("NEW", refused).refused(422, "roots");
        }
        service.as("operator")
                .put("/api/v1/projects/NEW/restore-roots", "{\"roots\": []}")
                .expect(403);
        allow("NEW", allowed).has("/restoreRoots/0", allowed.toString());
        assertThat(service.put("/api/v1/projects/NEW/roots", "{\"roots\": [\"%s\"]}".formatted(allowed))
                        .text())
                .contains("overlaps with a restore folder");
        assertThat(command("project", "restore-roots", "NEW").out()).contains(allowed.toString());
        assertThat(command("project", "restore-roots", "NEW", "--none").out()).contains("has no restore folders");
    }

    @Test
    void theCommandFollowsItToItsEnd() {
        Ended done = command(
                "restore",
                "OWN/E1",
                "--in-service",
                allowed.resolve("by-command").toString());
        Ended refused = command(
                "restore", "OWN/E1", "--in-service", folder.resolve("no").toString());
        Ended json = command(
                "restore",
                "OWN/E1",
                "--json",
                "--in-service",
                allowed.resolve("json").toString());

        done.ends(Exit.WELL);
        assertThat(done.out()).contains("of OWN/E1, manifest 1", "complete", "findings: 0");
        assertThat(allowed.resolve("by-command/脳 scan")).hasContent("of OWN");
        refused.ends(Exit.REFUSED);
        assertThat(refused.err()).contains("is not below a restore folder");
        assertThat(json.out()).contains("\"state\" : \"COMPLETE\"");
    }

    @Test
    void anExperimentComesBackInPlaceByRestByCommandAndByItsPage() throws Exception {
        Path source = Files.createDirectory(folder.resolve("source-home"));
        Path file = Files.writeString(source.resolve("a"), "content");
        service.createExperiment("OWN", "HOME", source);
        service.backUp();
        String restores = "/OWN/HOME/restores";
        String request = "{\"inPlace\": true}";
        ask("auditor", "POST", restores, request).expect(403);
        ask("lab", "POST", "/ALIEN/E1/restores", request).expect(404);
        ask("lab", "POST", restores, "{\"inPlace\": true, \"folder\": \"%s\"}".formatted(source))
                .refused(422, "folder");
        ask("lab", "POST", restores, "{\"inPlace\": false}").refused(422, "folder");
        Files.writeString(file, "by rest");

        Answer asked = ask("lab", "POST", restores, request);

        asked.expect(202).has("/inPlace", true);
        assertThat(asked.string("/aside")).startsWith(allowed + "/HOME-aside-");
        Answer ended = ended("lab", String.valueOf(asked.location()));
        ended.has("/state", "COMPLETE").has("/aside", asked.string("/aside"));
        assertThat(Path.of(asked.string("/aside"), "put-aside/a")).hasContent("by rest");
        assertThat(file).hasContent("content");

        Files.writeString(file, "by command");
        Ended command = command("restore", "OWN/HOME", "--in-place", "--path", "a");
        command.ends(Exit.WELL);
        assertThat(command.out())
                .contains("only a, into " + source, "complete", "put aside, in the service: " + allowed);
        assertThat(file).hasContent("content");
        assertThat(command("restore", "OWN/HOME", "--in-place").out()).doesNotContain("put aside");
        for (String[] wrong : new String[][] {
            {"restore", "OWN/HOME"},
            {"restore", "OWN/HOME", "--in-place", "/x"},
            {"restore", "OWN/HOME", "--in-place", "--dry-run"}
        }) {
            command(wrong).ends(Exit.USAGE);
        }

        Files.writeString(file, "by page");
        HttpClient browser = service.browser("lab");
        String form = "/experiments/OWN/HOME/restore";
        assertThat(service.page(browser, form)).contains("name=\"inPlace\"");
        String address = service.submit(browser, form, "inPlace=true&manifest=1&site=dr&folder=/not/used")
                .expect(200)
                .uri()
                .getPath();
        await().atMost(LIMIT).until(() -> service.page(browser, address).contains("Everything is restored"));
        assertThat(service.page(browser, address))
                .contains("Put aside in", allowed + "/HOME-aside-", "dozo scrub --home")
                .doesNotContain("Move them to where they belong");
        assertThat(file).hasContent("content");
        service.jdbc()
                .sql("update restore set state = 'STOPPED' where restore_id = "
                        + Long.parseLong(address.replaceFirst(".*/", "")))
                .update();
        assertThat(service.page(browser, address)).contains(form + "?manifest=1&amp;inPlace=true&amp;site=dr");
    }

    @Test
    void aPageAsksWhereToAndListsWhatCameOfIt() {
        var browser = service.browser("lab");
        String page = "/experiments/OWN/E1";

        assertThat(service.page(browser, page)).contains(page + "/restore");
        assertThat(service.look(browser, page + "/restore", "ja").text())
                .contains(allowed.toString())
                .contains("OWN/E1 を復元しますか");
        assertThat(service.page(browser, page + "/manifests/1")).contains(page + "/restore?manifest=1");
        assertThat(service.page(browser, page + "/restore"))
                .as("states by their time")
                .containsPattern("<option value=\"1\"[^>]*>As of .*: 1 file, .* \\(manifest 1\\)</option>");
        assertThat(service.submit(browser, page + "/restore", "folder=" + folder.resolve("no"))
                        .text())
                .contains("is not below a restore folder");
        assertThat(service.submit(browser, page + "/restore", "manifest=x&folder=" + allowed.resolve("no"))
                        .text())
                .contains("has no such manifest");
        assertThat(service.submit(browser, page + "/restore", "patterns=%5Ba&folder=" + allowed.resolve("no"))
                        .text())
                .contains("the ] of a class is missing", "<details class=\"detail field\" open");
        assertThat(service.submit(browser, page + "/restore", "patterns=*&folder=" + allowed.resolve("by-page"))
                        .text())
                .contains("<code>*</code>");
        await().atMost(LIMIT)
                .until(
                        () -> ask("lab", "GET", "/OWN/E1/restores", null).text(),
                        text -> !text.contains("WAITING") && !text.contains("RUNNING"));
        for (String language : List.of("en", "ja")) {
            assertThat(service.look(browser, page, language).text())
                    .contains(allowed.resolve("by-page").toString())
                    .contains(language.equals("en") ? "complete" : "完了");
        }
        String projects = "/administration/projects/OWN";
        assertThat(service.page(browser, projects)).contains("Restore folders", allowed.toString());
        service.submit(service.browser(), "/do/put/projects/OWN/restore-roots", "confirmed=true&roots=" + allowed)
                .expect(200);
    }

    private static Ended command(String... arguments) {
        return Ended.at(service, arguments);
    }

    private static Answer restore(String user, String project, Path target) {
        return ask(user, "POST", "/" + project + "/E1/restores", "{\"folder\": \"%s\"}".formatted(target));
    }

    private static Answer ask(String user, String method, String path, String body) {
        return service.as(user).ask(method, "/api/v1/experiments" + path, body);
    }

    private static Answer ended(String user, String location) {
        return await().atMost(LIMIT)
                .until(
                        () -> service.as(user).get(location),
                        answer -> !Set.of("WAITING", "RUNNING").contains(answer.string("/state")));
    }

    private static Answer allow(String project, Path root) {
        return service.put(
                "/api/v1/projects/%s/restore-roots".formatted(project), "{\"roots\": [\"%s\"]}".formatted(root));
    }

    private static String id(Answer restore) {
        return String.valueOf(restore.number("/id"));
    }

    private static List<String> names(Path folder) throws Exception {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(each -> String.valueOf(each.getFileName())).toList();
        }
    }
}
