package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.certificate.Certificates;
import dozo.db.Program;
import dozo.loopback.LoopbackSite;
import dozo.people.Role;
import dozo.people.Tokens;
import dozo.registry.Projects;
import dozo.run.Runs.RunState;
import dozo.security.MadeKeys;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/**
 * The Python client, as a wheel in a Python environment without Dozo's sources: each of its examples does at a service with its own
 * authority what it promises, and fails if something is not safe. Needs the network once, for packages of PyPI.
 */
class PythonClientIT {

    /** What the wheel requires, so that the environment can be kept between wheels. */
    private static final String REQUIRED = "attrs httpx<0.29";

    private static final JsonMapper JSON = new JsonMapper();
    private static final Set<String> METHODS = Set.of("get", "post", "put", "patch", "delete");
    private static final String EXAMPLES = "dozo_client.examples.";
    private static final byte[] CONTENT = "content of a scan".getBytes(StandardCharsets.UTF_8);

    @TempDir
    static Path temporary;

    private static Path folder;
    private static Path sources;
    private static Path authority;
    private static Path wheel;
    private static RunningService service;
    private static LoopbackSite site;
    private static String labManager;
    private static String auditor;
    private static String operator;

    @BeforeAll
    static void start() throws Exception {
        folder = temporary.toRealPath();
        sources = Files.createDirectory(folder.resolve("sources"));
        wheel = made("first");
        python(Map.of(), "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", wheel.toString())
                .succeeded();
        python(Map.of(), "-m", "pip", "check").succeeded();
        Path keys = MadeKeys.store(folder.resolve("keys"), "EC", "ip:127.0.0.1", "-1H");
        authority = Files.writeString(folder.resolve("authority.pem"), MadeKeys.certificate(keys));
        Path key = Files.writeString(folder.resolve("key.pem"), MadeKeys.key(keys));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        service = RunningService.shared(Map.of(
                "dozo.http.tls-certificate-file", authority.toString(), "dozo.http.tls-key-file", key.toString()));
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectory(folder.resolve("dr")), 0);
        service.saveSite("dr", site.address());
        for (String project : List.of("LAB", "P1")) {
            service.createProject(project);
            service.bean(Projects.class).setRoots(project, List.of(sources), "test");
        }
        service.createUser("lab", Role.LAB_MANAGER, "LAB");
        service.createUser("auditor", Role.AUDITOR);
        service.createUser("operator", Role.OPERATOR);
        labManager = token("lab", false);
        auditor = token("auditor", true);
        operator = token("operator", true);
        service.createExperiment("P1", "E1", source("E1"));
        assertThat(service.backUp().state()).isEqualTo(RunState.COMPLETE);
    }

    @AfterAll
    static void stop() {
        service.close();
        site.close();
    }

    @Test
    void theSameCommitGivesTheSameBytesAndNothingIsLeftOut() throws Exception {
        assertThat(made("second")).hasSameBinaryContentAs(wheel);
        try (ZipFile content = new ZipFile(wheel.toFile())) {
            assertThat(content.stream()
                            .filter(each -> each.getName().matches("dozo_client/api/\\w+/(?!__)\\w+\\.py"))
                            .count())
                    .isEqualTo(operations());
        }
    }

    @Test
    void aLabManagerRegistersWhatIsNewAndWaitsUntilItIsSafe() throws Exception {
        String known = "project,code,source\nLAB,E2,%s\nLAB,E3,%s\n".formatted(source("E2"), source("E3"));
        Path list = Files.writeString(folder.resolve("list.csv"), known + "LAB,E4,/etc\n");

        Program first = python(labManager, "-m", EXAMPLES + "register", list.toString(), "0.1");
        Files.writeString(list, known);
        Program second = python(labManager, "-m", EXAMPLES + "register", list.toString());

        assertThat(first.output())
                .contains("line 4 is refused: source: ", "2 registered, 0 known, 1 refused", "backs up 2 now")
                .endsWith("2 of 2 are safe\n");
        assertThat(first.exitCode()).isEqualTo(1);
        assertThat(second.succeeded()).isEqualTo("0 registered, 2 known, 0 refused\n2 of 2 are safe\n");
        assertThat(folder.resolve("dr/LAB/E3/data/scan")).hasBinaryContent(CONTENT);
    }

    @Test
    void whatIsNotSafeInTimeIsNamed() throws Exception {
        Path list = Files.writeString(
                folder.resolve("late.csv"), "project,code,source\nLAB,LATE,%s\n".formatted(source("LATE")));

        Program waited = python(labManager, "-m", EXAMPLES + "register", list.toString(), "0");
        service.awaitEnd(service.count("select max(run_id) from run"));

        assertThat(waited.output()).endsWith("0 of 1 are safe\nLAB/LATE is not safe: no backup of it has ended\n");
        assertThat(waited.exitCode()).isEqualTo(1);
    }

    @Test
    void anAuditorKnowsWhatWasSafeAndChecksACertificate() throws Exception {
        String today = LocalDate.now(service.bean(ZoneId.class)).toString();
        python(
                        token("admin", false),
                        "-c",
                        "import io\nfrom dozo_client.api.bookings import booking_keep_all\n"
                                + "from dozo_client.connection import connect\nfrom dozo_client.types import File\n"
                                + "booking_keep_all.sync(client=connect(), body=File(io.BytesIO(b'accession,date,patient,project\\n"
                                + "A1,%s,S1,P1\\n')))"
                                        .formatted(LocalDate.parse(today).minusDays(9)))
                .succeeded();
        String fingerprint = service.bean(Certificates.class).key().fingerprint();

        Program audited = audit("safe", today, fingerprint);
        Program forged = audit("forged", today, "0".repeat(64));
        Program before = audit("before", "2020-01-01", fingerprint);

        assertThat(audited.succeeded())
                .contains("gaps.csv: 1 line\n", "P1/E1, manifest 1: certificate and list: as certified; no copy read\n")
                .endsWith("everything was safe\n");
        assertThat(Files.readString(folder.resolve("safe/safe.csv"))).contains("dr,P1,1,1,1,1,17,17,1,0\r\n");
        assertThat(Files.readString(folder.resolve("safe/gaps.csv"))).contains(",P1,A1,never-scanned,False\r\n");
        assertThat(forged.output()).contains("the certificate has another key").endsWith("certified\n");
        assertThat(forged.exitCode()).isEqualTo(1);
        assertThat(before.output()).contains("P1/E1: had no manifest\n");
        assertThat(before.exitCode()).isEqualTo(1);
    }

    @Test
    void anOperatorSeesTheNightsAndFetchesOnlyWhatIsAsVerified() throws Exception {
        Path copy = folder.resolve("dr/P1/E1/data/scan");
        Path good = folder.resolve("good");
        Path bad = folder.resolve("bad");

        Program nights = python(operator, "-m", EXAMPLES + "nights", "P1/E1", "scan", good.toString());
        byte[] damaged = CONTENT.clone();
        damaged[0]++;
        Files.write(copy, damaged);
        Program refused = python(operator, "-m", EXAMPLES + "nights", "P1/E1", "scan", bad.toString());
        Files.write(copy, CONTENT);

        assertThat(nights.succeeded())
                .contains("COMPLETE ", "1 night: 1 COMPLETE\n", "17 bytes, as verified at the site at ");
        assertThat(good).hasBinaryContent(CONTENT);
        assertThat(refused.output()).contains("the copy at site dr is not what was verified, and was not downloaded");
        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(bad).doesNotExist();
    }

    @Test
    void aConnectionNeedsATokenAndTheAuthorityAndReadsAllPages() throws Exception {
        String connect = """
                from dozo_client.api.projects import project_list
                from dozo_client.connection import connect, items
                client = connect()
                print([each.code for each in items(project_list, client=client, limit=1)], client.get_httpx_client().timeout.read)
                """;
        String url = service.url();
        String file =
                Files.writeString(folder.resolve("token"), operator + "\n").toString();

        Program good = python(
                Map.of("DOZO_URL", url, "DOZO_TOKEN_FILE", file, "DOZO_CA_FILE", authority.toString()), "-c", connect);
        Program untrusted = python(Map.of("DOZO_URL", url, "DOZO_TOKEN_FILE", file), "-c", connect);
        Program unknown = python("dozo_wrong", "-c", connect);
        Program missing = python("", "-c", connect);

        assertThat(good.succeeded()).isEqualTo("['LAB', 'P1'] 120\n");
        assertThat(untrusted.output()).contains("CERTIFICATE_VERIFY_FAILED");
        assertThat(unknown.output()).contains("UnexpectedStatus: Unexpected status code: 401", "unknown token");
        assertThat(missing.output()).contains("expected one word, the token, in DOZO_TOKEN");
    }

    private static Program audit(String name, String day, String key) throws Exception {
        return python(
                auditor, "-m", EXAMPLES + "audit", day, folder.resolve(name).toString(), key, "P1/E1");
    }

    /** Runs Python as a user whose shell has the settings of Dozo's commands. */
    private static Program python(String token, String... arguments) throws IOException, InterruptedException {
        return python(
                Map.of("DOZO_URL", service.url(), "DOZO_TOKEN", token, "DOZO_CA_FILE", authority.toString()),
                arguments);
    }

    private static Program python(Map<String, String> settings, String... arguments)
            throws IOException, InterruptedException {
        return Program.python("client-trial", settings, REQUIRED, arguments);
    }

    private static long operations() throws IOException {
        return JSON.readTree(Path.of("src/main/resources/openapi.json"))
                .at("/paths")
                .valueStream()
                .flatMap(path -> path.propertyNames().stream())
                .filter(METHODS::contains)
                .count();
    }

    private static Path made(String name) throws IOException, InterruptedException {
        String said = Program.succeed("../dozo", "client", folder.resolve(name).toString());
        return Path.of(said.lines().toList().getLast());
    }

    private static Path source(String name) throws IOException {
        Path source = Files.createDirectory(sources.resolve(name));
        Files.write(source.resolve("scan"), CONTENT);
        return source;
    }

    private static String token(String user, boolean readOnly) {
        return service.bean(Tokens.class)
                .create(user, "t" + System.nanoTime(), null, readOnly, 1)
                .secret();
    }
}
