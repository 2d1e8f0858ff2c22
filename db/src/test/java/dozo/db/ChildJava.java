package dozo.db;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The command line of a Java process with the class path of this test: for tests that kill it, limit it, or look at its
 * output and exit code.
 */
public final class ChildJava {

    /** The suite's AOT cache for its class path, if there is one; see {@code ./dozo test}. */
    private static final String CACHE = "suite.children.aot";

    /** As in test processes: it takes half of the processor time of a start. */
    private static final List<String> USUAL =
            List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED");

    /** The modules above the jobs, as jars of the suite or as folders. */
    private static final Pattern ABOVE = Pattern.compile("/(service|ui)(-tests)?\\.jar$|/(service|ui)/target/");

    private final Class<?> main;
    private final List<String> by = new ArrayList<>();
    private final List<Path> before = new ArrayList<>();
    private final List<String> options = new ArrayList<>(USUAL);
    private final List<String> arguments = new ArrayList<>();
    private boolean fromCache;
    private String without = "no path contains this\n";

    private ChildJava(Class<?> main) {
        this.main = main;
    }

    public static ChildJava of(Class<?> main) {
        return new ChildJava(main);
    }

    /** Puts these words before Java's, those of a program that starts it. */
    public ChildJava by(List<String> words) {
        by.addAll(words);
        return this;
    }

    /** Puts these folders before the class path. */
    public ChildJava before(List<Path> folders) {
        before.addAll(folders);
        return this;
    }

    /** Puts a jar in the place of those in the class path whose paths contain this. */
    public ChildJava instead(String part, Path jar) {
        without = part;
        return before(List.of(jar));
    }

    /**
     * Starts it from the suite's AOT cache, if there is one: for a process with Spring. One that loads few classes would
     * take twice the time.
     */
    public ChildJava fromCache() {
        fromCache = true;
        return this;
    }

    /** Adds options of Java; they win over the usual ones. */
    public ChildJava options(String... more) {
        options.addAll(List.of(more));
        return this;
    }

    /** Leaves out the usual options, for a test of what the program finds in them. */
    public ChildJava withoutUsualOptions() {
        options.removeAll(USUAL);
        return this;
    }

    public ChildJava arguments(String... more) {
        return arguments(List.of(more));
    }

    public ChildJava arguments(List<String> more) {
        arguments.addAll(more);
        return this;
    }

    /** Returns the process, ready to start, without the variables that begin with {@code DOZO_}. */
    public ProcessBuilder process() {
        Starts.JVM.count();
        ProcessBuilder process = new ProcessBuilder(words());
        process.environment().keySet().removeIf(name -> name.startsWith("DOZO_"));
        return process;
    }

    /** Returns the options of Java alone, for a program that starts such a process itself. */
    public List<String> javaOptions() {
        return Stream.concat(cache().stream(), options.stream()).toList();
    }

    private List<String> words() {
        List<String> words = new ArrayList<>(by);
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.addAll(cache());
        words.addAll(options);
        words.addAll(List.of("-cp", classPath(), main.getName()));
        words.addAll(arguments);
        return words;
    }

    /** NB: Java refuses a cache with another class path. It would say so in the output that tests read. */
    private List<String> cache() {
        String cache = System.getProperty(CACHE, "");
        return fromCache && before.isEmpty() && !cache.isEmpty() && Files.exists(Path.of(cache))
                ? List.of("-XX:AOTCache=" + cache, "-Xlog:aot*=off", "-Xlog:cds*=off")
                : List.of();
    }

    /** A program below the service gets a class path without it, as in its own module: its components would need memory. */
    private String classPath() {
        Stream<String> all = Stream.of(System.getProperty("java.class.path").split(":"));
        boolean isService = ABOVE.matcher(
                        main.getProtectionDomain().getCodeSource().getLocation().getPath())
                .find();
        return Stream.concat(
                        before.stream().map(Path::toString),
                        all.filter(entry -> !entry.contains(without))
                                .filter(entry ->
                                        isService || !ABOVE.matcher(entry).find()))
                .collect(Collectors.joining(":"));
    }
}
