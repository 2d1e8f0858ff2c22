package dozo.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.db.Campaign;
import dozo.db.Program;
import dozo.file.Attributes;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A file list is read as intended, or each invalid line is reported. */
class FileListTest {

    private static final String FIND_FORM = "%y %s %T@ %C@ %m %n %i %P//%l\\0";
    private static final String END = "end\0";
    private static final String SHOWN = "-rw-r--r-- 1 12 2026-11-20 01:02:03.456789 2026-11-20 04:05:06";
    private static final DateTimeFormatter POLICY_TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS").withZone(ZoneOffset.UTC);

    @TempDir
    Path root;

    private final Told told = new Told();

    private static final class Told implements Listed {

        final Map<FilePath, Facts> entries = new LinkedHashMap<>();
        final List<String> problems = new ArrayList<>();

        @Override
        public void entry(FilePath path, Facts facts) {
            entries.put(path, facts);
        }

        @Override
        public void problem(long line, @Nullable FilePath path, Problem problem, String message) {
            problems.add("%d %s %s %s".formatted(line, problem, path, message));
        }
    }

    @Test
    void whatFindWritesIsWhatACrawlTells() throws Exception {
        Files.createDirectories(root.resolve("a/empty"));
        Files.write(root.resolve("a/file"), new byte[123]);
        Files.createLink(root.resolve("a/same"), root.resolve("a/file"));
        Files.write(
                FilePath.ROOT.resolve(new byte[] {(byte) 0xff, '\n', ' ', '%'}).under(root), new byte[7]);
        Files.createSymbolicLink(root.resolve("link"), Path.of("/a//b/ c\n"));
        Files.setAttribute(root.resolve("a/file"), "unix:mode", 06751);
        Program.succeed(
                "touch",
                "-d",
                "1955-11-05T06:15:00.123456789Z",
                root.resolve("a/file").toString());
        Program.succeed(
                "touch",
                "-h",
                "-d",
                "2200-01-01T00:00:00.000000001Z",
                root.resolve("link").toString());

        FileList.byFind(root).into(told, new ByteArrayInputStream(find(root)));

        dozo.source.Told crawled = new dozo.source.Told();
        new Crawl(root).into(crawled);
        assertThat(told.problems).isEmpty();
        // A list does not tell the owner.
        crawled.entries.replaceAll((_, facts) -> facts.with(null, Attributes.NONE));
        assertThat(new TreeMap<>(told.entries)).isEqualTo(crawled.entries).hasSize(6);
    }

    @Test
    @Tag(Campaign.TAG)
    void anyEntryThatFindCanWriteIsReadAsItWas() throws Exception {
        assertReadAsItWas(FileList.byFind(root), END, (path, dice) -> {
            Facts facts = someFacts(dice, 1, true);
            return Map.entry(facts, asFind(path.bytes(), facts));
        });
    }

    @Test
    @Tag(Campaign.TAG)
    void anyEntryThatAPolicyCanWriteIsReadAsItWas() throws Exception {
        assertReadAsItWas(FileList.byPolicy(root), "", (path, dice) -> {
            Facts facts = someFacts(dice, 1_000, false);
            return Map.entry(facts, asPolicy(path, facts, dice.nextBoolean()));
        });
    }

    /** @param someEntry makes facts of a path, and how the list says them */
    private void assertReadAsItWas(
            FileList list, String end, BiFunction<FilePath, Random, Map.Entry<Facts, byte[]>> someEntry)
            throws Exception {
        long seed = new Random().nextLong();
        Random dice = new Random(seed);
        Map<FilePath, Facts> entries = new LinkedHashMap<>();
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        for (int i = 0; i < Campaign.times(2_000); i++) {
            FilePath path = somePath(dice, i);
            Map.Entry<Facts, byte[]> entry = someEntry.apply(path, dice);
            entries.put(path, entry.getKey());
            written.writeBytes(entry.getValue());
        }
        written.writeBytes(bytes(end));

        list.into(told, new ByteArrayInputStream(written.toByteArray()));

        assertThat(told.problems).as("seed " + seed).isEmpty();
        assertThat(told.entries).as("seed " + seed).isEqualTo(entries);
    }

    @Test
    @Tag(Campaign.TAG)
    void nothingThatCanStandInAListFailsOrLeadsOut() throws Exception {
        long seed = new Random().nextLong();
        Random dice = new Random(seed);
        for (int i = 0; i < Campaign.times(3_000); i++) {
            byte[] find = asFind(somePath(dice, i).bytes(), someFacts(dice, 1, true));
            byte[] policy = asPolicy(somePath(dice, i), someFacts(dice, 1_000, false), true);
            for (int change = dice.nextInt(4); change >= 0; change--) {
                find[dice.nextInt(find.length)] = "/.0-% \nf\0".getBytes(StandardCharsets.US_ASCII)[dice.nextInt(9)];
                policy[dice.nextInt(policy.length)] = (byte) dice.nextInt(256);
            }
            // A reported entry is below the root by its type; anything else is a problem.
            FileList.byFind(root).into(told, new ByteArrayInputStream(find));
            FileList.byPolicy(root).into(told, new ByteArrayInputStream(policy));
        }
        assertThat(told.problems).as("seed " + seed).isNotEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "x 1 1.0 1.0 644 1 7 p//;invalid type: x",
                "f x 1.0 1.0 644 1 7 p//;not a size: x",
                "f -1 1.0 1.0 644 1 7 p//;not a size: -1",
                "f 99999999999999999999 1.0 1.0 644 1 7 p//;not a size: 99999999999999999999",
                "f 1 1 1.0 644 1 7 p//;invalid time: 1",
                "f 1 1. 1.0 644 1 7 p//;invalid time: 1.",
                "f 1 1.x 1.0 644 1 7 p//;not a time's fraction: x",
                "f 1 --1.0 1.0 644 1 7 p//;not a time: -1",
                "f 1 1.0 1.0 648 1 7 p//;not a mode: 648",
                "f 1 1.0 1.0 10000 1 7 p//;invalid mode: 10000",
                "f 1 1.0 1.0 644 1 -7 p//;not an inode number: -7",
                "f 1 1.0 1.0 644 1 7 p/;// after the path is missing",
                "f 1 1.0 1.0 644 1 7 p//text;expected a text after // for a link",
                "l 1 1.0 1.0 644 1 7 p//;expected a text after // for a link",
                "f 1 1.0 1.0 644 1 7 a/./b//;path must not contain empty names",
                "f 1 1.0 1.0 644;a mode is missing",
                "f;a type is missing",
                "'';a type is missing",
            })
    void aRecordOfFindThatIsNotUnderstoodIsAProblemWithItsNumberAndTheRestIsRead(String record, String reason)
            throws Exception {
        String list = "f 1 1.0 1.0 644 1 7 before//\0" + record + "\0f 1 1.0 1.0 644 1 7 behind//\0" + END;

        FileList.byFind(root).into(told, new ByteArrayInputStream(bytes(list)));

        assertOnlySecondIsNotUnderstood(reason);
    }

    private void assertOnlyProblem(String start, String reason) {
        assertThat(told.problems).singleElement().asString().startsWith(start).contains(reason);
    }

    private void assertOnlySecondIsNotUnderstood(String reason) {
        assertThat(told.entries.keySet()).containsExactly(FilePath.of("before"), FilePath.of("behind"));
        assertOnlyProblem("2 UNPARSED null line 2 of the list: ", reason);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "x 2 0 @ -- ROOT/p;not an inode number: x",
                "1 2;a generation is missing",
                "1 2 0 @;-- before the path is missing",
                "1 2 0 -- ROOT/p;wrong SHOW fields",
                "1 2 0 -rw-r--r-- 1 12 2026-11-20 01:02:03 -- ROOT/p;wrong SHOW fields",
                "1 2 0 ?rw-r--r-- 1 1 2026-11-20 01:02:03 2026-11-20 04:05:06 -- ROOT/p;invalid mode",
                "1 2 0 -rw-r--q-- 1 1 2026-11-20 01:02:03 2026-11-20 04:05:06 -- ROOT/p;invalid mode",
                "1 2 0 -rw 1 1 2026-11-20 01:02:03 2026-11-20 04:05:06 -- ROOT/p;invalid mode",
                "1 2 0 -rw-r--r-- 1 1 2026-13-20 01:02:03 2026-11-20 04:05:06 -- ROOT/p;invalid time: 2026-13-20 01:02:03",
                "1 2 0 @ -- ROOT/two words;not escaped",
                "1 2 0 @ -- ROOT/p%2;without two hexadecimal digits",
                "1 2 0 @ -- ROOT/p%zz;without two hexadecimal digits",
                "1 2 0 @ -- ROOT/p%00;path must not contain NUL",
                "1 2 0 @ -- relative;does not begin with a slash",
            })
    void aLineOfAPolicyThatIsNotUnderstoodIsAProblemWithItsNumberAndTheRestIsRead(String line, String reason)
            throws Exception {
        String good = "1 2 0 " + SHOWN + " -- " + escaped(FilePath.rawBytes(root));
        String list = good + "/before\n"
                + line.replace("@", SHOWN).replace("ROOT", escaped(FilePath.rawBytes(root))) + "\n" + good
                + "/behind\n";

        FileList.byPolicy(root).into(told, new ByteArrayInputStream(bytes(list)));

        assertOnlySecondIsNotUnderstood(reason);
    }

    @Test
    void aListThatNamesSomethingOutsideTheSourceIsRefusedThere() throws Exception {
        String above = root.toString();
        String list = find("/etc/passwd")
                + find(above + "2/file")
                + find("../file")
                + find("a/../../file")
                + find(above + "/../file")
                + find(above + "/inside")
                + END;

        FileList.byFind(root).into(told, new ByteArrayInputStream(bytes(list)));

        assertThat(told.entries.keySet()).containsExactly(FilePath.of("inside"));
        assertThat(told.problems).hasSize(5).allMatch(problem -> problem.contains(" OUTSIDE null line "));
        assertThat(told.problems.getFirst())
                .isEqualTo("1 OUTSIDE null line 1 of the list: /etc/passwd is not below the source folder");
    }

    @Test
    void aSourceThatIsReachedByALinkMayBeListedByItsRealName() throws Exception {
        Path real = Files.createDirectory(root.resolve("real"));
        Path link = Files.createSymbolicLink(root.resolve("link"), real);
        String list = find(real + "/a") + find(link + "/b") + END;

        FileList.byFind(link).into(told, new ByteArrayInputStream(bytes(list)));

        assertThat(told.entries.keySet()).containsExactly(FilePath.of("a"), FilePath.of("b"));
    }

    @Test
    void theRootItselfIsNoEntry() throws Exception {
        String list = "d 1 1.0 1.0 755 2 7 //\0d 1 1.0 1.0 755 2 7 " + root + "//\0" + END;

        FileList.byFind(root).into(told, new ByteArrayInputStream(bytes(list)));

        assertThat(told.entries).isEmpty();
        assertThat(told.problems).isEmpty();
    }

    @Test
    void aSpecialFileIsAProblemWithItsPath() throws Exception {
        String list = "p 0 1.0 1.0 644 1 7 pipe//\0" + END;

        FileList.byFind(root).into(told, new ByteArrayInputStream(bytes(list)));
        String policy = "1 2 0 " + SHOWN.replaceFirst("-", "s") + " -- " + escaped(FilePath.rawBytes(root)) + "/sock\n";
        FileList.byPolicy(root).into(told, new ByteArrayInputStream(bytes(policy)));

        assertThat(told.problems.getFirst()).startsWith("1 SPECIAL pipe ");
        assertThat(told.problems.getLast()).startsWith("1 SPECIAL sock ");
    }

    @Test
    void aLinkInAPolicysListIsLookedAtWhereItLies() throws Exception {
        Files.createSymbolicLink(root.resolve("link"), Path.of("no/where"));
        String line = "1 2 0 " + SHOWN.replaceFirst("-", "l") + " -- " + escaped(FilePath.rawBytes(root));
        String list = line + "/link\n" + line + "/gone\n" + line + "/" + "n".repeat(300) + "\n";

        FileList.byPolicy(root).into(told, new ByteArrayInputStream(bytes(list)));

        assertThat(told.entries).containsOnlyKeys(FilePath.of("link"));
        assertThat(told.entries.get(FilePath.of("link")).linkTarget()).isEqualTo(bytes("no/where"));
        assertThat(told.problems).singleElement().asString().startsWith("3 UNREADABLE nnn");
    }

    @Test
    void aListOfFindThatIsCutShortIsAProblem() throws Exception {
        String whole = find("a") + find("b") + END;

        FileList.byFind(root).into(told, new ByteArrayInputStream(bytes(whole.substring(0, whole.length() - 4))));
        assertOnlyProblem("3 UNPARSED null ", "no end mark");

        told.problems.clear();
        FileList.byFind(root).into(told, new ByteArrayInputStream(bytes(whole.substring(0, whole.length() - 8))));
        assertThat(told.problems).hasSize(2);
        assertThat(told.problems.getFirst()).startsWith("2 UNPARSED null ").contains(": is truncated");

        told.problems.clear();
        FileList.byFind(root).into(told, new ByteArrayInputStream(bytes(whole + find("c"))));
        assertOnlyProblem("4 UNPARSED null ", "follows");
    }

    @Test
    void aPolicysListThatEndsInALineIsAProblemAndAnEmptyOneIsNot() throws Exception {
        FileList.byPolicy(root).into(told, new ByteArrayInputStream(new byte[0]));
        assertThat(told.problems).isEmpty();

        FileList.byPolicy(root).into(told, new ByteArrayInputStream(bytes("1 2 0 " + SHOWN + " -- /x")));
        assertThat(told.problems).singleElement().asString().contains(": is truncated");
    }

    @Test
    void aLineThatIsTooLongIsPassedOver() throws Exception {
        String fits = "f 1 1.0 1.0 644 1 7 " + "x".repeat(Lines.BYTES_MAX - 22) + "//\0";
        String tooLong = "f 1 1.0 1.0 644 1 7 " + "x".repeat(Lines.BYTES_MAX - 21) + "//\0";

        FileList.byFind(root).into(told, new ByteArrayInputStream(bytes(fits + tooLong + find("behind") + END)));

        assertThat(told.entries).hasSize(2).containsKey(FilePath.of("behind"));
        assertOnlyProblem("2 UNPARSED null ", "longer than");
    }

    @Test
    void aListThatNeverEndsNeedsNoMemoryAndStopsWhenInterrupted() {
        long[] read = {0};
        InputStream endless = new InputStream() {
            @Override
            public int read() {
                return 'x';
            }

            @Override
            public int read(byte[] block, int from, int length) {
                read[0] += length;
                Arrays.fill(block, from, from + length, (byte) 'x');
                if (read[0] > 1L << 28) {
                    Thread.currentThread().interrupt();
                    block[from] = 0;
                }
                return length;
            }
        };

        assertThatThrownBy(() -> FileList.byFind(root).into(told, endless)).isInstanceOf(InterruptedException.class);
        assertThat(told.entries).isEmpty();
    }

    @Test
    void aListThatCannotBeReadFails() {
        IOException lost = new IOException("lost");
        InputStream failing = new InputStream() {
            @Override
            public int read() throws IOException {
                throw lost;
            }

            @Override
            public int read(byte[] block, int from, int length) throws IOException {
                throw lost;
            }
        };

        assertThatThrownBy(() -> FileList.byFind(root).into(told, failing)).isSameAs(lost);
    }

    private static String find(String path) {
        return "f 1 1.0 1.0 644 1 7 " + path + "//\0";
    }

    private static byte[] find(Path root) throws Exception {
        Process process = new ProcessBuilder(
                        "sh",
                        "-c",
                        "find \"$1\" -mindepth 1 -printf '" + FIND_FORM + "' && printf 'end\\0'",
                        "sh",
                        root.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        byte[] list = process.getInputStream().readAllBytes();
        assertThat(process.waitFor()).isZero();
        return list;
    }

    private static FilePath somePath(Random dice, int number) {
        FilePath path = FilePath.of("n" + number);
        for (int depth = dice.nextInt(4); depth >= 0; depth--) {
            byte[] name = new byte[1 + dice.nextInt(40)];
            for (int i = 0; i < name.length; i++) {
                byte b = (byte) (1 + dice.nextInt(255));
                name[i] = b == '/' || b == '.' ? (byte) ' ' : b;
            }
            path = path.resolve(name);
        }
        return path;
    }

    private static Facts someFacts(Random dice, int nanosApart, boolean withLinks) {
        EntryKind kind = EntryKind.values()[dice.nextInt(withLinks ? 3 : 2)];
        byte[] text = "t/%d//\n \u00ff".formatted(dice.nextInt()).getBytes(StandardCharsets.ISO_8859_1);
        return new Facts(
                kind,
                kind == EntryKind.FILE ? dice.nextLong(1L << 50) : 0,
                dice.nextLong(-2_000_000_000_000_000L, 9_000_000_000_000_000L) * nanosApart,
                dice.nextLong(-2_000_000_000_000_000L, 9_000_000_000_000_000L) * nanosApart,
                dice.nextInt(010000),
                kind == EntryKind.FILE && dice.nextBoolean() ? (Long) dice.nextLong() : null,
                kind == EntryKind.LINK ? text : null);
    }

    private static byte[] asFind(byte[] path, Facts facts) {
        ByteArrayOutputStream record = new ByteArrayOutputStream();
        record.writeBytes(bytes("%s %d %s %s %o %d %s "
                .formatted(
                        facts.kind().code(),
                        facts.sizeBytes(),
                        findTime(facts.modifiedNanos()),
                        findTime(facts.changedNanos()),
                        facts.mode(),
                        facts.hardLink() == null ? 1 : 2,
                        Long.toUnsignedString(facts.hardLink() == null ? 7 : facts.hardLink()))));
        record.writeBytes(path);
        record.writeBytes(bytes("//"));
        if (facts.linkTarget() != null) {
            record.writeBytes(facts.linkTarget());
        }
        record.write(0);
        return record.toByteArray();
    }

    private static String findTime(long nanos) {
        return "%d.%09d0".formatted(Math.floorDiv(nanos, 1_000_000_000L), Math.floorMod(nanos, 1_000_000_000L));
    }

    private byte[] asPolicy(FilePath path, Facts facts, boolean escapeShown) {
        String shown = "%s %d %d %s %s"
                .formatted(
                        letters(facts),
                        facts.hardLink() == null ? 1 : 2,
                        facts.sizeBytes(),
                        policyTime(facts.modifiedNanos()),
                        policyTime(facts.changedNanos()));
        return bytes("%s 1 0  %s -- %s/%s\n"
                .formatted(
                        Long.toUnsignedString(facts.hardLink() == null ? 7 : facts.hardLink()),
                        escapeShown ? escaped(bytes(shown)) : shown,
                        escaped(FilePath.rawBytes(root)),
                        escaped(path.bytes())));
    }

    private static String policyTime(long nanos) {
        return POLICY_TIME.format(
                Instant.ofEpochSecond(Math.floorDiv(nanos, 1_000_000_000L), Math.floorMod(nanos, 1_000_000_000L)));
    }

    private static String letters(Facts facts) {
        StringBuilder text = new StringBuilder(facts.kind() == EntryKind.FILE ? "-" : "d");
        for (int i = 0; i < 9; i++) {
            boolean set = (facts.mode() & 0400 >> i) != 0;
            boolean special = i % 3 == 2 && (facts.mode() & 04000 >> i / 3) != 0;
            char letter = "rwx".charAt(i % 3);
            if (special) {
                letter = i == 8 ? 't' : 's';
                text.append(set ? letter : Character.toUpperCase(letter));
            } else {
                text.append(set ? letter : '-');
            }
        }
        return text.toString();
    }

    private static String escaped(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte b : bytes) {
            if (b > 0 && (Character.isLetterOrDigit(b) || "-_.~/".indexOf(b) >= 0)) {
                text.append((char) b);
            } else {
                text.append("%%%02X".formatted(b));
            }
        }
        return text.toString();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
