package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.start.Declared;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.config.YamlMapFactoryBean;
import org.springframework.core.io.FileSystemResource;

/**
 * What can be checked of {@code docker-compose.yml} and {@code docker/make-secrets} without containers. {@code bench/run
 * deployment} runs them.
 */
class ComposeFileTest {

    private static final Path TOP = Path.of("..").toAbsolutePath().normalize();

    /** Orthanc's image writes its configuration and moves plugins at its start. */
    private static final Set<String> WRITABLE = Set.of("orthanc");

    private static final Pattern SECRET_IN_ENVIRONMENT = Pattern.compile("(?i).*(password|secret|_key)");

    private final Map<String, Object> file = read();

    @TempDir
    Path folder;

    @Test
    void everyContainerIsHardened() {
        services().forEach((name, service) -> {
            assertThat(service).as(name).containsEntry("restart", "unless-stopped");
            assertThat(service).as(name).containsEntry("cap_drop", List.of("ALL"));
            assertThat(service).as(name).containsEntry("security_opt", List.of("no-new-privileges:true"));
            assertThat(service).as(name).containsEntry("read_only", !WRITABLE.contains(name));
        });
    }

    @Test
    void everyContainerHasAHealthCheck() throws IOException {
        for (Map.Entry<String, Map<String, Object>> each : services().entrySet()) {
            Object build = each.getValue().get("build");
            boolean inImage = build != null
                    && Files.readString(TOP.resolve(build.toString()).resolve("Dockerfile"))
                            .contains("\nHEALTHCHECK ");
            assertThat(inImage || each.getValue().containsKey("healthcheck"))
                    .as(each.getKey())
                    .isTrue();
        }
    }

    @Test
    void onlyFilesContainSecrets() {
        services()
                .forEach((name, service) -> assertThat(map(service.getOrDefault("environment", Map.of()))
                                .keySet())
                        .as(name)
                        .noneMatch(variable ->
                                SECRET_IN_ENVIRONMENT.matcher(variable).matches()));
    }

    @Test
    void thereIsAServiceWithAllNeighboursAndTwoWorkers() {
        assertThat(services())
                .containsOnlyKeys("database", "broker", "site", "directory", "orthanc", "service", "worker");
        assertThat(map(map(services().get("worker")).get("deploy"))).containsEntry("replicas", 2);
    }

    /** Whoever has it can change the ledger. The database's container creates the role. */
    @Test
    void onlyTheServiceHasThePasswordOfTheOwnerAndNobodyThatOfTheSuperuser() throws IOException {
        assertThat(having("database_owner_password")).containsExactlyInAnyOrder("database", "service");
        assertThat(having("database_service_password")).containsExactlyInAnyOrder("database", "service", "worker");
        assertThat(having("database_password")).containsExactly("database");
        String roles = Files.readString(TOP.resolve("docker/database/roles.sh"));
        Map<String, Object> environment = map(services().get("service").get("environment"));
        for (String user : List.of("DOZO_DB_USER", "DOZO_DB_OWNER_USER")) {
            assertThat(roles).contains("alter role %s password".formatted(environment.get(user)));
        }
    }

    private List<String> having(String secret) {
        return services().entrySet().stream()
                .filter(each -> each.getValue().getOrDefault("secrets", List.of()) instanceof List<?> secrets
                        && secrets.contains(secret))
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Dozo refuses to start with a setting that it does not know. */
    @Test
    void theProgramKnowsAllOfItsSettings() {
        Set<String> known = Declared.in(Application.SETTINGS).stream()
                .map(Declared::environment)
                .collect(Collectors.toSet());
        for (String name : List.of("service", "worker")) {
            assertThat(map(services().get(name).get("environment")).keySet())
                    .as(name)
                    .isSubsetOf(known);
        }
    }

    /** The first secret's path names what to do when the folder is not set; Compose refuses the file then. */
    @Test
    void aMissingFolderOfSecretsIsRefused() {
        assertThat(secretFiles())
                .allMatch(path -> path.startsWith("${DOZO_SECRETS"))
                .first()
                .asString()
                .contains(":?run docker/make-secrets");
        String source = services().get("service").get("volumes").toString();
        assertThat(source).contains("${DOZO_SOURCE:?").contains("create_host_path=false");
    }

    @Test
    void makeSecretsMakesEverySecretOnceAndKeepsIt() throws Exception {
        Path made = folder.resolve("secrets");

        assertThat(makeSecrets(made)).isEqualTo("export DOZO_SECRETS=" + made.toRealPath() + "\n");
        Set<String> names = names(made);
        Map<String, String> contents = contents(made);

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(made)))
                .isEqualTo("rwx------");
        assertThat(names)
                .isEqualTo(secretFiles().stream()
                        .map(path -> path.substring(path.lastIndexOf('/') + 1))
                        .collect(Collectors.toSet()));
        assertThat(new HashSet<>(contents.values())).hasSameSizeAs(contents.values());
        makeSecrets(made);
        assertThat(contents(made)).isEqualTo(contents);
    }

    @Test
    void makeSecretsWithoutAFolderSaysHowItIsUsed() throws Exception {
        assertThat(ended(64)).contains("usage: ");
    }

    private static String makeSecrets(Path folder) throws Exception {
        return ended(0, folder.toString());
    }

    private static String ended(int code, String... arguments) throws Exception {
        String script = TOP.resolve("docker/make-secrets").toString();
        List<String> command =
                Stream.concat(Stream.of(script), Stream.of(arguments)).toList();
        return Ended.of(new ProcessBuilder(command)).ends(code).out();
    }

    private static Set<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(each -> each.getFileName().toString()).collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private static Map<String, String> contents(Path folder) throws IOException {
        Map<String, String> contents = new java.util.TreeMap<>();
        for (String name : names(folder)) {
            contents.put(name, Files.readString(folder.resolve(name)));
        }
        return contents;
    }

    /** Returns the paths of the secrets' files, in the order of the file. */
    private List<String> secretFiles() {
        return map(file.get("secrets")).values().stream()
                .map(secret -> map(secret).get("file").toString())
                .toList();
    }

    private Map<String, Map<String, Object>> services() {
        return map(file.get("services")).entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, each -> map(each.getValue())));
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(Object value) {
        return (Map<String, Object>) value;
    }

    private static Map<String, Object> read() {
        YamlMapFactoryBean yaml = new YamlMapFactoryBean();
        yaml.setResources(new FileSystemResource(TOP.resolve("docker-compose.yml")));
        return yaml.getObject();
    }
}
