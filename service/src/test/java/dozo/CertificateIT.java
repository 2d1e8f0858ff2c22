package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.certificate.SigningKey;
import dozo.command.Exit;
import dozo.file.FilePath;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.loopback.LoopbackSite;
import dozo.people.Role;
import dozo.registry.KeyFile;
import dozo.witness.WitnessSchedule;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A certificate is checked without Dozo, and there is none for what is not verified. */
class CertificateIT {

    private static final Path CHECKER = Path.of("..", "docs", "check_certificate.py");
    private static final String PATIENT = "Yamada-Hanako";

    /** Names that text formats tend to lose. */
    private static final List<byte[]> NAMES = Stream.of(
                    "a\nb", "\\", "\\n", " x ", "%0A", "%", "-", "\r", "脳画像", "\u0085")
            .map(name -> name.getBytes(StandardCharsets.UTF_8))
            .toList();

    private static final byte[] NOT_UTF8 = {(byte) 0x94, (byte) 0x5c, (byte) 0xff, '\n'};

    @TempDir
    static Path temporary;

    private static Path folder;
    private static RunningService service;
    private static LoopbackSite site;

    /** What the checker returned and printed. */
    /** A certificate's two files. */
    private record Papers(Path certificate, Path list) {}

    @BeforeAll
    static void start() throws Exception {
        folder = temporary.toRealPath();
        service = RunningService.shared();
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectory(folder.resolve("dr")), 0);
        service.register("dr", site.address());
        service.post("/api/v1/projects", "{\"code\": \"P1\", \"title\": \"%s\"}".formatted(PATIENT));
        service.createUser("auditor", Role.AUDITOR);
        Path names = source("NAMES");
        Path below = Files.createDirectories(FilePath.of(NOT_UTF8).under(names).resolve("empty"));
        for (byte[] name : NAMES) {
            Files.write(FilePath.of(name).under(names), name);
        }
        Files.write(FilePath.of(NOT_UTF8).under(below.getParent()), new byte[3 << 20]);
        Files.createFile(names.resolve("nothing"));
        Files.createSymbolicLink(names.resolve("link"), Path.of("/nowhere/" + "t".repeat(200)));
        // By path, "a-c" comes between the folder "a" and "a/b".
        Files.createDirectory(names.resolve("a"));
        Files.writeString(names.resolve("a/b"), "in a folder");
        Files.writeString(names.resolve("a-c"), "beside it");
        for (String code : List.of("CHANGES", "DAMAGED")) {
            Files.writeString(source(code).resolve("file"), "first");
            Files.writeString(source(code).resolve("gone"), "deleted later");
        }
        source("EMPTY");
        for (String code : List.of("NAMES", "CHANGES", "DAMAGED", "EMPTY")) {
            register(code);
        }
        back();
    }

    @AfterAll
    static void stop() {
        service.close();
        site.close();
    }

    @Test
    void anybodyChecksTheSourceTheBagAndARestoreWithoutDozo() throws Exception {
        Papers papers = papers("NAMES");
        Path bag = folder.resolve("dr/P1/NAMES/data");

        for (Path copy : List.of(source("NAMES"), bag)) {
            Ended checked = check(key(), papers, copy);
            assertThat(checked.code()).as(checked.out()).isZero();
            assertThat(checked.out())
                    .contains(
                            "certificate and list: as certified; copy: 14 files read, all equal",
                            "project: P1\nexperiment: NAMES\nmanifest: 1\n",
                            "site: dr\nfiles: 14\n",
                            "folders: 3\nlinks: 1\n");
        }
        assertThat(check(fingerprint(), papers, bag).code()).isZero();
        assertThat(Files.readAllLines(papers.list()))
                .extracting(line -> line.substring(line.lastIndexOf(' ') + 1))
                .containsSubsequence("%0D", "%20x%20", "%25", "%250A", "-", "\\", "\\n", "a", "a%0Ab", "a-c", "a/b")
                .contains("%94\\%FF%0A/%94\\%FF%0A");
    }

    /** What is ticked in the list: one archive with an archive for each, and why some have none. */
    @Test
    void manyCertificatesAreOneArchive() throws Exception {
        byte[] archive = service.submit(
                        service.browser("auditor"),
                        "/experiments/selected",
                        "do=certificates&experiments=P1/NAMES+P1/NONE",
                        BodyHandlers.ofByteArray())
                .body();

        List<String> names = new ArrayList<>();
        try (ZipInputStream zip = new ZipInputStream(new ByteArrayInputStream(archive))) {
            for (ZipEntry each = zip.getNextEntry(); each != null; each = zip.getNextEntry()) {
                names.add(each.getName());
                byte[] content = zip.readAllBytes();
                if (each.getName().contains("NAMES")) {
                    assertThat(unpack(content, Files.createDirectory(folder.resolve("many"))))
                            .hasSize(2);
                }
            }
        }
        assertThat(names).containsExactly("P1.NAMES.manifest-1.dr.certificate.zip", "NOT-CERTIFIED.txt");
    }

    @Test
    void whatDiffersIsNamed() throws Exception {
        Papers papers = papers("NAMES");
        Path copy = folder.resolve("copy");
        Ended.printed("cp", "-a", source("NAMES").toString(), copy.toString());
        Files.writeString(copy.resolve("a-c"), "beside IT");
        Files.delete(copy.resolve("nothing"));
        Files.delete(copy.resolve("link"));
        Files.createSymbolicLink(copy.resolve("link"), Path.of("elsewhere"));
        Files.writeString(copy.resolve("more"), "");

        Ended checked = check(key(), papers, copy);

        assertThat(checked.code()).isEqualTo(1);
        assertThat(checked.out().lines().filter(line -> line.contains(": certified ")))
                .satisfiesExactly(
                        line -> assertThat(line).startsWith("a-c: certified (b'f', 9, "),
                        line -> assertThat(line).startsWith("link: certified (b'l', 0, "),
                        line -> assertThat(line).startsWith("more: certified None, found (b'f', 0, "),
                        line -> assertThat(line)
                                .startsWith("nothing: certified ")
                                .endsWith(" found None"));
        assertThat(checked.out())
                .contains(
                        "NOT AS CERTIFIED: certificate and list: as certified; copy: 14 files read, 2 differ, 1 missing, 1 extra");
    }

    /** The sentence and the exit code say what was read; no two say the same. */
    @Test
    void lessIsNeverSaidInTheWordsForMore() throws Exception {
        Papers papers = papers("NAMES");
        String certificate = papers.certificate().toString();
        String list = papers.list().toString();
        Path copy = folder.resolve("with-more");
        Ended.printed("cp", "-a", source("NAMES").toString(), copy.toString());
        Files.writeString(copy.resolve("more"), "");

        assertThat(checked(key(), certificate).ends(4).out())
                .contains("certificate: genuine; no list and no copy read");
        assertThat(checked(key(), certificate, list).ends(3).out())
                .contains("certificate and list: as certified; no copy read");
        assertThat(checked(key(), certificate, list, copy.toString(), "--more")
                        .ends(0)
                        .out())
                .contains("copy: 15 files read, all certified ones equal, 1 extra")
                .doesNotContain("more: certified");
        assertThat(checked(key(), certificate, list, "").ends(2).out())
                .as("a script's empty variable is no copy")
                .contains("cannot be checked: certificate and list: as certified; copy: ")
                .doesNotContain("no copy read");
        assertThat(checked(key(), certificate, certificate).ends(1).out())
                .contains("NOT AS CERTIFIED: certificate: genuine; list: the list was changed");
    }

    @Test
    void nothingIsAcceptedThatSomebodyChangedOrSignedWithAnotherKey() throws Exception {
        Papers papers = papers("NAMES");
        String certificate = Files.readString(papers.certificate());
        String list = Files.readString(papers.list());
        Path forged = folder.resolve("forged");

        Files.writeString(forged, certificate.replace("site: dr\n", "site: ds\n"));
        assertThat(check(key(), new Papers(forged, papers.list()), null).out()).contains("signature is wrong");
        Files.writeString(forged, certificate + "\n");
        assertThat(check(key(), new Papers(forged, papers.list()), null).out()).contains("not a certificate");
        Files.writeString(forged, list.replace("f 9 ", "f 8 "));
        assertThat(check(key(), new Papers(papers.certificate(), forged), null).out())
                .contains("list was changed");
        Files.writeString(forged, list.substring(0, list.length() - 1));
        assertThat(check(key(), new Papers(papers.certificate(), forged), null).out())
                .contains("list was changed");
        Ended.printed(
                "openssl",
                "genpkey",
                "-algorithm",
                "ed25519",
                "-out",
                folder.resolve("other").toString());
        Ended.printed(
                "openssl", "pkey", "-in", folder.resolve("other").toString(), "-pubout", "-out", forged.toString());
        assertThat(check(forged.toString(), papers, null).out()).contains("has another key");
        assertThat(check("0".repeat(64), papers, null).code()).isEqualTo(1);
        assertThat(check(folder.resolve("never").toString(), papers, null).code())
                .isEqualTo(2);
    }

    @Test
    void certificatesAndTheLedgerVerifyAfterTheirExperimentWasErased() throws Exception {
        Files.writeString(source("ERASED").resolve("file"), "of a subject");
        register("ERASED");
        back();
        Papers papers = papers("ERASED");
        Path bag = folder.resolve("dr/P1/ERASED");
        assertThat(bag).exists();
        service.jdbc().sql("""
                insert into erasure (project_id, code, experiment_id, registered_at, reason, requested_by, requested_at, approved_by,
                                     approved_at, not_before)
                select project_id, code, experiment_id, registered_at, 'wish', 'lab', now(), 'admin', now(), now()
                from experiment where code = 'ERASED'
                """).update();

        back();

        assertThat(bag).doesNotExist();
        check(key(), papers, null).ends(3);
        service.get("/api/v1/ledger/verification").has("/verdict", "INTACT");
        assertThat(service.get("/api/v1/ledger?subject=P1/ERASED").text())
                .contains("certificate.issued", "erasure.begun", "erasure.removed", "erasure.completed");
        order("ERASED").ends(Exit.REFUSED);
    }

    @Test
    void anEarlierManifestHasItsOwnCertificate() throws Exception {
        Path first = folder.resolve("first");
        Ended.printed("cp", "-a", source("CHANGES").toString(), first.toString());
        Files.writeString(source("CHANGES").resolve("file"), "changed");
        Files.delete(source("CHANGES").resolve("gone"));
        back();
        Path bag = folder.resolve("dr/P1/CHANGES/data");

        assertThat(check(key(), papers("CHANGES", "--manifest", "1"), first).code())
                .isZero();
        Papers latest = papers("CHANGES");
        assertThat(check(key(), latest, source("CHANGES")).code()).isZero();
        assertThat(check(key(), latest, bag).out()).contains("gone: certified None");
        assertThat(checked(key(), latest.certificate().toString(), latest.list().toString(), bag.toString(), "--more")
                        .code())
                .as("the site keeps what the source deleted")
                .isZero();
        assertThat(order("CHANGES", "--manifest", "9").ends(Exit.REFUSED).err())
                .contains("P1/CHANGES has no such manifest");
    }

    @Test
    void whatIsNotVerifiedHasNoCertificate() {
        jdbc("""
                insert into damage (experiment_id, site_id, entry_no, receipt_id, run_id, found_at, kind)
                select r.experiment_id, r.site_id, e.entry_no, r.receipt_id, r.run_id, now(), 'MISSING'
                from entry e join experiment x using (experiment_id) join receipt r on r.experiment_id = x.experiment_id
                where x.code = 'DAMAGED' and e.name = 'file' and e.entry_no = any(r.entry_nos)
                """);
        // A folder that is empty at first has no manifest.
        assertThat(order("EMPTY").err()).contains("P1/EMPTY has no such manifest");
        jdbc("""
                insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new,
                                      entries_changed, entries_gone)
                select experiment_id, 1, now(), 0, 0, 0, 0, 0, 0, 0 from experiment where code = 'EMPTY'
                """);
        long before = service.bean(Ledger.class).last();

        assertThat(order("DAMAGED").err())
                .contains("1 of 2 entries of P1/DAMAGED, manifest 1, are not verified at site dr (found damaged: 1)")
                .contains("\"file\"");
        assertThat(order("EMPTY").err()).contains("manifest 1 of P1/EMPTY has no entries");
        assertThat(order("NEVER").err()).contains("\"P1/NEVER\" does not exist");
        assertThat(order("NAMES", "--site", "never").err()).contains("site \"never\" does not exist");
        assertThat(order("NAMES", "--site", "never").code()).isEqualTo(Exit.REFUSED);
        assertThat(service.ledgerAfter(before)).isEmpty();
    }

    /** A broken file is known by its line in the list: the certificate has no names of files. */
    @Test
    void aCertificateSaysWhichFilesAreNotWhole() throws Exception {
        Path source = source("CONTENT");
        Files.writeString(source.resolve("a.txt"), "nobody knows");
        Files.writeString(FilePath.of(NOT_UTF8).under(source), "{");
        Files.writeString(source.resolve("whole.json"), "{}");
        Files.writeString(source.resolve("cut.json"), "[1,");
        Files.createSymbolicLink(source.resolve("link"), Path.of("cut.json"));
        register("CONTENT");
        back();

        Papers papers = papers("CONTENT");

        assertThat(papers.certificate())
                .content()
                .contains("links: 1\nwhole: 1\nsuspect: 0\nbroken: 1\nunknown: 2\nbroken-file: 2 JSON: ")
                .doesNotContain("cut.json");
        assertThat(Files.readAllLines(papers.list()).get(1)).endsWith(" cut.json");
        assertThat(check(key(), papers, source).ends(0).out())
                .contains("broken: 1\n", "broken-file: 2 JSON: ", " (cut.json)\n", "4 files read, all equal");
        assertThat(checked(key(), papers.certificate().toString()).ends(4).out())
                .contains("broken-file: 2 JSON: ")
                .doesNotContain("cut.json");
    }

    @Test
    void receiptsOfARemovedSiteCertifyNothing() throws Exception {
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        LoopbackSite other = LoopbackSite.openSsh(folder.resolve("sshd-2"), elsewhere, 0);
        try (other) {
            service.register("old", other.address());
            Files.writeString(source("REMOVED").resolve("file"), "at the old site only");
            register("REMOVED");
            back("{\"site\": \"old\"}");
            assertThat(check(key(), papers("REMOVED", "--site", "old"), elsewhere.resolve("P1/REMOVED/data"))
                            .code())
                    .isZero();
            assertThat(order("REMOVED").err()).contains("there are 2 sites; choose one");
            assertThat(service.delete("/api/v1/sites/old?copies=true").status()).isLessThan(300);

            assertThat(order("REMOVED").err())
                    .contains("1 of 1 entries of P1/REMOVED, manifest 1, are not verified at site dr");
            assertThat(order("REMOVED", "--site", "old").err()).contains("site \"old\" does not exist");
        }
    }

    @Test
    void theLedgerSaysWhoGotWhichCertificateAndThePapersNameNobody() throws Exception {
        long before = service.bean(Ledger.class).last();
        Papers papers = papers("NAMES");
        List<LedgerEntry> rows = service.ledgerAfter(before);

        assertThat(rows)
                .filteredOn(row -> row.action().equals("certificate.issued"))
                .singleElement()
                .satisfies(row -> {
                    assertThat(row.actor()).isEqualTo("admin");
                    assertThat(row.subject()).isEqualTo("P1/NAMES#1");
                    assertThat(row.detail())
                            .contains("\"site\": \"dr\"", fingerprint(), value("root", papers))
                            .contains(Ended.printed(
                                            "sha256sum", papers.certificate().toString())
                                    .substring(0, 64));
                });
        long head = Long.parseLong(value("ledger", papers).split(" ")[0]);
        assertThat(service.bean(Ledger.class).after(head - 1, 1).getFirst().hash())
                .isEqualTo(value("ledger", papers).split(" ")[1]);
        assertThat(Files.readString(papers.certificate()) + Files.readString(papers.list()))
                .doesNotContain(PATIENT, "admin", folder.toString());
        assertThat(Files.size(papers.certificate())).isLessThan(2_000);
    }

    @Test
    void aLostKeyIsSeenAndItsCertificatesStillHold() throws Exception {
        Papers old = papers("NAMES");
        String oldKey = fingerprint();
        Path file = service.work().resolve("certificate-key");
        Files.move(file, file.resolveSibling("certificate-key.lost"));
        service.post("/api/v1/experiments/P1/NAMES/certificate", "").refused(409, "key");
        // As a restart does.
        service.bean(SigningKey.class).create();

        Papers fresh = papers("NAMES");

        assertThat(fingerprint()).isNotEqualTo(oldKey);
        check(oldKey, old, null).ends(3);
        assertThat(check(oldKey, fresh, null).out()).contains("has another key: " + fingerprint());
        assertThat(service.ledger())
                .filteredOn(row -> row.action().equals("key.introduced"))
                .extracting(LedgerEntry::subject)
                .containsSubsequence(oldKey, fingerprint())
                .doesNotHaveDuplicates();
    }

    @Test
    void aKeyVouchesForTheOneThatReplacesIt() throws Exception {
        Papers first = papers("NAMES");
        String firstKey = fingerprint();
        for (int year = 0; year < 2; year++) {
            Ended.dozo(service, "key rotate certificate-key").ends(0);
        }
        Papers last = papers("NAMES");
        String printed = key();
        List<String> of = List.of(
                first.certificate().toString(),
                first.list().toString(),
                last.certificate().toString(),
                last.list().toString());

        check(firstKey, first, null).ends(3);
        assertThat(check(printed, first, null).out()).contains("has another key: " + firstKey);
        checked(printed, of.get(0), of.get(1), "--keys", printed).ends(3);
        checked(firstKey, of.get(2), of.get(3), "--keys", printed).ends(3);
        String forged = Files.writeString(
                        folder.resolve("forged.pem"),
                        Files.readString(Path.of(printed)).replaceAll("(?m)[0-9a-f]{8}$", "00000000"))
                .toString();
        assertThat(checked(printed, of.get(0), of.get(1), "--keys", forged).out())
                .contains("has another key");
        assertThat(service.ledger())
                .filteredOn(row ->
                        row.action().equals("key.introduced") && row.subject().equals(fingerprint()))
                .singleElement()
                .satisfies(row -> assertThat(row.detail())
                        .contains(Files.readAllLines(Path.of(printed)).getLast())
                        .contains("\"after\": "));
        Path file = service.work().resolve("certificate-key");
        assertThat(KeyFile.former(file)).as("no old private key is left").doesNotExist();
        assertThat(KeyFile.next(file)).doesNotExist();
    }

    @Test
    void anAuditorGetsItFromThePage() throws Exception {
        var browser = service.browser("auditor");
        String address = "/experiments/P1/NAMES/certificate";
        assertThat(service.page(browser, "/experiments/P1/NAMES/manifests/1"))
                .contains("href=\"" + address + "?manifest=1\"");
        assertThat(service.page(browser, address)).contains(fingerprint(), "BEGIN PUBLIC KEY");

        HttpResponse<byte[]> archive =
                service.submit(browser, address, "manifest=1&site=dr", BodyHandlers.ofByteArray());
        Answer refused = service.submit(browser, address, "manifest=9&site=dr");

        assertThat(archive.headers().firstValue("Content-Disposition"))
                .hasValue("attachment; filename=\"P1.NAMES.manifest-1.dr.certificate.zip\"");
        Path unpacked = Files.createDirectory(folder.resolve("unpacked"));
        assertThat(unpack(archive.body(), unpacked))
                .containsExactly("P1.NAMES.manifest-1.dr.list.txt", "P1.NAMES.manifest-1.dr.certificate.txt");
        Papers papers = new Papers(
                unpacked.resolve("P1.NAMES.manifest-1.dr.certificate.txt"),
                unpacked.resolve("P1.NAMES.manifest-1.dr.list.txt"));
        assertThat(check(key(), papers, source("NAMES")).code()).isZero();
        assertThat(refused.text()).contains("P1/NAMES has no such manifest", "Download the certificate");
    }

    @Test
    void nothingIsOverwritten() throws Exception {
        Path into = Files.createDirectory(folder.resolve("kept"));
        Path kept = Files.writeString(into.resolve("P1.NAMES.manifest-1.dr.certificate.txt"), "an earlier one");

        assertThat(Ended.dozo(service, "certificate P1/NAMES", into)
                        .ends(Exit.REFUSED)
                        .err())
                .contains("exists already; nothing is overwritten");
        assertThat(kept).hasContent("an earlier one");
        try (Stream<Path> files = Files.list(into)) {
            assertThat(files).containsExactly(kept);
        }
        Ended.dozo(service, "certificate P1/NAMES", into + "/never").ends(Exit.USAGE);
    }

    /** The service is its own witness here, over HTTP. */
    @Test
    void aProofShowsThatWitnessesHaveSeenTheLedger() throws Exception {
        String log = service.get("/api/v1/checkpoint").string("/vkey");
        String cosigner = service.get("/api/v1/witness-key").string("/vkey");
        service.post("/api/v1/trusted-logs", "{\"vkey\": \"%s\"}".formatted(log))
                .expect(204);
        service.put(
                        "/api/v1/witnesses/own",
                        "{\"address\": \"%s/witness/\", \"vkey\": \"%s\"}".formatted(service.url(), cosigner))
                .expect(200);
        try {
            service.bean(WitnessSchedule.class).askAll();
            Path into = Files.createDirectory(folder.resolve("witnessed"));
            List<String> files = Ended.dozo(service, "certificate P1/NAMES", into)
                    .ends(0)
                    .out()
                    .lines()
                    .toList();
            String certificate = files.get(1);
            String proof = files.get(2);
            assertThat(Files.size(Path.of(proof))).isLessThan(2_000);

            Ended seen = checked(key(), certificate, "--proof", proof, "--vkey", log, "--vkey", cosigner);

            assertThat(seen.code()).as(seen.out()).isEqualTo(4);
            assertThat(seen.out()).contains("proven: row ", " rows, signed by ");
            checked(key(), certificate, files.get(0), "--proof", proof, "--vkey", log)
                    .ends(3);
            String text = Files.readString(Path.of(proof));
            Path wrong = folder.resolve("wrong.proof.txt");
            for (String other : List.of(
                    text.replaceFirst("index [0-9]+", "index 0"),
                    text.replaceFirst("(?m)^[A-Za-z0-9+/]{43}=$", "A".repeat(43) + "="),
                    text.replaceFirst("\n[0-9]+\n", "\n9999\n"))) {
                Files.writeString(wrong, other);
                assertThat(other).isNotEqualTo(text);
                checked(key(), certificate, "--proof", wrong.toString(), "--vkey", log)
                        .ends(1);
            }
            String foreign = cosigner.replaceFirst("[0-9a-f]{8}", "00000000");
            checked(key(), certificate, "--proof", proof, "--vkey", foreign).ends(1);
            checked(key(), certificate, "--proof", proof).ends(1);
        } finally {
            service.delete("/api/v1/witnesses/own").expect(204);
            jdbc("delete from cosignature");
        }
    }

    @Test
    void aRowAfterTheLastCheckpointHasNoProofYet() {
        long size = service.get("/api/v1/checkpoint").number("/size");
        service.get("/api/v1/checkpoint/proof?row=" + size).expect(200);
        service.get("/api/v1/checkpoint/proof?row=" + (size + 1)).refused(409, "row");
        service.get("/api/v1/checkpoint/proof?row=0").refused(409, "row");
        service.get("/api/v1/checkpoint/consistency?from=1&to=" + size).expect(200);
        service.get("/api/v1/checkpoint/consistency?from=2&to=1").refused(422, "to");
        service.get("/api/v1/checkpoint/consistency?from=1&to=" + (size + 1)).refused(422, "to");
        service.post("/api/v1/checkpoint/declaration", "{}").refused(422, "reason");
        service.put("/api/v1/witnesses/x", "{\"address\": \"ftp://x\", \"vkey\": \"x\"}")
                .refused(422, "address");
        service.put("/api/v1/witnesses/x", "{\"address\": \"http://x/%\", \"vkey\": \"x\"}")
                .refused(422, "address");
        service.put("/api/v1/witnesses/x", "{\"address\": \"http://x\", \"vkey\": \"x\"}")
                .refused(422, "vkey");
        service.put("/api/v1/witnesses/x%20y", "{}").refused(422, "name");
        service.delete("/api/v1/witnesses/x").expect(404);
        service.post("/api/v1/trusted-logs", "{\"vkey\": \"x\"}").refused(422, "vkey");
        service.post(
                        "/api/v1/trusted-logs",
                        "{\"vkey\": \"%s\", \"origin\": \"a b\"}"
                                .formatted(service.get("/api/v1/checkpoint").string("/vkey")))
                .refused(422, "origin");
    }

    private static List<String> unpack(byte[] archive, Path into) throws IOException {
        List<String> names = new ArrayList<>();
        try (ZipInputStream zip = new ZipInputStream(new ByteArrayInputStream(archive))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                names.add(entry.getName());
                Files.copy(zip, into.resolve(entry.getName()));
            }
        }
        return names;
    }

    private static Ended order(String code, String... options) {
        return Ended.at(
                service,
                Stream.concat(Stream.of("certificate", "P1/" + code, folder.toString()), Stream.of(options))
                        .toArray(String[]::new));
    }

    private static Papers papers(String code, String... options) throws IOException {
        Path into = Files.createTempDirectory(folder, "papers");
        Ended ended = Ended.at(
                service,
                Stream.concat(Stream.of("certificate", "P1/" + code, into.toString()), Stream.of(options))
                        .toArray(String[]::new));
        ended.ends(0);
        List<Path> files = ended.out().lines().map(Path::of).toList();
        assertThat(files).hasSize(2).allMatch(file -> file.startsWith(into));
        return new Papers(files.getLast(), files.getFirst());
    }

    private static String value(String field, Papers papers) throws IOException {
        return Files.readAllLines(papers.certificate()).stream()
                .filter(line -> line.startsWith(field + ": "))
                .map(line -> line.substring(field.length() + 2))
                .findFirst()
                .orElseThrow();
    }

    /** Writes the public key as people do, and returns the file. */
    private static String key() throws IOException {
        return Files.writeString(
                        folder.resolve("key.pem"),
                        Ended.dozo(service, "certificate-key").out())
                .toString();
    }

    private static String fingerprint() {
        return service.get("/api/v1/certificate-key").string("/fingerprint");
    }

    private static Ended check(String key, Papers papers, Path copy) throws Exception {
        return checked(Stream.concat(
                        Stream.of(
                                key,
                                papers.certificate().toString(),
                                papers.list().toString()),
                        Stream.ofNullable(copy).map(Path::toString))
                .toArray(String[]::new));
    }

    private static Ended checked(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("python3", "-B", CHECKER.toString()));
        command.addAll(List.of(arguments));
        Ended ended = Ended.of(new ProcessBuilder(command));
        assertThat(ended.out()).doesNotContain("Traceback");
        return ended;
    }

    private static Path source(String code) throws IOException {
        return Files.createDirectories(folder.resolve("source-" + PATIENT).resolve(code));
    }

    private static void register(String code) throws IOException {
        service.post(
                        "/api/v1/experiments",
                        "{\"project\": \"P1\", \"code\": \"%s\", \"title\": \"%s\", \"source\": \"%s\"}"
                                .formatted(code, PATIENT, source(code)))
                .expect(201);
    }

    private static void back() {
        back("{\"site\": \"dr\"}");
    }

    private static void back(String body) {
        service.awaitEnd(service.post("/api/v1/runs", body).number("/id"));
    }

    private static void jdbc(String sql) {
        assertThat(service.jdbc().sql(sql).update()).isPositive();
    }
}
