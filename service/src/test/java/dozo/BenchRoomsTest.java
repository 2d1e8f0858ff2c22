package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table {@code bench/rooms} is complete: no bench without a room, and no room without a line. */
class BenchRoomsTest {

    private static final Path TOP = Path.of("..");
    private static final String NO_BENCH = "none";
    private static final Pattern BENCH = Pattern.compile("(?m)^    '(\\w+)': \\w+,$");

    private final List<String[]> lines = read("bench/rooms")
            .lines()
            .filter(line -> !line.isBlank() && !line.startsWith("#"))
            .map(line -> line.split(" +"))
            .toList();
    private final Set<String> benches =
            names(lines.stream().filter(BenchRoomsTest::isBench).map(line -> line[0]));
    private final List<String[]> rooms =
            lines.stream().filter(line -> !isBench(line)).toList();

    @Test
    void theTableHasEveryBenchAndNoOther() {
        Set<String> all = names(BENCH.matcher(read("bench/run")).results().map(found -> found.group(1)));
        assertThat(all).isNotEmpty();
        all.addAll(List.of("package", "campaign"));
        assertThat(benches).isEqualTo(all);
    }

    @Test
    void everyBenchHasARoomAndEveryRoomOnlyKnownBenches() {
        Set<String> named =
                names(rooms.stream().flatMap(line -> Arrays.stream(line).skip(1)));
        named.remove(NO_BENCH);
        assertThat(named).isEqualTo(benches);
    }

    @Test
    void everyRoomInTheTableExists() {
        assertThat(rooms).extracting(line -> line[0]).allMatch(room -> Files.exists(TOP.resolve(room)));
    }

    @Test
    void everyRoomOfTheSourcesIsInTheTable() throws IOException {
        Set<String> all = new TreeSet<>();
        for (Path folder : List.of(TOP, TOP.resolve("batch-jobs"))) {
            try (DirectoryStream<Path> modules = Files.newDirectoryStream(folder)) {
                for (Path module : modules) {
                    all.addAll(roomsOf(module.resolve("src/main/java/dozo")));
                }
            }
        }
        assertThat(all)
                .isNotEmpty()
                .allMatch(room -> rooms.stream().anyMatch(line -> (room + "/").startsWith(line[0] + "/")));
    }

    private static Set<String> roomsOf(Path sources) throws IOException {
        if (!Files.isDirectory(sources)) {
            return Set.of();
        }
        try (Stream<Path> files = Files.walk(sources)) {
            return names(files.filter(file -> file.endsWith("package-info.java"))
                    .map(Path::getParent)
                    .filter(room -> !room.equals(sources))
                    .map(room -> TOP.relativize(room).toString()));
        }
    }

    private static boolean isBench(String[] line) {
        return line[1].matches("\\d+|hand");
    }

    private static Set<String> names(Stream<String> names) {
        return names.collect(Collectors.toCollection(TreeSet::new));
    }

    private static String read(String file) {
        try {
            return Files.readString(TOP.resolve(file));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
