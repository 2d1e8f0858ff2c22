package dozo.source.dicom;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every tag of every real file has the same value as with dcmtk, or the difference is listed here. */
class DicomOracleIT {

    /** The corpus's own list has 361: one of them is the UID cut off after "2.", which we leave out. */
    private static final int INSTANCES = 360;

    private static final int LIMIT_SECONDS = 30;
    private static final int OUTPUT_BYTES_MAX = 32 << 20;

    /** Intended differences from dcmtk, with the reason. */
    private static final Map<String, String> EXPLAINED = Map.of(
            "made_japanese/declared_ir100_bytes_are_shift_jis.dcm",
            "Latin-1 is named and Shift-JIS is written: dcm2json shows the one, we the other",
            "made_conflicts_and_broken/truncated_in_header.dcm",
            "cut off in a value: dcmdump fills it up with what lay in its memory, we leave it out");

    /** Files for which dcmtk prints nothing, with our result. */
    private static final Map<String, String> ONLY_OURS = Map.of(
            "made_conflicts_and_broken/preamble_only.dcm",
            "damaged: nothing follows the mark",
            "misc_dcm4che_test_data/no_preamble_dicm_in_data",
            "a bare data set with DICM at 128: dcmtk takes it for a file with a preamble");

    @TempDir
    Path folder;

    private final HeaderReader reader = new HeaderReader();
    private final Map<String, List<String>> differences = new TreeMap<>();
    private final Set<String> silent = new TreeSet<>();
    private final Set<String> instances = new HashSet<>();
    private int compared;

    private record Output(int exitCode, byte[] bytes) {}

    @Test
    void everyTagOfEveryInstanceIsAsDcmtkReadsIt() throws Exception {
        Path corpus = SharedData.folder();
        for (Path file : SharedData.files()) {
            compare(corpus.relativize(file).toString(), unpacked(file));
        }
        assertThat(differences.keySet()).as("%s", differences).isEqualTo(new TreeSet<>(EXPLAINED.keySet()));
        assertThat(silent).containsExactlyInAnyOrderElementsOf(ONLY_OURS.keySet());
        assertThat(instances).hasSizeGreaterThanOrEqualTo(INSTANCES);
        assertThat(compared).isGreaterThan(30 * INSTANCES);
    }

    @Test
    void whatDcmtkWritesInAnyFormReadsTheSame() throws Exception {
        Path corpus = SharedData.folder();
        for (String name : List.of(
                "made_japanese/ir13_ir87_three_groups.dcm",
                "made_japanese/ir192_utf8.dcm",
                "small_pydicom/MR_small.dcm",
                "ge_dcm_qa_ge/Architect/0001.dcm")) {
            Path original = corpus.resolve(name);
            if (!Files.exists(original)) {
                original = SharedData.files().stream()
                        .filter(file -> file.toString().contains(name.substring(0, name.indexOf('/'))))
                        .filter(file -> file.toString().endsWith(".dcm"))
                        .findFirst()
                        .orElseThrow();
            }
            Map<Tag, List<String>> wanted = texts((Header) reader.read(original));
            for (String form : List.of("+te", "+tb", "+ti", "+td", "+te -e", "+te +e", "+ti -F", "+te -F", "+tb -F")) {
                Path converted = folder.resolve("converted");
                List<String> command = new ArrayList<>(List.of("dcmconv"));
                command.addAll(List.of(form.split(" ")));
                command.addAll(List.of(original.toString(), converted.toString()));
                assertThat(run(command).exitCode()).as("%s %s", form, name).isZero();
                assertThat(texts((Header) reader.read(converted)))
                        .as("%s %s", form, name)
                        .isEqualTo(wanted);
            }
        }
    }

    private static Map<Tag, List<String>> texts(Header header) {
        Map<Tag, List<String>> texts = new TreeMap<>();
        header.values().keySet().stream()
                .filter(tag -> tag.number() >>> 16 != 2)
                .forEach(tag -> texts.put(tag, header.texts(tag)));
        return texts;
    }

    /** Unpacks a gzip file, as found in archives. */
    private Path unpacked(Path file) throws IOException {
        if (!file.toString().endsWith(".gz")) {
            return file;
        }
        Path unpacked = folder.resolve("unpacked");
        try (InputStream packed = new GZIPInputStream(Files.newInputStream(file))) {
            Files.write(unpacked, packed.readAllBytes());
        }
        return unpacked;
    }

    private void compare(String name, Path file) throws Exception {
        Parsed parsed = reader.read(file);
        Header header = switch (parsed) {
            case NotDicom none -> null;
            case Header whole -> whole;
            case Damaged damaged -> damaged.before();
        };
        if (header == null) {
            return;
        }
        header.text(Tag.SOP_INSTANCE_UID).ifPresent(instances::add);
        Output json = run(List.of("dcm2json", "-q", "+m", file.toString()));
        if (json.exitCode() == 0) {
            compareJson(
                    name,
                    header,
                    JsonPath.parse(new String(json.bytes(), StandardCharsets.UTF_8))
                            .json());
            return;
        }
        // dcm2json does not support ISO 2022 or damaged files: then the bytes are compared, with dcmdump.
        Output dump = run(List.of("dcmdump", "-q", "+E", "+L", file.toString()));
        List<String> lines =
                new String(dump.bytes(), StandardCharsets.ISO_8859_1).lines().toList();
        if (lines.stream().noneMatch(line -> line.startsWith("(0002,") || line.startsWith("(0008,"))) {
            silent.add(name);
            return;
        }
        compareLines(name, header, lines);
    }

    private void compareJson(String name, Header header, Map<String, Map<String, Object>> theirs) {
        for (Tag tag : Tag.values()) {
            Map<String, Map<String, Object>> set = tag.inRequest() ? request(theirs) : theirs;
            Map<String, Object> element = set.get("%08X".formatted(tag.number()));
            List<String> theirValues = element == null ? List.of() : values(element);
            // dcm2json writes UTF-8 and states that of its output, not of the file.
            boolean ofItself = tag == Tag.SPECIFIC_CHARACTER_SET && theirValues.equals(List.of("ISO_IR 192"));
            if (!ofItself) {
                same(name, tag, theirValues, header.texts(tag));
            }
        }
    }

    private static String withoutPixels(byte[] json) {
        String text = new String(json, StandardCharsets.UTF_8);
        int pixels = text.lastIndexOf(",\n  \"7FE00010\"");
        return pixels < 0 ? text : text.substring(0, pixels) + "}";
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Map<String, Object>> request(Map<String, Map<String, Object>> set) {
        Map<String, Object> sequence = set.get("00400275");
        Object items = sequence == null ? null : sequence.get("Value");
        return items == null || ((List<?>) items).isEmpty()
                ? Map.of()
                : (Map<String, Map<String, Object>>) ((List<?>) items).getFirst();
    }

    private static List<String> values(Map<String, Object> element) {
        return ((List<?>) element.getOrDefault("Value", List.of()))
                .stream().map(value -> value == null ? "" : value.toString()).toList();
    }

    private void compareLines(String name, Header header, List<String> lines) {
        for (Tag tag : Tag.values()) {
            String start = "(%04x,%04x) ".formatted(tag.number() >>> 16, tag.number() & 0xFFFF);
            Optional<String> line =
                    lines.stream().filter(each -> each.startsWith(start)).findFirst();
            Value value = header.values().get(tag);
            if (tag.inRequest() || line.isEmpty() || value == null) {
                if (!tag.inRequest() && line.isPresent() != (value != null)) {
                    differences.computeIfAbsent(name, key -> new ArrayList<>()).add(tag + " " + line);
                }
                continue;
            }
            String theirs = line.get().substring(start.length() + 3);
            if (theirs.startsWith("[")) {
                String bytes = Plain.stripped(new String(value.bytes(), StandardCharsets.ISO_8859_1));
                String shown = theirs.substring(1, theirs.lastIndexOf(']', theirs.lastIndexOf('#')));
                same(name, tag, List.of(Plain.stripped(shown)), List.of(bytes));
            } else if (tag.form() == Tag.Form.SHORT) {
                same(name, tag, List.of(theirs.split(" ")[0].split("\\\\")), header.texts(tag));
            } else if (theirs.startsWith("(no value")) {
                same(name, tag, List.of(), header.texts(tag));
            }
        }
    }

    private void same(String name, Tag tag, List<String> theirs, List<String> ours) {
        compared++;
        boolean same = theirs.size() == ours.size();
        for (int i = 0; same && i < theirs.size(); i++) {
            same = same(tag, theirs.get(i), ours.get(i));
        }
        // Only one of the two programs counts empty values.
        if (!same
                && !(String.join("", theirs).isEmpty() && String.join("", ours).isEmpty())) {
            differences.computeIfAbsent(name, key -> new ArrayList<>()).add(tag + ": " + theirs + " / " + ours);
        }
    }

    private static boolean same(Tag tag, String theirs, String ours) {
        boolean number = tag.form() == Tag.Form.DECIMAL || tag.form() == Tag.Form.WHOLE;
        if (number && Legal.decimal(theirs) && Legal.decimal(ours) && !theirs.isEmpty() && !ours.isEmpty()) {
            return new BigDecimal(theirs).compareTo(new BigDecimal(ours)) == 0;
        }
        return theirs.strip().equals(ours.strip());
    }

    private static Output run(List<String> command) throws Exception {
        Process process = new ProcessBuilder(command)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (InputStream output = process.getInputStream()) {
            // NB: dcmdump may print endlessly for a damaged file.
            byte[] bytes = output.readNBytes(OUTPUT_BYTES_MAX);
            if (bytes.length == OUTPUT_BYTES_MAX) {
                return new Output(-1, bytes);
            }
            assertThat(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
            return new Output(process.exitValue(), bytes);
        } finally {
            process.destroyForcibly();
        }
    }
}
