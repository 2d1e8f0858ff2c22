package dozo.identity;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.zaxxer.hikari.HikariDataSource;
import dozo.Application;
import dozo.Ended;
import dozo.RunningService;
import dozo.command.Exit;
import dozo.db.ChildJava;
import dozo.db.TestDatabase;
import dozo.identity.Places.Found;
import dozo.loopback.LoopbackSite;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.source.dicom.Dataset;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * 500 names and numbers of participants are in folder and file names, in links, in DICOM headers and in bookings. None of them
 * leaves the places where names belong.
 */
class IdentityScanIT {

    private static final int PARTICIPANTS = 250;
    private static final LocalDate DAY = LocalDate.of(2026, 11, 2);
    private static final Charset CONSOLE = Charset.forName("windows-31j");

    @TempDir
    static Path folder;

    /** What a scan found after a night of the project with codes. */
    private static final Places CLEAN = new Places();

    private static final List<String> NAMES = new ArrayList<>();
    private static HikariDataSource database;
    private static LoopbackSite site;
    private static RunningService service;
    private static Path list;

    @BeforeAll
    static void start() throws Exception {
        for (int i = 0; i < PARTICIPANTS; i++) {
            NAMES.add("脳山%d花子".formatted(i));
            NAMES.add("KHB%05d".formatted(i));
        }
        list = Files.write(folder.resolve("participants"), NAMES);
        Path dr = Files.createDirectory(folder.resolve("dr"));
        site = LoopbackSite.openSsh(folder.resolve("sshd"), dr, 0);
        database = TestDatabase.fresh();
        service = RunningService.start(folder.resolve("work"), database, Map.of());
        service.saveSite("dr", site.address());
        service.bean(Projects.class).create("CODED", "脳山1花子の研究", "codes", List.of(), "test");
        service.createProject("KEPT");
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.addAppender(log);
        book();
        register("CODED", "E1", folder.resolve("脳山2花子"), PARTICIPANTS);
        service.backUp();
        root.detachAppender(log);
        assertThat(log.list).isNotEmpty();
        Path written = Files.write(
                folder.resolve("service.log"),
                log.list.stream().map(ILoggingEvent::getFormattedMessage).toList());
        scanAll(CLEAN, Set.of("CODED"), written);
    }

    private static void scanAll(Places places, Set<String> projects, Path log) throws Exception {
        Wanted wanted = Wanted.of(list);
        new CatalogueScan(wanted, places).run(database);
        new SiteScan(wanted, places).run(service.dr(), projects);
        new FileScan(wanted, places).run(log);
    }

    @AfterAll
    static void stop() {
        service.close();
        site.close();
    }

    private static void book() {
        StringBuilder csv = new StringBuilder("受付番号,検査日,患者ID,患者氏名,シリーズ数,課題\r\n");
        for (int i = 0; i < PARTICIPANTS; i++) {
            csv.append("A%d,%s,%s,%s,1,CODED\r\n".formatted(i, DAY, NAMES.get(2 * i + 1), NAMES.get(2 * i)));
        }
        service.as("admin")
                .post("/api/v1/bookings/bulk", "text/csv", csv.toString().getBytes(CONSOLE))
                .has("/booked", PARTICIPANTS);
    }

    private static void register(String project, String code, Path source, int participants) throws IOException {
        for (int i = 0; i < participants; i++) {
            String name = NAMES.get(2 * i);
            String number = NAMES.get(2 * i + 1);
            Path visit = Files.createDirectories(source.resolve("sub-" + number).resolve(name));
            byte[] header = Dataset.explicit()
                    .text(0x0010_0010, "PN", number.replace("KHB", "KHB^") + "^")
                    .bytes();
            Files.write(visit.resolve(number + "_T1w.dcm"), Dataset.file(header));
            Files.writeString(visit.resolve("notes-%s.txt".formatted(name)), name);
            Files.createSymbolicLink(source.resolve("link-" + i), Path.of("sub-" + number, name));
        }
        service.bean(Experiments.class).register(project, code, NAMES.getFirst(), source, "test");
    }

    @Test
    void noneOfTheNamesIsOutsideOfTheTablesWhereNamesBelong() {
        assertThat(CLEAN.found()).isEmpty();
        assertThat(CLEAN.searched()).hasSize(3);
        assertThat(CLEAN.searched().getFirst()).matches("database: [1-9][0-9,]+ values in [1-9][0-9]+ tables");
        assertThat(CLEAN.searched().get(1)).matches("site dr: [1-9],[0-9]+ paths, [1-9][0-9]* contents");
    }

    @Test
    void whatIsWhereItMustNotBeIsFound() throws Exception {
        Path kept = folder.resolve("kept");
        register("KEPT", "E2", kept, 3);
        Path seven = Files.createDirectory(folder.resolve("seven"));
        Files.writeString(seven.resolve("plain"), "x");
        service.createExperiment("KEPT", "KHB00007", seven);
        service.backUp();
        Path log = Files.writeString(folder.resolve("some.log"), "cannot read 脳山3花子");

        Path packed = folder.resolve("old.log.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
            out.write("脳山4花子".getBytes(CONSOLE));
        }

        Places places = new Places();
        scanAll(places, Set.of(), log);
        new FileScan(Wanted.of(list), places).run(packed);

        assertThat(places.found())
                .extracting(Found::where)
                .contains(
                        "database: experiment.code",
                        "database: ledger.subject",
                        "site dr: KEPT/E2",
                        "site dr: KEPT/KHB00007",
                        "file: " + log,
                        "file: " + packed)
                .noneMatch(where -> where.contains("CODED"))
                .allMatch(where -> NAMES.stream().noneMatch(where::contains) || where.contains("KHB00007"));
        Found paths = places.found().stream()
                .filter(found -> found.where().equals("site dr: KEPT/E2"))
                .findFirst()
                .orElseThrow();
        assertThat(paths.lines()).containsExactly(1, 2, 3, 4, 5, 6);

        Ended found = scan("--names", list.toString(), "--project", "KEPT", log.toString());
        assertThat(found.out())
                .contains("searched site dr: ", "found  site dr: KEPT/E2: ", ", lines 1, 2, 3, 4, 5, 6", "places")
                .doesNotContain("Exception");
        assertThat(found.code()).isEqualTo(Exit.NOT_SAFE);
    }

    @Test
    void whatCannotBeReadIsNeverNothingFound() throws Exception {
        Ended nobody = scan("--names", folder.resolve("nowhere").toString());
        assertThat(nobody.code()).isEqualTo(Exit.UNAVAILABLE);
        assertThat(nobody.out())
                .contains("not everything could be read", "nowhere does not exist")
                .doesNotContain("\tat ", "Exception");

        Ended unknown = scan("--names", list.toString(), "--site", "nix");
        assertThat(unknown.code()).isEqualTo(Exit.REFUSED);
        assertThat(unknown.out()).contains("there is no site \"nix\"");

        Path brief = Files.writeString(folder.resolve("brief"), "Ito\n");
        Ended refused = scan("--names", brief.toString());
        assertThat(refused.code()).isEqualTo(Exit.USAGE);
        assertThat(refused.out()).contains("line 1: expected at least 4 bytes");

        Ended alone = scan(
                "--names",
                list.toString(),
                "--site",
                "-",
                folder.resolve("nowhere").toString());
        assertThat(alone.code()).isEqualTo(Exit.UNAVAILABLE);
    }

    /** Runs the command as a person does: its own process, its output and its exit code. */
    private static Ended scan(String... words) throws IOException, InterruptedException {
        ProcessBuilder command = ChildJava.of(Application.class)
                .options("-Dstdout.encoding=UTF-8")
                .arguments("identity", "scan")
                .arguments(words)
                .fromCache()
                .process();
        Path secret = Files.writeString(folder.resolve("password"), String.valueOf(database.getPassword()));
        command.environment()
                .putAll(Map.of(
                        "DOZO_WORK", folder.resolve("work").toString(),
                        "DOZO_DB_URL", database.getJdbcUrl(),
                        "DOZO_DB_USER", String.valueOf(database.getUsername()),
                        "DOZO_DB_PASSWORD_FILE", secret.toString()));
        return Ended.of(command);
    }
}
