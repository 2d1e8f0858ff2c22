package dozo.doctor;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.OperatingSystemMXBean;
import com.sun.management.UnixOperatingSystemMXBean;
import dozo.crypto.Libcrypto;
import dozo.file.Size;
import java.lang.management.ManagementFactory;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Java and what the machine allows it: this process is started as the service is, by the launcher. */
final class JavaCheck {

    private static final int JAVA_OLDEST = 25;
    private static final long HEAP_BYTES_MIN = 200_000_000;

    /** The part of the memory that the heap may take: Java itself, buffers and an embedded database need the rest. */
    private static final double HEAP_SHARE_MAX = 0.75;

    /** A few dozen lanes with 64 open files each, connections to the database, and browsers. */
    private static final long FILES_MIN = 1_024;

    private static final long FILES_GOOD = 4_096;

    private JavaCheck() {}

    static List<Result> look(Installation installation) {
        List<Result> results = new ArrayList<>();
        results.add(version(Runtime.version()));
        results.addAll(options(
                Boolean.parseBoolean(ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                        .getVMOption("ExitOnOutOfMemoryError")
                        .getValue()),
                JavaCheck.class.getModule().isNativeAccessEnabled()));
        results.addAll(names(Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"))));
        results.add(
                Libcrypto.isUsed()
                        ? Result.ok("encryption", Libcrypto.note())
                        : Result.hint(
                                "encryption",
                                "Java's own, which is slower: " + Libcrypto.note(),
                                "Install OpenSSL 3 (libcrypto.so.3) on this machine."));
        return results;
    }

    static Result version(Runtime.Version version) {
        return version.feature() >= JAVA_OLDEST
                ? Result.ok("Java", version.toString())
                : Result.broken(
                        "Java",
                        "%s is too old".formatted(version),
                        "Install a JDK %d or newer, and set DOZO_JAVA_HOME to it.".formatted(JAVA_OLDEST));
    }

    /** Checks the options that the launcher gives. */
    static List<Result> options(boolean exitsWithoutMemory, boolean mayCallNative) {
        List<String> missing = new ArrayList<>();
        if (!exitsWithoutMemory) {
            missing.add("-XX:+ExitOnOutOfMemoryError");
        }
        if (!mayCallNative) {
            missing.add("--enable-native-access=ALL-UNNAMED");
        }
        return missing.isEmpty()
                ? List.of()
                : List.of(Result.warning(
                        "Java",
                        "started without " + String.join(" and ", missing),
                        "Start Dozo with ./dozo, or add the missing options to your own start script."));
    }

    static List<Result> names(Charset ofFileNames) {
        return ofFileNames.equals(StandardCharsets.UTF_8)
                ? List.of()
                : List.of(Result.warning(
                        "Java",
                        "file names are read as %s, so folders whose names have other characters cannot be used"
                                .formatted(ofFileNames),
                        "Set LC_ALL=C.UTF-8 in the environment of the service."));
    }

    static List<Result> memory(Installation installation) {
        return List.of(memory(
                Runtime.getRuntime().maxMemory(),
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize()));
    }

    /** @param machine the memory of the machine, or of the container */
    static Result memory(long heap, long machine) {
        String both = "heap %s, machine or container %s".formatted(Size.text(heap), Size.text(machine));
        if (heap >= machine) {
            return Result.broken(
                    "memory", both + ": the heap is larger", "Set DOZO_HEAP to at most half of the memory.");
        }
        if (heap > machine * HEAP_SHARE_MAX) {
            return Result.warning(
                    "memory",
                    both + ": too little remains beside the heap",
                    "Set DOZO_HEAP to at most half of the memory.");
        }
        return heap < HEAP_BYTES_MIN
                ? Result.warning("memory", both + ": the heap is small", "Set DOZO_HEAP to 512m or more.")
                : Result.ok("memory", both);
    }

    static List<Result> openFiles(Installation installation) {
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                ? List.of(openFiles(unix.getMaxFileDescriptorCount()))
                : List.of();
    }

    static Result openFiles(long limit) {
        String message = "at most %,d at once".formatted(limit);
        String cure =
                "Raise the limit of the service's user: LimitNOFILE=65536 in the systemd unit, or ulimit -n 65536.";
        if (limit < FILES_MIN) {
            return Result.broken("open files", message + ", which nights exceed", cure);
        }
        return limit < FILES_GOOD
                ? Result.warning("open files", message + ", which nights with many lanes exceed", cure)
                : Result.ok("open files", message);
    }
}
