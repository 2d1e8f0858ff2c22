package dozo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.command.Exit;
import dozo.db.ChildJava;
import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.run.Runs.RunState;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** A manifest's list is read by {@code sha256sum -c}, exact to the byte. An incomplete list never looks complete. */
class ManifestListTest {

    private static final long SEED = 20261121;

    private static final String LIST = "/api/v1/experiments/P1/%s/manifests/1/sha256sums";

    @TempDir
    static Path folder;

    private static RunningService service;
    private static LoopbackSite site;

    private record Printed(int code, byte[] out, String err) {}

    @BeforeAll
    static void start() throws Exception {
        service = RunningService.shared();
        site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0);
        service.register("dr", site.address()).expect(200);
        service.post("/api/v1/projects", "{\"code\": \"P1\"}").expect(201);
        writeNames(source("NAMES"));
        Files.writeString(source("TWO").resolve("a"), "first");
        Files.writeString(source("TWO").resolve("sub"), "second");
        Files.writeString(source("LONG").resolve("a"), "first");
        Files.createDirectory(source("LONG").resolve("sub"));
        for (String code : List.of("NAMES", "TWO", "LONG")) {
            register(code);
        }
        runToItsEnd();
        System.setProperty("dozo.password.file", service.passwordFile().toString());
    }

    @AfterAll
    static void stop() {
        System.clearProperty("dozo.password.file");
        service.close();
        site.close();
    }

    @Test
    void theListChecksTheSourceWhateverTheNames() throws Exception {
        Printed printed = dozo("manifest", "P1/NAMES");
        HttpResponse<byte[]> loaded = load(LIST.formatted("NAMES"));

        assertThat(printed.code()).as(printed.err()).isZero();
        assertThat(loaded.body()).as("seed %d", SEED).isEqualTo(printed.out());
        assertThat(check(source("NAMES"), printed.out())).isEmpty();
        try (Stream<Path> files = Files.walk(source("NAMES"))) {
            assertThat(lines(printed.out()))
                    .isEqualTo(files.filter(Files::isRegularFile).count());
        }
        // It reports changed and missing files, and nothing else.
        Files.write(FilePath.of("-").under(source("NAMES")), new byte[] {1});
        assertThat(check(source("NAMES"), printed.out())).containsExactly("./-: FAILED");
    }

    /** Under {@code script}, which gives a program a terminal. */
    @Test
    void onATerminalControlCharactersInNamesAreShownAndNotSent() throws Exception {
        for (List<String> command : List.of(List.of("manifest", "P1/NAMES"), List.of("audit", "files"))) {
            String java = ChildJava.of(Application.class)
                    .arguments(command)
                    .arguments("--url", service.url())
                    .process()
                    .command()
                    .stream()
                    .map("'%s'"::formatted)
                    .collect(Collectors.joining(" "));
            ProcessBuilder script = new ProcessBuilder("script", "-qec", java, "/dev/null");
            script.environment()
                    .put("DOZO_PASSWORD_FILE", service.passwordFile().toString());
            Process process =
                    script.redirectInput(Path.of("/dev/null").toFile()).start();
            String shown = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
            assertThat(process.exitValue()).as(shown).isZero();
            assertThat(shown)
                    .contains("\\x1B", "結果一覧表")
                    .doesNotContain("\u001b")
                    .doesNotContain("\t");
        }
    }

    @Test
    void aBrowserKeepsItUnderANameAndGuessesNoCharset() throws Exception {
        HttpResponse<byte[]> list = load(LIST.formatted("TWO"));
        HttpResponse<byte[]> head = ask("HEAD", LIST.formatted("TWO"), "*/*");

        for (HttpResponse<byte[]> each : List.of(list, head)) {
            assertThat(each.statusCode()).isEqualTo(200);
            assertThat(header(each, "Content-Type")).isEqualTo("application/octet-stream");
            assertThat(header(each, "Content-Disposition"))
                    .isEqualTo("attachment; filename=\"P1.TWO.manifest-1.sha256\"");
            assertThat(header(each, "X-Content-Type-Options")).isEqualTo("nosniff");
            assertThat(header(each, "Dozo-Files-Missing")).isEqualTo("0");
        }
        assertThat(head.body()).isEmpty();
        assertThat(header(head, "Content-Length")).as("the length is not known").isEmpty();
        assertThat(ask("GET", LIST.formatted("TWO"), "application/json").statusCode())
                .isEqualTo(406);
        service.get("/api/v1/experiments/P1/TWO/manifests/9/sha256sums").expect(404);
    }

    @Test
    void anEarlierManifestHasTheDigestsOfItsOwnContents() throws Exception {
        Path source = source("EARLIER");
        Files.writeString(source.resolve("stays"), "as it was");
        Files.writeString(source.resolve("changes"), "before");
        register("EARLIER");
        runToItsEnd();
        byte[] first = dozo("manifest", "P1/EARLIER").out();
        Files.writeString(source.resolve("changes"), "after it");
        Files.writeString(source.resolve("comes"), "later");
        runToItsEnd();

        assertThat(dozo("manifest", "P1/EARLIER", "--number", "1").out()).isEqualTo(first);
        byte[] second = dozo("manifest", "P1/EARLIER").out();
        assertThat(check(source, second)).isEmpty();
        assertThat(lines(second)).isEqualTo(3);
        assertThat(check(source, first)).containsExactly("changes: FAILED");
        assertThat(dozo("manifest", "P1/EARLIER", "--as-of", "2020-01-01").code())
                .isEqualTo(Exit.REFUSED);
        String sealed =
                service.get("/api/v1/experiments/P1/EARLIER/manifests/1").string("/sealedAt");
        assertThat(dozo("manifest", "P1/EARLIER", "--as-of", sealed).out()).isEqualTo(first);
    }

    @Test
    void aListThatLacksFilesIsRefusedAndNeverLooksWhole() throws Exception {
        Path source = source("LACKS");
        Files.writeString(source.resolve("proven"), "x");
        register("LACKS");
        runToItsEnd();
        jdbc("""
                insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind, name)
                select experiment_id, 1000, directory_no, 1, 1, 1, 420, 'f', 'unproven' from entry
                where experiment_id = (select experiment_id from experiment where code = 'LACKS') and kind = 'f'
                """);
        jdbc("""
                update protection set files = files + 1
                where experiment_id = (select experiment_id from experiment where code = 'LACKS')
                """);
        String list = LIST.formatted("LACKS");

        Answer refused = service.get(list);
        HttpResponse<byte[]> partial = load(list + "?partial=true");
        Printed printed = dozo("manifest", "P1/LACKS");

        refused.refused(409, "partial");
        assertThat(refused.string("/errors/0/message")).contains("1 of 1 files").contains("have no receipt at dr");
        assertThat(header(partial, "Dozo-Files-Missing")).isEqualTo("1");
        assertThat(new String(partial.body(), StandardCharsets.UTF_8)).startsWith("# NOT WHOLE: 1 of ");
        assertThat(check(source, partial.body())).isEmpty();
        assertThat(printed.code()).isEqualTo(Exit.REFUSED);
        assertThat(printed.out()).isEmpty();
        assertThat(dozo("manifest", "P1/LACKS", "--partial").out()).isEqualTo(partial.body());
    }

    @Test
    void aDownloadThatBreaksOffIsNoWholeAnswer() throws Exception {
        // An invalid folder path behind 20,000 files: reading the entries fails after much has been sent.
        jdbc(
                "insert into directory (experiment_id, directory_no, path) select experiment_id, 999, '../x' from experiment where code = 'LONG'");
        jdbc("""
                insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind, name)
                select experiment_id, 1000 + n, case n when 20000 then 999 else directory_no end, 1, 1, 1, 420, 'f',
                       convert_to('file-' || n, 'UTF8')
                from entry cross join generate_series(1, 20000) n
                where experiment_id = (select experiment_id from experiment where code = 'LONG') and kind = 'f'
                """);
        jdbc("""
                insert into receipt (experiment_id, site_id, unit_id, run_id, manifest_no, entry_nos, digests, method, worker,
                                     verified_at)
                select experiment_id, site_id, unit_id, run_id, 1, array(select generate_series(1001, 21000)),
                       decode(repeat('ab', 32 * 20000), 'hex'), method, worker, verified_at
                from receipt where experiment_id = (select experiment_id from experiment where code = 'LONG') limit 1
                """);
        ByteArrayOutputStream taken = new ByteArrayOutputStream();

        HttpResponse<java.io.InputStream> answer =
                http().send(request("GET", LIST.formatted("LONG"), "*/*"), BodyHandlers.ofInputStream());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThatThrownBy(() -> answer.body().transferTo(taken)).isInstanceOf(IOException.class);

        assertThat(taken.size()).isGreaterThan(100_000);
        assertThat(taken.toString(StandardCharsets.UTF_8))
                .as("nothing is said in the list that is not of it")
                .matches("(?s)[0-9a-f]{64}  .*")
                .doesNotContain("{");
        Printed printed = dozo("manifest", "P1/LONG");
        assertThat(printed.code()).isEqualTo(Exit.UNAVAILABLE);
        assertThat(printed.err()).contains("the output is incomplete");
    }

    @Test
    void theCommandLineHasRootsAndSheetsToo() throws Exception {
        Path root = folder.toRealPath();

        assertThat(Ended.dozo(service, "project roots P1").out()).contains("has no source roots");
        assertThat(Ended.dozo(service, "project roots P1", root).out()).isEqualTo(root + "\n");
        assertThat(Ended.dozo(service, "project roots P1").out()).isEqualTo(root + "\n");
        assertThat(Ended.dozo(service, "project roots P1", root + "/nothing").code())
                .isEqualTo(Exit.REFUSED);
        assertThat(Ended.dozo(service, "project roots P1 --none").out()).contains("has no source roots");
        assertThat(Ended.dozo(service, "prove P1/TWO a --csv").out())
                .startsWith("experiment,path,pathBytes,")
                .contains("\nP1/TWO,a,YQ==,");
        assertThat(Ended.dozo(service, "ledger list --subject P1 --csv").out())
                .startsWith("seq,at,actor,action,subject,detail,hash")
                .contains(",project.created,P1,");
        assertThat(Ended.dozo(service, "ledger list --csv --json").code()).isEqualTo(Exit.USAGE);
    }

    /** Writes names as researchers leave them, and random ones of bytes that programs often handle wrongly. */
    private static void writeNames(Path source) throws IOException {
        Set<String> known = new TreeSet<>();
        List<byte[]> names = new ArrayList<>();
        for (String plain : List.of(
                "-", "--help", " x", "x ", "a\nb", "a\\nb", "\\", "\r", "x\r\n", "*a", "#c", "%0A", "ガボール.m",
                "(x) = 1")) {
            names.add(plain.getBytes(StandardCharsets.UTF_8));
        }
        names.add("ソース表示.txt".getBytes(Charset.forName("windows-31j")));
        names.add("結果一覧表".getBytes(Charset.forName("EUC-JP")));
        byte[] pieces = {
            'a', '\n', '\r', '\\', ' ', '*', '-', 'n', (byte) 0x81, (byte) 0x5c, (byte) 0xff, '\t', 0x1b, '%', '.'
        };
        Random random = new Random(SEED);
        while (names.size() < 400) {
            byte[] name = new byte[1 + random.nextInt(12)];
            for (int i = 0; i < name.length; i++) {
                name[i] = pieces[random.nextInt(pieces.length)];
            }
            names.add(name);
        }
        Path sub = Files.createDirectory(FilePath.of("sub\\\n").under(source));
        for (byte[] name : names) {
            String key = new String(name, StandardCharsets.ISO_8859_1);
            if (!key.matches("\\.{1,2}") && known.add(key)) {
                Files.write(FilePath.of(name).under(source), name);
                Files.write(FilePath.of(name).under(sub), name);
            }
        }
    }

    /** Returns the output of {@code sha256sum -c --quiet --strict} for a folder. */
    private static List<String> check(Path in, byte[] list) throws Exception {
        Path file = Files.write(Files.createTempFile(folder, "list", ""), list);
        Process process = new ProcessBuilder("sha256sum", "-c", "--quiet", "--strict", file.toString())
                .directory(in.toFile())
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectError(folder.resolve("said").toFile())
                .start();
        byte[] said = process.getInputStream().readAllBytes();
        assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
        return new String(said, StandardCharsets.UTF_8).lines().toList();
    }

    private static long lines(byte[] list) {
        long lines = 0;
        for (byte b : list) {
            lines += b == '\n' ? 1 : 0;
        }
        return lines;
    }

    private static Path source(String code) throws IOException {
        return Files.createDirectories(folder.resolve("sources").resolve(code));
    }

    private static void register(String code) throws IOException {
        service.createExperiment("P1", code, source(code));
    }

    private static void runToItsEnd() {
        assertThat(service.backUp().state()).isEqualTo(RunState.COMPLETE);
    }

    private static void jdbc(String sql) {
        service.jdbc().sql(sql).update();
    }

    private static String header(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name).orElse("");
    }

    private static HttpResponse<byte[]> load(String path) throws Exception {
        HttpResponse<byte[]> response = ask("GET", path, "*/*");
        assertThat(response.statusCode()).isEqualTo(200);
        return response;
    }

    private static HttpResponse<byte[]> ask(String method, String path, String accept) throws Exception {
        return http().send(request(method, path, accept), BodyHandlers.ofByteArray());
    }

    private static HttpRequest request(String method, String path, String accept) {
        return HttpRequest.newBuilder(URI.create(service.url() + path))
                .header("Authorization", RunningService.basic("admin", service.password()))
                .header("Accept", accept)
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
    }

    private static HttpClient http() {
        return HttpClient.newHttpClient();
    }

    private static Printed dozo(String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        StringWriter err = new StringWriter();
        CommandLine commandLine = Application.commandLine();
        commandLine.setOut(new PrintWriter(err)).setErr(new PrintWriter(err));
        PrintStream before = System.out;
        System.setOut(new PrintStream(out));
        try {
            String[] all = Stream.concat(Stream.of(arguments), Stream.of("--url", service.url()))
                    .toArray(String[]::new);
            return new Printed(commandLine.execute(all), out.toByteArray(), err.toString());
        } finally {
            System.setOut(before);
        }
    }
}
