package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.DocCommands.Block;
import dozo.DocCommands.Command;
import dozo.people.Permissions;
import dozo.security.MadeKeys;
import dozo.start.Declared;
import dozo.start.Given;
import dozo.start.StartFailure;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.yaml.snakeyaml.Yaml;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.MutuallyExclusiveArgsException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The commands of the documentation: all of them are valid for this program. */
class DocCommandsTest {

    private static final JsonMapper JSON = new JsonMapper();

    /**
     * The kinds of blocks with a check: haproxy and keepalived in LoadBalancerTest, nginx by the browser's tests, others here;
     * JSON, YAML and Python only their syntax.
     */
    private static final Set<String> CHECKED =
            Set.of("console", "haproxy", "json", "keepalived", "nginx", "python", "sh", "yaml");

    /** Those without: output, files of other programs, pictures, SQL. */
    private static final Set<String> UNCHECKED = Set.of("", "html", "ini", "java", "mermaid", "nft", "sql", "text");

    /** The other programs; their arguments are not checked. */
    private static final Set<String> PROGRAMS =
            Set.of(("adduser age apt bagit.py cat cd check_certificate.py comm cp curl diff docker"
                            + " find install jq localedef make-secrets mkdir mmapplypolicy mv pip psql python python3 rsync scp sha256sum sort ssh ssh-keygen"
                            + " ssh-keyscan sshd systemctl tar zcat")
                    .split(" "));

    private static final Pattern SETTING = Pattern.compile("\\bDOZO_[A-Z_]*");
    private static final Pattern REQUEST = Pattern.compile("`(GET|POST|PUT|PATCH|DELETE) (/[^`]*)`");

    private static final List<Command> COMMANDS = new ArrayList<>();

    private static JsonNode api;

    @TempDir
    Path folder;

    @BeforeAll
    static void read(@TempDir Path folder) throws Exception {
        for (Path page : DocCommands.pages()) {
            COMMANDS.addAll(DocCommands.of(page, Files.createTempDirectory(folder, "page")));
        }
        api = JSON.readTree(Files.readString(Path.of("src/main/resources/openapi.json")));
    }

    @Test
    void everyCommandOfDozoCanBeParsed() throws IOException {
        String launcher = Files.readString(DocsTest.TOP.resolve("dozo"));
        List<String> builders = List.of(launcher.replaceAll("(?s).*\\$word =~ \\^\\(([a-z|]+)\\)\\$ .*", "$1")
                .split("\\|"));
        CommandLine dozo = Application.commandLine();
        collectErrors(dozo);
        List<String> wrong = new ArrayList<>();
        int parsed = 0;
        for (Command command : COMMANDS) {
            boolean here = command.words().getFirst().equals("./dozo");
            // NB: the first issue of a developer adds an option that is not there yet.
            boolean later = !here && command.from().page().endsWith("CONTRIBUTING.md");
            if (command.program().equals("dozo") && !later) {
                String what =
                        here && builders.contains(first(command)) ? wrongForDevelopers(command) : wrong(dozo, command);
                if (!what.isEmpty()) {
                    wrong.add(command + ": " + what);
                }
                parsed++;
            }
        }

        assertThat(wrong).isEmpty();
        assertThat(parsed).isGreaterThan(300);
    }

    private static String first(Command command) {
        return command.arguments().isEmpty() ? "" : command.arguments().getFirst();
    }

    private static void collectErrors(CommandLine command) {
        command.getCommandSpec().parser().collectErrors(true);
        command.getSubcommands().values().forEach(DocCommandsTest::collectErrors);
    }

    /** Returns what is wrong with a command; one in a sentence may lack arguments, or show those that exclude each other. */
    private static String wrong(CommandLine dozo, Command command) {
        String[] arguments = command.arguments().toArray(String[]::new);
        if (first(command).equals("copy")) {
            // It reads its options itself, also before it prints its help.
            Ended ended = Ended.of(
                    Stream.concat(Arrays.stream(arguments), Stream.of("--help")).toArray(String[]::new));
            return ended.code() == 0 ? "" : ended.err();
        }
        var parsed = dozo.parseArgs(arguments);
        List<CommandLine> all = parsed.asCommandLineList();
        Object last = all.getLast().getCommandSpec().userObject();
        List<String> errors = all.stream()
                .flatMap(each -> each.getParseResult().errors().stream())
                .filter(each -> !command.from().isSpan()
                        || !(each instanceof MissingParameterException
                                || each instanceof MutuallyExclusiveArgsException))
                .map(Exception::getMessage)
                .toList();
        boolean runs = last instanceof Callable<?> || last instanceof Method || parsed.isVersionHelpRequested();
        return runs
                ? String.join("; ", errors)
                : "expected a command after " + all.getLast().getCommandName();
    }

    /** Returns what is wrong with a command that the launcher has for developers. */
    private static String wrongForDevelopers(Command command) throws IOException {
        String[] names = command.arguments().stream()
                .skip(1)
                .filter(each -> !each.startsWith("-"))
                .map(each -> each.replaceFirst("#.*", ""))
                .toArray(String[]::new);
        String rooms = Files.readString(DocsTest.TOP.resolve("bench/rooms"));
        List<String> unknown = new ArrayList<>();
        for (String name : names) {
            boolean known = switch (first(command)) {
                case "test" -> DocsTest.tests().contains(name);
                case "measure" ->
                    Pattern.compile("(?m)^" + name + " ").matcher(rooms).find();
                default -> true;
            };
            if (!known) {
                unknown.add(name);
            }
        }
        return unknown.isEmpty() ? "" : "expected the name of a test or measurement: " + unknown;
    }

    @Test
    void everyOtherProgramIsNamedHere() {
        Set<String> programs = new TreeSet<>();
        COMMANDS.stream()
                .filter(each -> !each.isEnd())
                .map(Command::program)
                .filter(program -> !program.equals("dozo"))
                .forEach(programs::add);

        assertThat(programs).isSubsetOf(PROGRAMS);
    }

    @Test
    void everyRequestIsOneOfTheService() throws IOException {
        List<String> wrong = new ArrayList<>();
        int requests = 0;
        for (Command command : COMMANDS) {
            if (command.program().equals("curl") && command.toString().contains(DocCommands.URL + "/api/")) {
                String what = wrongRequest(command.arguments());
                if (!what.isEmpty()) {
                    wrong.add(command + ": " + what);
                }
                requests++;
            }
        }
        for (Path page : DocCommands.pages()) {
            for (var found : REQUEST.matcher(Files.readString(page)).results().toList()) {
                URI address = URI.create(found.group(2).replaceAll("[{}]", ""));
                boolean known = isPage(found.group(1), address.getPath())
                        || Stream.of("", "/api/v1")
                                .map(prefix -> wrong(found.group(1), URI.create(prefix + address), null))
                                .anyMatch(String::isEmpty);
                if (!known) {
                    wrong.add(page + ": " + found.group());
                }
                requests++;
            }
        }

        assertThat(wrong).isEmpty();
        assertThat(requests).isGreaterThan(25);
    }

    private static boolean isPage(String method, String path) {
        return path.startsWith("/actuator/")
                || Permissions.endpoints().stream()
                        .anyMatch(each -> each.method().equals(method)
                                && path.matches(each.path().replaceAll("\\{[^}]*}", "[^/]+")));
    }

    /** Returns what is wrong with the arguments of curl. */
    private static String wrongRequest(List<String> arguments) {
        String method = "GET";
        String body = null;
        String address = "";
        for (int i = 0; i < arguments.size(); i++) {
            switch (arguments.get(i)) {
                case "-X" -> method = arguments.get(++i);
                case "-H" -> i++;
                case "-d" -> {
                    body = arguments.get(++i);
                    method = method.equals("GET") ? "POST" : method;
                }
                default -> address = arguments.get(i);
            }
        }
        return wrong(method, URI.create(address), body);
    }

    /** Returns what is wrong with a request: there is no such operation, parameter or field, or a field is missing. */
    private static String wrong(String method, URI address, @Nullable String body) {
        Optional<JsonNode> operation = api.at("/paths").properties().stream()
                .filter(each -> address.getPath().matches(each.getKey().replaceAll("\\{[^}]*}", "[^/]+")))
                .sorted(Comparator.comparing(each -> each.getKey().split("\\{", -1).length))
                .map(each -> each.getValue().path(method.toLowerCase(Locale.ROOT)))
                .filter(each -> !each.isMissingNode())
                .findFirst();
        if (operation.isEmpty()) {
            return "expected an operation of the service";
        }
        List<String> wrong = new ArrayList<>();
        Set<String> parameters = new TreeSet<>();
        operation
                .get()
                .at("/parameters")
                .forEach(each -> parameters.add(each.at("/name").asString()));
        Stream.of(Objects.requireNonNullElse(address.getQuery(), "").split("&"))
                .map(each -> each.replaceFirst("=.*", ""))
                .filter(each -> !each.isEmpty() && !parameters.contains(each))
                .forEach(each -> wrong.add("unknown parameter " + each));
        if (body != null) {
            JsonNode schema = operation.get().at("/requestBody/content/application~1json/schema");
            schema = schema.has("$ref") ? api.at(schema.at("/$ref").asString().substring(1)) : schema;
            JsonNode fields = JSON.readTree(body);
            for (String field : fields.propertyNames()) {
                if (!schema.at("/properties").has(field)) {
                    wrong.add("unknown field " + field);
                }
            }
            for (JsonNode required : schema.at("/required")) {
                if (!fields.has(required.asString())) {
                    wrong.add("missing field " + required.asString());
                }
            }
        }
        return String.join("; ", wrong);
    }

    @Test
    void everySettingIsOne() throws IOException {
        Set<String> known = new TreeSet<>(Given.OTHERS);
        // Fields of the journal.
        known.addAll(List.of("DOZO_RUN", "DOZO_EXPERIMENT"));
        Declared.in(Application.SETTINGS).forEach(each -> known.add(each.environment()));
        // What the launcher and the composition read themselves.
        for (String file : List.of("dozo", "docker-compose.yml", "docker/make-secrets")) {
            SETTING.matcher(Files.readString(DocsTest.TOP.resolve(file)))
                    .results()
                    .forEach(found -> known.add(found.group()));
        }
        List<String> unknown = new ArrayList<>();
        for (Path page : DocCommands.pages()) {
            Matcher names = SETTING.matcher(Files.readString(page));
            while (names.find()) {
                // DOZO_LDAP_* stands for several.
                boolean one = names.group().endsWith("_")
                        ? known.stream().anyMatch(each -> each.startsWith(names.group()))
                        : known.contains(names.group());
                if (!one) {
                    unknown.add(page + ": " + names.group());
                }
            }
        }

        assertThat(unknown).isEmpty();
    }

    @Test
    void everyValueOfASettingIsAllowedUnlessItsRefusalIsShown() throws Exception {
        Path store = MadeKeys.store(folder.resolve("store"), "EC", "dns:dozo.example.org", "-1d");
        Path key = Files.writeString(folder.resolve("key"), MadeKeys.key(store));
        Path certificate = Files.writeString(folder.resolve("certificate"), MadeKeys.certificate(store));
        Path secret = Files.writeString(folder.resolve("secret"), "x\n");
        for (Path file : List.of(key, secret)) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        }
        Set<String> wrong = new TreeSet<>();
        Set<Map<String, String>> seen = new HashSet<>();
        for (Command command : COMMANDS) {
            if (seen.add(command.settings())) {
                Map<String, Object> settings = new HashMap<>(command.settings());
                settings.replaceAll((name, value) -> switch (name.replaceFirst(".*_TLS_", "")) {
                    case "CERTIFICATE_FILE" -> certificate.toString();
                    case "KEY_FILE" -> key.toString();
                    default -> name.endsWith("_FILE") ? secret.toString() : value;
                });
                StandardEnvironment environment = new StandardEnvironment();
                environment.getPropertySources().remove(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
                environment
                        .getPropertySources()
                        .replace(
                                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                                new SystemEnvironmentPropertySource(
                                        StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, settings));
                new Given(environment, Application.SETTINGS)
                        .failures().stream()
                                .map(StartFailure::message)
                                .filter(message -> !command.from().text().contains("dozo: " + message + "\n"))
                                .forEach(message -> wrong.add(command + ": " + message));
            }
        }

        assertThat(wrong).isEmpty();
        assertThat(seen).hasSizeGreaterThan(8);
    }

    /** The bench of a bare machine follows that page. */
    @Test
    void theReadmeInstallsAsThePageOfTheInstallation() {
        List<List<String>> page = COMMANDS.stream()
                .filter(each -> each.from().page().endsWith("start/install.md"))
                .map(DocCommandsTest::plain)
                .toList();
        List<List<String>> readme = COMMANDS.stream()
                .filter(each -> each.from().page().endsWith("README.md")
                        && each.from().text().contains("./install "))
                .map(DocCommandsTest::plain)
                .toList();

        assertThat(readme).hasSizeGreaterThan(5);
        assertThat(page).containsSubsequence(readme);
    }

    /** Returns the words of a command, whoever runs it. */
    private static List<String> plain(Command command) {
        return Stream.concat(Stream.of(command.program()), command.arguments().stream())
                .toList();
    }

    @Test
    void aJapanesePageHasTheCommandsOfTheEnglishOne() throws IOException {
        for (Path page : DocCommands.pages()) {
            if (page.toString().endsWith(".ja.md")) {
                Path english = page.resolveSibling(page.getFileName().toString().replace(".ja.md", ".md"));

                assertThat(commands(page)).as("%s", page).isEqualTo(commands(english));
            }
        }
    }

    /** Returns the commands of a page's blocks without sentences in them. */
    private static List<List<String>> commands(Path page) {
        return COMMANDS.stream()
                .filter(each -> each.from().page().equals(page) && !each.from().isSpan())
                .map(each -> each.words().stream()
                        .map(word -> word.contains(" ") ? "…" : word)
                        .toList())
                .toList();
    }

    @Test
    void everyBlockIsOfAKindThatIsCheckedOrNamedHere() throws Exception {
        List<String> python = new ArrayList<>(
                List.of("python3", "-c", "import ast, sys; [ast.parse(each) for each in sys.argv[1:]]"));
        List<String> other = new ArrayList<>();
        for (Path page : DocCommands.pages()) {
            for (Block block : DocCommands.blocks(page)) {
                String kind = block.kind();
                if (kind.equals("json")) {
                    JSON.readTree(block.text());
                } else if (kind.equals("yaml")) {
                    new Yaml().load(block.text());
                } else if (kind.equals("python")) {
                    python.add(block.text());
                } else if (kind.isEmpty() && block.text().startsWith("$ ")) {
                    other.add(block.page() + ": expected console before " + block.text());
                } else if (!block.isSpan() && !CHECKED.contains(kind) && !UNCHECKED.contains(kind)) {
                    other.add(page + ": " + kind);
                }
            }
        }

        assertThat(other).isEmpty();
        assertThat(python).hasSizeGreaterThan(3);
        Ended.of(new ProcessBuilder(python)).ends(0);
    }
}
