package dozo.registry;

import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dozo.db.TestDatabase;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.ledger.Chain;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.ledger.Sight;
import dozo.registry.BulkRegistration.Answer;
import dozo.registry.BulkRegistration.Mode;
import dozo.registry.BulkRegistration.Typed;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Verdict.Outcome;
import dozo.registry.Verdict.Wrong;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** A CSV file from a spreadsheet is registered, with a verdict for each line. */
class BulkRegistrationTest {

    private static final InstantSource CLOCK = () -> Instant.parse("2026-11-21T12:00:00Z");
    private static final Charset SHIFT_JIS = Charset.forName("windows-31j");

    @TempDir
    Path sources;

    private final javax.sql.DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final Ledger ledger = new Ledger(jdbc, CLOCK);
    private final Projects projects = new Projects(jdbc, ledger, CLOCK);
    private final Experiments experiments = new Experiments(jdbc, projects, ledger, CLOCK);
    private final BulkRegistration bulk =
            new BulkRegistration(jdbc, ledger, CLOCK, new JdbcTransactionManager(database));

    @BeforeEach
    void createProjectAndFolders() throws IOException {
        projects.create("P1", "", "test");
        for (String folder : List.of("a", "b", "c", "視覚", "能ソ表")) {
            Files.createDirectory(sources.resolve(folder));
        }
    }

    @Test
    void whatALineSaysIsRegisteredWithALedgerRow() throws IOException {
        Answer answer = each("""
                project,code,title,source,modality,scanner,acquired
                P1,E1,First visit,%s/a,MR,T7-1,2026-10-01
                """);

        assertThat(answer.lines())
                .containsExactly(new Verdict(
                        2,
                        Outcome.REGISTERED,
                        "P1",
                        "E1",
                        "First visit",
                        sources + "/a",
                        "MR",
                        "T7-1",
                        LocalDate.of(2026, 10, 1),
                        null));
        Experiment registered = experiments.find("P1", "E1").orElseThrow();
        assertThat(registered.title()).isEqualTo("First visit");
        assertThat(registered.source()).isEqualTo(sources.resolve("a"));
        assertThat(registered.acquisition()).isEqualTo(new Acquisition("MR", "T7-1", LocalDate.of(2026, 10, 1)));
        assertThat(registered.registeredBy()).isEqualTo("lab");
        assertThat(registered.registeredAt()).isEqualTo(CLOCK.instant());
        assertThat(told()).singleElement().satisfies(row -> {
            assertThat(row.actor()).isEqualTo("lab");
            assertThat(row.subject()).isEqualTo("P1/E1");
        });
    }

    @Test
    void theLedgerTellsTheSameAsOfOneThatIsRegisteredByItself() throws IOException {
        Acquisition acquisition = new Acquisition("MR", null, LocalDate.of(2026, 10, 1));
        experiments.register(Sight.EVERYTHING, "P1", "E1", "", sources.resolve("a"), null, acquisition, "lab");
        each("project,code,source,modality,acquired\nP1,E2,%s/b,MR,2026/10/1\n");

        List<LedgerEntry> told = told();

        assertThat(told).hasSize(2);
        assertThat(told.get(1).detail())
                .isEqualTo(told.get(0).detail().replace(digest(sources.resolve("a")), digest(sources.resolve("b"))));
    }

    @Test
    void aDryRunSaysTheSameAndChangesNothing() throws IOException {
        String csv = "project,code,source\nP1,E1,%s/a\nP1,E 2,%s/b\n";
        long before = ledger.last();

        Answer dry = register(csv, UTF_8, Mode.EACH, true);

        assertThat(outcomes(dry)).containsExactly(Outcome.ACCEPTED, Outcome.REFUSED);
        assertThat(ledger.last()).isEqualTo(before);
        assertThat(experiments.page(0, 10)).isEmpty();
        Answer wet = register(csv, UTF_8, Mode.EACH, false);
        assertThat(wet.lines().get(1)).isEqualTo(dry.lines().get(1));
        assertThat(outcomes(wet)).containsExactly(Outcome.REGISTERED, Outcome.REFUSED);
    }

    @Test
    void allMeansNothingUnlessEachLineIsGood() throws IOException {
        Answer answer = register("project,code,source\nP1,E1,%s/a\nP1,E2,%s/none\n", UTF_8, Mode.ALL, false);

        assertThat(outcomes(answer)).containsExactly(Outcome.ACCEPTED, Outcome.REFUSED);
        assertThat(experiments.page(0, 10)).isEmpty();
        assertThat(told()).isEmpty();
        assertThat(outcomes(register("project,code,source\nP1,E1,%s/a\nP1,E2,%s/b\n", UTF_8, Mode.ALL, false)))
                .containsOnly(Outcome.REGISTERED);
    }

    @Test
    void theSameFileAgainChangesNothing() throws IOException {
        String csv = "project,code,source,title\nP1,E1,%s/a,x\nP1,E2,%s/b,y\n";
        each(csv);
        long before = ledger.last();
        Files.delete(sources.resolve("b"));

        Answer again = register(csv, UTF_8, Mode.ALL, false);

        assertThat(outcomes(again)).containsOnly(Outcome.UNCHANGED);
        assertThat(again.lines()).extracting(Verdict::message).containsOnlyNulls();
        assertThat(ledger.last()).isEqualTo(before);
        Answer renamed = each("project,code,source,title\nP1,E1,%s/a,z\n");
        assertThat(renamed.lines().getFirst().message()).asString().contains("another title", "nothing was changed");
        assertThat(experiments.find("P1", "E1").orElseThrow().title()).isEqualTo("x");
    }

    @Test
    void whatIsTakenIsRefusedByName() throws IOException {
        experiments.register("P1", "E1", "", sources.resolve("a"), "test");

        Answer answer = each("""
                project,code,source
                P1,E1,%s/b
                P1,E2,%s/a
                P1,E3,%s/c
                P1,E3,%s/b
                P1,E4,%s/c
                P1,E3,%s/c
                P2,E1,%s/b
                """);

        assertThat(answer.lines())
                .extracting(Verdict::line, Verdict::outcome, Verdict::field)
                .containsExactly(
                        tuple(2, Outcome.REFUSED, "code"),
                        tuple(3, Outcome.REFUSED, "source"),
                        tuple(4, Outcome.REGISTERED, null),
                        tuple(5, Outcome.REFUSED, "code"),
                        tuple(6, Outcome.REFUSED, "source"),
                        tuple(7, Outcome.UNCHANGED, null),
                        tuple(8, Outcome.REFUSED, "project"));
        assertThat(answer.lines().get(1).message()).asString().contains("P1/E1, which is registered already");
        assertThat(answer.lines().get(3).message()).asString().contains("is in line 4");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                ",E1,%s/a,,, | project",
                "P 1,E1,%s/a,,, | project",
                "P1,,%s/a,,, | code",
                "P1,../E1,%s/a,,, | code",
                "P1,E1,,,, | source",
                "P1,E1,a,,, | source",
                "P1,E1,C:\\data\\a,,, | source",
                "P1,E1,%s/missing,,, | source",
                "P1,E1,%s/a,mr,, | modality",
                "P1,E1,%s/a,,T 7, | scanner",
                "P1,E1,%s/a,,,10/01/2026 | acquired",
                "P1,E1,%s/a,,,2027-01-01 | acquired",
                "P1,E1,%s/a,,,2026-10-01,x | columns"
            })
    void aRefusalNamesTheField(String line, String field) throws IOException {
        Answer answer = each("project,code,source,modality,scanner,acquired\n" + line + "\n");

        assertThat(answer.lines()).singleElement().satisfies(verdict -> {
            assertThat(verdict.outcome()).isEqualTo(Outcome.REFUSED);
            assertThat(verdict.field()).isEqualTo(field);
            assertThat(verdict.message()).asString().isNotBlank();
        });
        assertThat(experiments.page(0, 10)).isEmpty();
    }

    @Test
    void whatIsTooLongIsRefused() throws IOException {
        Answer answer = each("project,code,source,title\nP1,%s,%%s/a,\nP1,E1,%%s/%s,\nP1,E1,%%s/a,%s\nP1,E1,%%s/a,%s\n"
                .formatted("x".repeat(65), "x".repeat(4_096), "題".repeat(201), "題".repeat(200)));

        assertThat(answer.lines()).extracting(Verdict::field).containsExactly("code", "source", "title", null);
    }

    @Test
    void controlCharactersAreRefusedAndLineBreaksInATitleAreSpace() throws IOException {
        Answer answer = each("project,code,source,title\r\n"
                + "P1,E1,%s/a,\"a \"\"b\"\"\r\nc,d\"\r\n"
                + "P1,E2,%s/b,bell\u0007\r\n"
                + "P1,E3,\"%s/b\nc\",\r\n"
                + "P1,E4,%s/b\0,\r\n");

        assertThat(answer.lines())
                .extracting(Verdict::line, Verdict::field)
                .containsExactly(tuple(2, null), tuple(4, "title"), tuple(5, "source"), tuple(7, "source"));
        assertThat(experiments.find("P1", "E1").orElseThrow().title()).isEqualTo("a \"b\" c,d");
    }

    @Test
    void whatLooksLikeAFormulaIsText() throws IOException {
        each("project,code,source,title\nP1,E1,%s/a,\"=HYPERLINK(\"\"http://x\"\")\"\n");

        assertThat(experiments.find("P1", "E1").orElseThrow().title()).isEqualTo("=HYPERLINK(\"http://x\")");
    }

    @Test
    void columnsStandInAnyOrderUnderEnglishAndJapaneseNames() throws IOException {
        Answer answer = each("""
                取得日,フォルダ, Scanner ,題名,コード,PROJECT,モダリティ,
                令和8年10月1日,%s/a,T7,視覚野,E1,P1,MEG,
                """);

        assertThat(outcomes(answer)).containsExactly(Outcome.REGISTERED);
        Experiment registered = experiments.find("P1", "E1").orElseThrow();
        assertThat(registered.title()).isEqualTo("視覚野");
        assertThat(registered.acquisition()).isEqualTo(new Acquisition("MEG", "T7", LocalDate.of(2026, 10, 1)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "project,code,source,subject | \"subject\"",
                "project,code,path,source | two columns for source",
                "project,code,title | has no column source",
                "P1,E1,/data/a | \"P1\"",
                "\"project,code,source | has no column project"
            })
    void aHeadingThatIsNotUnderstoodRefusesTheFileByName(String heading, String said) {
        assertThatThrownBy(() -> each(heading + "\nP1,E1,%s/a,x\n"))
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.field()).isEqualTo("columns"))
                .hasMessageContaining(said);
    }

    @ParameterizedTest
    @ValueSource(strings = {",", ";", "\t"})
    void theHeadingTellsTheSeparator(String separator) throws IOException {
        Answer answer = each("project,code,source,title\n\n,,,\nP1,E1,%s/a,\"a,b;c\"\n\n".replace(",", separator));

        assertThat(String.valueOf(answer.separator())).isEqualTo(separator);
        assertThat(answer.lines()).extracting(Verdict::line).containsExactly(4);
        assertThat(answer.lines().getFirst().title()).isEqualTo("a,b;c".replace(",", separator));
    }

    @Test
    void everyEncodingOfExcelIsToldByItsBytes() throws IOException {
        String csv = "プロジェクト,コード,フォルダ,題名\r\nP1,E1,%s/視覚,能ソ表~①\r\n";

        for (Charset charset : List.of(UTF_8, UTF_16LE, SHIFT_JIS)) {
            Answer answer = register(csv, charset, Mode.EACH, true);
            assertThat(answer.encoding()).isEqualTo(charset.name());
            assertThat(answer.lines()).singleElement().satisfies(line -> {
                assertThat(line.outcome()).isEqualTo(Outcome.ACCEPTED);
                assertThat(line.title()).isEqualTo("能ソ表~①");
            });
        }
        byte[] utf8 = csv.formatted(sources).getBytes(UTF_8);
        Answer marked = bulk.register(of(bytes(0xEF, 0xBB, 0xBF), utf8), null, Mode.EACH, true, "lab");
        assertThat(marked.encoding()).isEqualTo("UTF-8");
        assertThat(outcomes(marked)).containsExactly(Outcome.ACCEPTED);
    }

    @Test
    void aLineWithBytesThatAreNoCharactersIsRefusedAndTheOthersAreNot() throws IOException {
        byte[] good = "project,code,source,title\nP1,E1,%s/a,視覚\nP1,E2,%s/b,"
                .formatted(sources, sources)
                .getBytes(SHIFT_JIS);

        Answer answer = bulk.register(
                of(good, bytes(0x81, 0x0A), "P1,E3,%s/c,\n".formatted(sources).getBytes(SHIFT_JIS)),
                null,
                Mode.EACH,
                false,
                "lab");

        assertThat(answer.encoding()).isEqualTo("windows-31j");
        assertThat(answer.lines())
                .extracting(Verdict::line, Verdict::outcome, Verdict::field)
                .containsExactly(
                        tuple(2, Outcome.REGISTERED, null),
                        tuple(3, Outcome.REFUSED, "title"),
                        tuple(4, Outcome.REGISTERED, null));
    }

    @Test
    void aShiftJisLineInAUtf8FileIsNotMadeNonsenseOf() throws IOException {
        Answer answer = bulk.register(
                of(
                        "project,code,source,title\nP1,E1,%s/a,視覚\nP1,E2,%s/b,"
                                .formatted(sources, sources)
                                .getBytes(UTF_8),
                        "視覚\n".getBytes(SHIFT_JIS)),
                null,
                Mode.EACH,
                true,
                "lab");

        assertThat(answer.encoding()).isEqualTo("UTF-8");
        assertThat(answer.lines()).extracting(Verdict::field).containsExactly(null, "title");
    }

    @Test
    void whatCouldBeTwoEncodingsHasToBeSaid() throws IOException {
        byte[] csv =
                "project,code,source,title\nP1,E1,%s/a,é\n".formatted(sources).getBytes(UTF_8);

        assertThatThrownBy(() -> bulk.register(of(csv), null, Mode.EACH, true, "lab"))
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.field()).isEqualTo("encoding"))
                .hasMessageContaining("choose the encoding");

        assertThat(bulk.register(of(csv), "utf-8", Mode.EACH, true, "lab")
                        .lines()
                        .getFirst()
                        .title())
                .isEqualTo("é");
        assertThat(bulk.register(of(csv), "Shift_JIS", Mode.EACH, true, "lab")
                        .lines()
                        .getFirst()
                        .title())
                .isEqualTo("ﾃｩ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"utf-16be", "latin1", "", "x-unknown"})
    void anEncodingThatIsNotTakenIsRefused(String encoding) {
        assertThatThrownBy(() -> bulk.register(of(bytes('a')), encoding, Mode.EACH, true, "lab"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("expected ");
    }

    @Test
    void bytesThatAreNoTextAreRefusedAsAFile() {
        assertThatThrownBy(() -> bulk.register(of(bytes(0x80, 0xFF, 0x80)), null, Mode.EACH, true, "lab"))
                .hasMessageContaining("neither");
        assertThatThrownBy(() -> bulk.register(of(bytes(0xFE, 0xFF, 0, 'a')), null, Mode.EACH, true, "lab"))
                .hasMessageContaining("UTF-16BE");
        assertThatThrownBy(() -> bulk.register(of(bytes(0xFF, 0xFE, 'a', 0)), "utf-8", Mode.EACH, true, "lab"))
                .hasMessageContaining("starts as UTF-16LE");
        assertThatThrownBy(() -> bulk.register(of(), null, Mode.EACH, true, "lab"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("has no column");
    }

    @ParameterizedTest
    @ValueSource(strings = {"P1,E2,\"%s/b\nP1,E3,%s/c\n", "P1,E2,\"%s\"/b\nP1,E3,%s/c\n"})
    void behindABrokenQuoteNothingIsRead(String rest) throws IOException {
        Answer answer = each("project,code,source\nP1,E1,%s/a\n" + rest);

        assertThat(answer.lines())
                .extracting(Verdict::line, Verdict::outcome, Verdict::field)
                .containsExactly(tuple(2, Outcome.REGISTERED, null), tuple(3, Outcome.REFUSED, "file"));
        assertThat(answer.lines().getLast().message()).asString().contains("were not read");
    }

    @ParameterizedTest
    @ValueSource(ints = {16_385, 3_000_000})
    void aCellWithoutAnEndIsNotRead(int length) throws IOException {
        Answer answer = each("project,code,source\nP1,E1,%s/a\nP1,E2," + "x".repeat(length) + "\n");

        assertThat(answer.lines()).extracting(Verdict::field).containsExactly(null, "file");
    }

    @Test
    void aFileHasAtMostSoManyBytes() throws IOException {
        byte[] csv = "project,code,source\nP1,E1,%s/a\n".formatted(sources).getBytes(UTF_8);
        byte[] filling = (" ".repeat(1_023) + "\n")
                .repeat(BulkRegistration.BYTES_MAX / 1_024)
                .substring(csv.length)
                .getBytes(UTF_8);

        assertThat(outcomes(bulk.register(of(csv, filling), null, Mode.EACH, true, "lab")))
                .containsExactly(Outcome.ACCEPTED);
        assertThatThrownBy(() -> bulk.register(of(csv, filling, bytes('\n')), null, Mode.EACH, true, "lab"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("more than 33,554,432 bytes");
    }

    @Test
    void noConnectionToTheDatabaseIsKept() throws IOException {
        String csv = "project,code,source\nP1,E1,%s/a\n";

        register(csv, UTF_8, Mode.ALL, true);
        register(csv, UTF_8, Mode.ALL, false);

        // The server takes a moment to forget a closed connection.
        await().atMost(Duration.ofMinutes(5))
                .untilAsserted(() -> assertThat(connections()).isEqualTo(1));
    }

    @Test
    @Timeout(300)
    void aHundredThousandLinesAreRegisteredTogetherAndNoMoreAreTaken() throws IOException {
        StringBuilder csv = new StringBuilder("project,code,source,title,modality\n");
        for (int i = 0; i < BulkRegistration.LINES_MAX; i++) {
            // NB: a hundred thousand folders are not needed: these different names all lead to one.
            csv.append("P1,E")
                    .append(i)
                    .append(',')
                    .append(sources)
                    .append("/l")
                    .append(i)
                    .append(",x,MR\n");
            Files.createSymbolicLink(sources.resolve("l" + i), sources.resolve("a"));
        }

        Answer answer = bulk.register(of(csv.toString().getBytes(UTF_8)), null, Mode.ALL, false, "lab");

        assertThat(answer.count(Outcome.REGISTERED)).isEqualTo(BulkRegistration.LINES_MAX);
        assertThat(told()).hasSize(BulkRegistration.LINES_MAX);
        assertThat(new Chain(jdbc).check().breaches()).isEmpty();
        csv.append("P1,Z,").append(sources).append("/b,,\n");
        assertThatThrownBy(() -> bulk.register(of(csv.toString().getBytes(UTF_8)), null, Mode.EACH, false, "lab"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("more than 100,000 lines");
    }

    private int connections() {
        return jdbc.sql("select count(*) from pg_stat_activity where datname = current_database()")
                .query(Integer.class)
                .single();
    }

    @Test
    void everyWrongFieldOfALineIsTold() throws IOException {
        Verdict wrong =
                each("project,code,source,modality,scanner,acquired\nNOWHERE,no code,%s/never,mr,7 T,tomorrow\n")
                        .lines()
                        .getFirst();

        assertThat(fields(wrong)).containsExactly("acquired", "modality", "scanner", "code", "project", "source");
        assertThat(wrong.field()).isEqualTo("acquired");
        assertThat(wrong.message()).isEqualTo(wrong.errors().getFirst().message());
        assertThat(wrong.code()).isEqualTo("no code");
    }

    @Test
    void aFolderIsNotProbedWithoutAProjectOfOnesOwn() {
        Typed there = new Typed(sources.resolve("a"), Map.of("project", "P1", "code", "no code"));
        Typed never = new Typed(sources.resolve("never"), Map.of("project", "P1", "code", "no code"));

        assertThat(bulk.register(Sight.of(Set.of("P2")), List.of(there, never), false, "lab"))
                .allSatisfy(verdict -> assertThat(fields(verdict)).containsExactly("code", "project"));
        assertThat(bulk.register(Sight.EVERYTHING, List.of(there, never), false, "lab"))
                .extracting(BulkRegistrationTest::fields)
                .containsExactly(List.of("code"), List.of("code", "source"));
    }

    @Test
    void whatIsTypedIsRegisteredTogetherOrNotAtAllWhateverTheFoldersName() throws IOException {
        byte[] bytes = FilePath.rawBytes(sources.resolve("x"));
        bytes[bytes.length - 1] = (byte) 0xff;
        Path noText = Files.createDirectory(FilePath.pathOf(bytes));
        Typed good = new Typed(noText, Map.of("project", " P1", "code", "E1 ", "title", "", "acquired", "2026-10-01"));
        Typed wrong = new Typed(sources.resolve("b"), Map.of("project", "P1", "code", "E1"));

        assertThat(bulk.register(Sight.EVERYTHING, List.of(good, wrong), false, "lab"))
                .extracting(Verdict::outcome)
                .containsExactly(Outcome.ACCEPTED, Outcome.REFUSED);
        assertThat(experiments.page(0, 10)).isEmpty();
        assertThat(bulk.register(Sight.EVERYTHING, List.of(good), true, "lab"))
                .extracting(Verdict::outcome)
                .containsExactly(Outcome.ACCEPTED);
        assertThat(bulk.register(Sight.EVERYTHING, List.of(good), false, "lab"))
                .extracting(Verdict::outcome)
                .containsExactly(Outcome.REGISTERED);
        assertThat(experiments.withSource(noText).orElseThrow().name()).isEqualTo("P1/E1");
        assertThat(told()).hasSize(1);
        assertThat(bulk.register(Sight.EVERYTHING, List.of(good), false, "lab"))
                .extracting(Verdict::outcome)
                .containsExactly(Outcome.UNCHANGED);
    }

    private static List<String> fields(Verdict verdict) {
        return Objects.requireNonNull(verdict.errors()).stream()
                .map(Wrong::field)
                .toList();
    }

    private Answer each(String csv) throws IOException {
        return register(csv, UTF_8, Mode.EACH, false);
    }

    /** Every {@code %s} is the folder of the sources. */
    private Answer register(String csv, Charset charset, Mode mode, boolean dryRun) throws IOException {
        byte[] mark = charset.equals(UTF_16LE) ? bytes(0xFF, 0xFE) : bytes();
        byte[] text = csv.replace("%s", sources.toString()).getBytes(charset);
        return bulk.register(of(mark, text), null, mode, dryRun, "lab");
    }

    private List<LedgerEntry> told() {
        return ledger.after(0, 200_000).stream()
                .filter(row -> row.action().equals("experiment.registered"))
                .toList();
    }

    private static String digest(Path path) {
        return Digest.ofContent(FilePath.rawBytes(path)).toString();
    }

    private static List<Outcome> outcomes(Answer answer) {
        return answer.lines().stream().map(Verdict::outcome).toList();
    }

    private static InputStream of(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return new ByteArrayInputStream(all.toByteArray());
    }

    private static byte[] bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }
}
