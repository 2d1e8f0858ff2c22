package dozo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dozo.setting.Setting.Agree;
import dozo.setting.Setting.Secret;
import dozo.setting.SizeOfSetting;
import dozo.start.Declared;
import dozo.start.Given;
import dozo.start.StartFailure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.type.filter.AnnotationTypeFilter;
import org.springframework.util.unit.DataSize;

/** Every setting: errors use the name that was given, valid values are accepted, and secrets are never shown. */
class SettingsTest {

    private static final List<Declared> ALL = Declared.in(Application.SETTINGS);

    /** Invalid values of the settings whose type does not define their form. Each of these settings has a line. */
    private static final Map<String, List<String>> WRONG_TEXTS = Map.ofEntries(
            Map.entry("dozo.work", List.of("", " ", "/dev/null/work")),
            Map.entry("dozo.broker.url", List.of("broker", "http://x", "amqp://user:secret@h", "amqp://h:port")),
            Map.entry("dozo.service.name", List.of("a b", "日本", "x".repeat(101))),
            Map.entry("dozo.service.url", List.of("dozo.example.org", "ftp://h", "https://user@h", "https://h/x")),
            Map.entry("dozo.db.url", List.of("mysql://x", "localhost", "jdbc:postgresql://h:port/x")),
            Map.entry("dozo.http.address", List.of("", "http://x", "a b")),
            Map.entry("dozo.http.tls-certificate-file", List.of("/not/there", "/dev/null")),
            Map.entry("dozo.http.tls-key-file", List.of("/not/there", "/dev/null")),
            Map.entry("dozo.http.tls-proxy", List.of("proxy.example.org", "10.0.0.1 10.0.0.2", "10.0.0.0/8")),
            Map.entry("dozo.http.hosts", List.of("http://x", "a b", "x:80", "[::1]:80", "*")),
            Map.entry("dozo.mail.host", List.of("a b", "smtp://mail", "日本")),
            Map.entry("dozo.mail.tls", List.of("", "ssl", "TLS", "true")),
            Map.entry("dozo.mail.from", List.of("dozo", "a b@example.org", "dozo@", "a@b@c")),
            Map.entry("dozo.witness.origin", List.of("a b", "a+b", "日本", "x".repeat(151))),
            Map.entry("dozo.webhook.internal-hosts", List.of("http://x", "a/b", "日本")),
            Map.entry("dozo.log.format", List.of("", "JSON", "ecs", "xml")),
            Map.entry("dozo.worklist.cron", List.of("", "whenever", "0 0 25 * * *", "0 1 * * *")),
            Map.entry("dozo.schedule.cron", List.of("", "whenever", "0 0 25 * * *", "0 1 * * *")),
            Map.entry("dozo.drill.cron", List.of("", "whenever", "0 0 25 * * *", "0 1 * * *")),
            Map.entry("dozo.drill.site-cron", List.of("", "whenever", "0 0 25 * * *", "0 1 * * *")),
            Map.entry("dozo.drill.folder", List.of("drills", "./drills", "~/drills")),
            Map.entry("dozo.recovery.recipients", List.of("age1", "ssh-ed25519 AAAA", "AGE-SECRET-KEY-1X")),
            Map.entry("dozo.schedule.zone", List.of("Mars/Base", "JST+")),
            Map.entry("dozo.backup.folder", List.of("backups", "./backups", "C:\\backups")),
            Map.entry("dozo.scrub.window", List.of("", "20:00", "20:00-20:00", "8-10", "25:00-26:00")),
            Map.entry("dozo.commitment.address", List.of("", "http://x", "a b")),
            Map.entry("dozo.commitment.ae-title", List.of("", "A B", "A=B", "A".repeat(17))),
            Map.entry(
                    "dozo.commitment.callers",
                    List.of("MR", "MR=h", "MR=h:0", "MR=h:65536", "A B=h:1", "MR=h:1,MR=i:2")),
            Map.entry("dozo.commitment.tls-certificate-file", List.of("/not/there", "/dev/null")),
            Map.entry("dozo.commitment.tls-key-file", List.of("/not/there", "/dev/null")),
            Map.entry("dozo.commitment.tls-trust-file", List.of("/not/there", "/dev/null")),
            Map.entry("dozo.worklist.url", List.of("ris.example.org", "ftp://x", "http://")),
            Map.entry("dozo.worklist.server", List.of("", "a b")),
            Map.entry(
                    "dozo.oidc.issuer",
                    List.of("idp.example.org", "http://idp.example.org", "https://", "https://u@h")),
            Map.entry("dozo.oidc.ca-file", List.of("/not/there")),
            Map.entry("dozo.oidc.client-id", List.of("", " ")),
            Map.entry("dozo.oidc.label", List.of("x".repeat(41))),
            Map.entry("dozo.oidc.scopes", List.of("", "profile", "openidprofile")),
            Map.entry("dozo.oidc.name-claim", List.of("")),
            Map.entry("dozo.oidc.groups-claim", List.of("")),
            Map.entry("dozo.oidc.roles", List.of("group", "group=KING", "=ADMIN", "group=")),
            Map.entry("dozo.oidc.projects", List.of("group", "=P1", "group=")),
            Map.entry("dozo.ldap.url", List.of("ldap.example.org", "http://x", "ldaps://")),
            Map.entry("dozo.ldap.ca-file", List.of("/not/there")),
            Map.entry("dozo.ldap.base", List.of("")),
            Map.entry("dozo.ldap.user-filter", List.of("", "(uid=x)")),
            Map.entry("dozo.ldap.roles", List.of("group", "group=KING", "=ADMIN", "group=")),
            Map.entry("dozo.ldap.projects", List.of("group", "=P1", "group=")));

    /** Names that only another system can check. */
    private static final Set<String> ANY_TEXT = Set.of(
            "dozo.broker.user",
            "dozo.db.user",
            "dozo.db.password",
            "dozo.db.owner-user",
            "dozo.db.owner-password",
            "dozo.ldap.group-base",
            "dozo.ldap.manager-dn",
            "dozo.mail.user",
            "dozo.worklist.user");

    @TempDir
    Path folder;

    @Test
    void everyWrongValueIsNamedInTheFormThatWasUsedWithWhatIsAllowed() throws Exception {
        List<String> untold = new ArrayList<>();
        int tried = 0;
        for (Declared each : ALL) {
            for (String value : wrong(each)) {
                for (boolean variable : List.of(true, false)) {
                    String name = variable ? each.environment() : each.property();
                    tried++;
                    String told = told(variable, name, value);
                    if (!told.startsWith(name + " ")
                            || !told.endsWith("; expected " + each.allowed())
                            || !told.contains(value.isEmpty() ? "is empty" : value)
                            || told.contains("\n")
                            || told.contains("Exception")) {
                        untold.add("%s=\"%s\": %s".formatted(name, value, told));
                    }
                }
            }
        }

        System.out.printf("settings: %d, wrong values: %d%n", ALL.size(), tried);
        assertThat(untold).isEmpty();
    }

    @Test
    void everyDefaultAndBothEndsOfEveryRangeAreAllowed() {
        for (Declared each : ALL) {
            List<String> right = new ArrayList<>(List.of(each.standard()));
            if (!each.says().min().isEmpty()) {
                right.addAll(List.of(each.says().min(), each.says().max()));
            }
            right.forEach(value -> check(true, Map.of(each.environment(), value)));
        }
    }

    @Test
    void everyTextHasWrongValuesInThisTest() {
        Set<String> texts = ALL.stream()
                .filter(each -> each.type() == String.class && each.says().secret() != Secret.IN_FILE)
                .map(Declared::property)
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> here = new TreeSet<>(WRONG_TEXTS.keySet());
        here.addAll(ANY_TEXT);

        assertThat(here).isEqualTo(texts);
    }

    @Test
    void everyRecordOfSettingsIsInTheTable() {
        var scan = new ClassPathScanningCandidateComponentProvider(false);
        scan.addIncludeFilter(new AnnotationTypeFilter(ConfigurationProperties.class));

        assertThat(scan.findCandidateComponents("dozo").stream().map(found -> found.getBeanClassName()))
                .containsExactlyInAnyOrderElementsOf(
                        Application.SETTINGS.stream().map(Class::getName).toList());
    }

    /** The file is part of the package. Every line of a setting can be used as it is, without its comment mark. */
    @Test
    void theExampleOfASettingsFileHasEverySettingWithItsDefault() {
        Map<String, String> examples = SettingsCommand.example()
                .lines()
                .filter(line -> line.startsWith("#DOZO_"))
                .map(line -> line.substring(1).split("=", 2))
                .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1]));

        assertThat(examples)
                .containsExactlyInAnyOrderEntriesOf(
                        ALL.stream().collect(Collectors.toMap(Declared::environment, Declared::standard)));
        assertThat(SettingsCommand.example().lines())
                .allSatisfy(line -> assertThat(line).matches("(#.*)?").doesNotContain("`", "]("));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    true  | DOZO_SCHEDUL_CRON        | DOZO_SCHEDULE_CRON
                    true  | DOZO_TRANSFER_LANE       | DOZO_TRANSFER_LANES
                    true  | DOZO_PASWORD_FILE        | DOZO_PASSWORD_FILE
                    true  | DOZO_DB_PASSWORD_FIEL    | DOZO_DB_PASSWORD_FILE
                    true  | DOZO_HEEP                | DOZO_HEAP
                    true  | DOZO_X                   | DOZO_
                    false | dozo.schedule.chron      | dozo.schedule.cron
                    false | dozo.transfer.lanes.many | dozo.transfer.lanes
                    false | dozo.dbb.url             | dozo.db.url
                    """)
    void anUnknownNameIsRefusedWithTheNearestKnownOne(boolean variable, String name, String nearest) throws Exception {
        assertThat(told(variable, name, "1"))
                .startsWith("unknown setting %s; did you mean %s".formatted(name, nearest));
    }

    @Test
    void whatOthersReadIsKnown() {
        check(true, Given.OTHERS.stream().collect(Collectors.toMap(name -> name, name -> "x")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    DOZO_DB_USER=x                                             | DOZO_DB_URL (dozo.db.url) is missing
                    DOZO_DB_URL=jdbc:postgresql://h/d DOZO_DB_PASSWORD=x DOZO_DB_PASSWORD_FILE=FILE | DOZO_DB_PASSWORD and the password file are both set
                    DOZO_DB_OWNER_USER=x                                       | DOZO_DB_URL (dozo.db.url) is missing
                    DOZO_DB_URL=jdbc:postgresql://h/d DOZO_DB_OWNER_USER=x     | DOZO_DB_USER (dozo.db.user) is missing, but an owner is set
                    DOZO_DB_URL=jdbc:postgresql://h/d DOZO_DB_USER=x DOZO_DB_OWNER_USER=x | DOZO_DB_OWNER_USER is the user as well
                    DOZO_DB_URL=jdbc:postgresql://h/d DOZO_DB_USER=x DOZO_DB_OWNER_PASSWORD=x | DOZO_DB_OWNER_USER (dozo.db.owner-user) is missing
                    DOZO_DB_URL=jdbc:postgresql://h/d DOZO_DB_USER=x DOZO_DB_OWNER_USER=y DOZO_DB_OWNER_PASSWORD=x DOZO_DB_OWNER_PASSWORD_FILE=FILE | DOZO_DB_OWNER_PASSWORD and the password file are both set
                    DOZO_LDAP_URL=ldaps://h                                    | DOZO_LDAP_BASE (dozo.ldap.base) is missing
                    DOZO_LDAP_URL=ldaps://h DOZO_LDAP_BASE=b DOZO_LDAP_MANAGER_DN=m | DOZO_LDAP_MANAGER_PASSWORD_FILE (dozo.ldap.manager-password-file) is missing
                    DOZO_OIDC_ISSUER=https://h                                 | DOZO_OIDC_CLIENT_ID (dozo.oidc.client-id) is missing
                    DOZO_OIDC_ISSUER=https://h DOZO_OIDC_CLIENT_ID=c           | DOZO_OIDC_CLIENT_SECRET_FILE (dozo.oidc.client-secret-file) is missing
                    DOZO_LDAP_URL=ldaps://h DOZO_LDAP_BASE=b DOZO_LDAP_MANAGER_PASSWORD_FILE=FILE | DOZO_LDAP_MANAGER_DN (dozo.ldap.manager-dn) is missing
                    """)
    void whatDoesNotGoTogetherIsTold(String given, String told) throws Exception {
        Path file = Files.writeString(folder.resolve("secret"), "x\n");
        Map<String, String> settings = new HashMap<>();
        for (String pair : given.strip().split(" ", -1)) {
            String[] parts = pair.split("=", 2);
            settings.put(parts[0], parts[1].replace("FILE", file.toString()));
        }

        assertThat(failure(true, settings).message()).startsWith(told).doesNotContain("\n");
    }

    @Test
    void aSecretIsNotTakenFromTheCommandLine() {
        for (Declared each : ALL) {
            if (each.secret()) {
                StandardEnvironment environment = bare();
                environment
                        .getPropertySources()
                        .addFirst(new MapPropertySource(
                                StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME,
                                Map.of(each.property(), "hush", "dozo.db.url", "jdbc:postgresql://h/d")));
                StartFailure failure = failure(environment);

                assertThat(failure.message())
                        .contains(each.property())
                        .contains(each.environment() + "_FILE")
                        .doesNotContain("hush");
            }
        }
    }

    /** Each machine has its own folders and files, so services must not need the same ones. */
    @Test
    void noSettingWithAPathOrASecretMustHaveTheSameValueInAllServices() {
        assertThat(ALL)
                .filteredOn(each -> each.says().secret() == Secret.NONE && each.type() == String.class)
                .filteredOn(
                        each -> (each.property() + each.allowed()).matches(".*(-file|folder|absolute path|a file).*"))
                .hasSizeGreaterThan(5)
                .allMatch(each ->
                        each.says().agree() == Agree.NOBODY || each.says().agree() == Agree.SERVICES_WHETHER_SET);
    }

    @Test
    void noSecretIsShown() throws Exception {
        Path file = Files.writeString(folder.resolve("secret"), "hush\n");
        Map<String, Object> settings = new HashMap<>(Map.of(
                "DOZO_DB_URL",
                "jdbc:postgresql://h/d?password=hush",
                "DOZO_DB_PASSWORD",
                "hush",
                "DOZO_ADMIN_PASSWORD_FILE",
                file.toString(),
                "DOZO_LDAP_MANAGER_PASSWORD_FILE",
                file.toString()));
        StandardEnvironment environment = bare();
        environment.getPropertySources().addFirst(variables(settings));

        assertThat(new Given(environment, Application.SETTINGS).inForce().toString())
                .doesNotContain("hush")
                .contains("shown=set");
        for (Class<? extends Record> record : Application.SETTINGS) {
            Record bound = Given.binder(environment)
                    .bindOrCreate(
                            record.getAnnotation(ConfigurationProperties.class).value(), record);
            assertThat(bound.toString()).doesNotContain("hush");
        }
    }

    private List<String> wrong(Declared each) throws Exception {
        if (each.says().secret() == Secret.IN_FILE) {
            return wrongFiles();
        }
        if (each.type() == String.class) {
            return WRONG_TEXTS.getOrDefault(each.property(), List.of());
        }
        List<String> wrong = new ArrayList<>(List.of("", "perhaps", "1.5.2", "-1", "-1s"));
        if (each.type() == int.class) {
            wrong.addAll(List.of(
                    "1.5",
                    "0x10",
                    "99999999999999999999",
                    String.valueOf(Long.parseLong(each.says().max()) + 1)));
        } else if (each.type() == Duration.class) {
            // Without a unit, and slightly more than the maximum.
            wrong.addAll(List.of("10", "10 parsecs", "4000d"));
        } else if (each.type() == DataSize.class) {
            wrong.addAll(
                    List.of("1.5", "2XB", SizeOfSetting.parse(each.says().max()).toBytes() + 1 + "B"));
        } else {
            wrong.addAll(List.of("yes", "1", "TRUE "));
        }
        return wrong;
    }

    private List<String> wrongFiles() throws Exception {
        Path open = Files.writeString(folder.resolve("open"), "secret\n");
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-rw----"));
        return List.of(
                folder.resolve("missing").toString(),
                folder.toString(),
                Files.writeString(folder.resolve("empty"), " \n").toString(),
                Files.writeString(folder.resolve("two-lines"), "a\nb\n").toString(),
                Files.writeString(folder.resolve("long"), "a".repeat(5000)).toString(),
                open.toString());
    }

    private String told(boolean variable, String name, String value) throws Exception {
        Map<String, String> settings = new HashMap<>();
        if (name.toLowerCase(java.util.Locale.ROOT).startsWith("dozo" + (variable ? "_" : ".") + "ldap")) {
            settings.put(variable ? "DOZO_LDAP_URL" : "dozo.ldap.url", "ldaps://h");
            settings.put(variable ? "DOZO_LDAP_BASE" : "dozo.ldap.base", "b");
        }
        if (name.toLowerCase(java.util.Locale.ROOT).startsWith("dozo" + (variable ? "_" : ".") + "oidc")) {
            settings.put(variable ? "DOZO_OIDC_ISSUER" : "dozo.oidc.issuer", "https://h");
            settings.put(variable ? "DOZO_OIDC_CLIENT_ID" : "dozo.oidc.client-id", "c");
            settings.put(
                    variable ? "DOZO_OIDC_CLIENT_SECRET_FILE" : "dozo.oidc.client-secret-file",
                    Files.writeString(folder.resolve("client-secret"), "x\n").toString());
        }
        settings.put(name, value);
        return failure(variable, settings).message();
    }

    private static StartFailure failure(boolean variable, Map<String, String> settings) {
        return failure(environment(variable, settings));
    }

    private static StartFailure failure(StandardEnvironment environment) {
        StartFailure failure =
                catchThrowableOfType(StartFailure.class, () -> new Given(environment, Application.SETTINGS).check());
        assertThat(failure)
                .as("%s", environment.getPropertySources().iterator().next().getSource())
                .isNotNull();
        assertThat(failure.exitCode()).isEqualTo(78);
        return failure;
    }

    private static void check(boolean variable, Map<String, String> settings) {
        new Given(environment(variable, settings), Application.SETTINGS).check();
    }

    private static StandardEnvironment environment(boolean variable, Map<String, String> settings) {
        StandardEnvironment environment = bare();
        Map<String, Object> given = new HashMap<>(settings);
        environment.getPropertySources().addFirst(variable ? variables(given) : new MapPropertySource("test", given));
        return environment;
    }

    private static SystemEnvironmentPropertySource variables(Map<String, Object> given) {
        return new SystemEnvironmentPropertySource(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, given);
    }

    /** Returns an environment without the settings of this machine. */
    private static StandardEnvironment bare() {
        StandardEnvironment environment = new StandardEnvironment();
        environment.getPropertySources().remove(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
        environment.getPropertySources().remove(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME);
        return environment;
    }
}
