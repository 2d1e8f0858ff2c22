package dozo.start;

import dozo.file.Digest;
import dozo.setting.Setting.Agree;
import dozo.setting.Setting.Secret;
import dozo.setting.SizeOfSetting;
import dozo.setting.WrongSetting;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.PropertySourcesPlaceholdersResolver;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.boot.origin.SystemEnvironmentOrigin;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;

/**
 * The settings in force and where each comes from, checked against the declared ones. Errors name a setting by the name
 * that was used to set it.
 */
public final class Given {

    /** The variables that the launcher, commands that call a service, tests and the composition read themselves. */
    public static final Set<String> OTHERS = Set.of(
            "DOZO_CA_FILE",
            "DOZO_DEMAND_SHARED_DATA",
            "DOZO_FLYWHEEL_KEY_FILE",
            "DOZO_HEAP",
            "DOZO_JAVA_HOME",
            "DOZO_PASSWORD_FILE",
            "DOZO_PORT",
            "DOZO_SETTINGS_FILE",
            "DOZO_SHARED_DATA",
            "DOZO_SOURCE",
            "DOZO_TOKEN",
            "DOZO_TOKEN_FILE",
            "DOZO_URL",
            "DOZO_USER");

    private static final String PREFIX = "dozo.";

    /** Enough of a digest to see that a value differs. */
    private static final int DIGITS = 16;

    private final ConfigurableEnvironment environment;
    private final Binder binder;
    private final List<Class<? extends Record>> records;
    private final List<Declared> declared;

    public Given(ConfigurableEnvironment environment, List<Class<? extends Record>> records) {
        this.environment = environment;
        this.binder = binder(environment);
        this.records = records;
        this.declared = Declared.in(records);
    }

    /**
     * A setting in force.
     *
     * @param shown the value; for a secret only whether it is set
     * @param from the environment variable, or another place that set the value
     */
    public record InForce(Declared declared, String shown, String from) {}

    /**
     * Refuses unknown settings, wrong values, and secrets in places that others can read.
     *
     * @throws StartFailure for the first error
     */
    public void check() {
        List<StartFailure> failures = failures();
        if (!failures.isEmpty()) {
            throw failures.getFirst();
        }
    }

    /** Returns all errors, each once. */
    public List<StartFailure> failures() {
        Map<String, StartFailure> failures = new LinkedHashMap<>();
        refuseUnknown(failure -> failures.put(failure.message(), failure));
        declared.forEach(each -> collect(() -> check(each), failures));
        records.forEach(each -> collect(() -> of(each), failures));
        return List.copyOf(failures.values());
    }

    private static void collect(Runnable check, Map<String, StartFailure> failures) {
        try {
            check.run();
        } catch (StartFailure failure) {
            failures.putIfAbsent(failure.message(), failure);
        }
    }

    /** Returns the files with secrets that these settings name, by the environment variable. */
    public Map<String, Path> secretFiles() {
        Map<String, Path> files = new LinkedHashMap<>();
        for (Declared each : declared) {
            String value = each.says().secret() == Secret.IN_FILE && find(each).isPresent() ? value(each) : "";
            if (!value.isEmpty()) {
                files.put(each.environment(), Path.of(value));
            }
        }
        return files;
    }

    /**
     * Returns a record of settings.
     *
     * @throws StartFailure if one of them is wrong
     */
    public <T extends Record> T of(Class<T> record) {
        try {
            return binder.bindOrCreate(Declared.prefix(record), record);
        } catch (BindException e) {
            throw told(e);
        }
    }

    /** Lists all settings. */
    public List<InForce> inForce() {
        return declared.stream()
                .map(each -> {
                    Optional<ConfigurationProperty> given = find(each);
                    String value = given.map(property -> String.valueOf(property.getValue()))
                            .orElse(each.standard());
                    String shown =
                            each.secret() ? value.isEmpty() ? "not set" : "set" : value.replaceFirst("\\?.*", "?…");
                    return new InForce(each, shown, given.map(this::from).orElse("default"));
                })
                .toList();
    }

    /**
     * Returns digests of the settings in which processes with one database must agree, by environment variable. Of a secret, and of
     * what belongs to a machine, only whether it is set counts.
     */
    SortedMap<String, String> agreed(boolean worker) {
        SortedMap<String, String> digests = new TreeMap<>();
        for (Declared each : declared) {
            Agree who = each.says().agree();
            if (who == Agree.SERVICES_AND_WORKERS || (!worker && who != Agree.NOBODY)) {
                String value = find(each).isPresent() ? value(each) : each.standard();
                boolean whether =
                        who == Agree.SERVICES_WHETHER_SET || each.says().secret() != Secret.NONE;
                String compared = whether ? String.valueOf(!value.isEmpty()) : each.plain(value);
                digests.put(
                        each.environment(), Digest.ofText(compared).toString().substring(0, DIGITS));
            }
        }
        return digests;
    }

    private void refuseUnknown(Consumer<StartFailure> refused) {
        for (PropertySource<?> source : environment.getPropertySources()) {
            if (!(source instanceof EnumerablePropertySource<?> listed)
                    || ConfigurationPropertySources.isAttachedConfigurationPropertySource(source)) {
                continue;
            }
            for (String name : listed.getPropertyNames()) {
                String plain = plain(name);
                if (plain.startsWith("dozo")
                        && (name.toLowerCase(Locale.ROOT).startsWith(PREFIX) || name.startsWith("DOZO_"))
                        && !isKnown(plain)) {
                    refused.accept(new StartFailure(
                            StartFailure.CONFIGURATION,
                            "unknown setting %s; did you mean %s?".formatted(name, nearest(name))));
                }
            }
        }
    }

    private boolean isKnown(String plain) {
        return OTHERS.stream().anyMatch(other -> plain(other).equals(plain))
                || declared.stream().anyMatch(each -> plain(each.property()).equals(plain));
    }

    /** Normalizes a name for comparison as Spring does: without case and separators. */
    private static String plain(String name) {
        return name.replaceAll("[._\\[\\]-]", "").toLowerCase(Locale.ROOT);
    }

    private String nearest(String name) {
        boolean variable = name.startsWith("DOZO_");
        List<String> known = new ArrayList<>(variable ? OTHERS : Set.of());
        declared.forEach(each -> known.add(variable ? each.environment() : each.property()));
        return known.stream()
                .min(java.util.Comparator.comparingInt((String other) -> edits(plain(name), plain(other)))
                        .thenComparing(other -> other))
                .orElseThrow();
    }

    /** Returns the edit distance: the number of letters to insert, delete or replace. */
    private static int edits(String one, String other) {
        int[] row = new int[other.length() + 1];
        for (int j = 0; j <= other.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= one.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= other.length(); j++) {
                int replaced = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[other.length()];
    }

    private void check(Declared each) {
        Optional<ConfigurationProperty> given = find(each);
        if (given.isEmpty()) {
            return;
        }
        if (each.secret() && isSeen(given.get())) {
            throw new StartFailure(
                    StartFailure.CONFIGURATION,
                    "%s is given on the command line, where everybody on this machine can read it: use a file (%s_FILE) or the environment"
                            .formatted(each.property(), each.environment()));
        }
        String value = value(each);
        if (!each.takes(value)) {
            throw wrong(each, "");
        }
        if (each.says().secret() == Secret.IN_FILE && !value.isEmpty()) {
            try {
                SecretFile.read(value);
            } catch (IllegalArgumentException e) {
                throw wrong(each, e.getMessage());
            }
        }
    }

    private String value(Declared each) {
        try {
            return Binder.get(environment)
                    .bind(each.property(), Bindable.of(String.class))
                    .orElse("");
        } catch (BindException | IllegalArgumentException e) {
            throw wrong(each, "");
        }
    }

    /**
     * Returns whether other users can read this value. Java's system properties are arguments, which the process list
     * shows.
     */
    private static boolean isSeen(ConfigurationProperty given) {
        return Origin.from(given) instanceof PropertySourceOrigin origin
                && isNamed(origin, StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
    }

    /** Returns a binder that reads settings as the service does, with sizes in powers of 1,000. */
    public static Binder binder(ConfigurableEnvironment environment) {
        ApplicationConversionService conversions = new ApplicationConversionService();
        conversions.addConverter(new SizeOfSetting());
        return new Binder(
                ConfigurationPropertySources.get(environment),
                new PropertySourcesPlaceholdersResolver(environment),
                conversions);
    }

    private StartFailure told(BindException thrown) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof StartFailure known) {
                return known;
            }
            if (cause instanceof WrongSetting wrong) {
                String last = "." + Declared.dashed(wrong.component());
                String owner = thrown.getName().toString();
                return declared.stream()
                        .filter(each -> each.property().equals(owner + last))
                        .findFirst()
                        .map(each -> wrong(each, wrong.why()))
                        .orElseThrow(() -> new IllegalStateException("no setting " + owner + last, thrown));
            }
        }
        return new StartFailure(StartFailure.CONFIGURATION, "cannot parse %s".formatted(thrown.getName()), thrown);
    }

    private StartFailure wrong(Declared each, @Nullable String why) {
        Optional<ConfigurationProperty> given = find(each);
        String name = given.map(this::name).orElse("%s (%s)".formatted(each.environment(), each.property()));
        String is = given.map(property -> String.valueOf(property.getValue()))
                .map(value ->
                        value.isEmpty() ? "is empty" : each.secret() ? "is wrong" : "is \"%s\"".formatted(shown(value)))
                .orElse("is missing");
        return new StartFailure(
                StartFailure.CONFIGURATION,
                why == null || why.isEmpty()
                        ? "%s %s; expected %s".formatted(name, is, each.allowed())
                        : why.contains(": ")
                                ? "%s %s".formatted(name, why)
                                : "%s %s; expected %s".formatted(name, why, each.allowed()));
    }

    /** Hides what follows the question mark of an address, because it may contain a password. */
    private static String shown(String value) {
        return value.replaceFirst("\\?.*", "?…").replaceAll("\\s+", " ");
    }

    private Optional<ConfigurationProperty> find(Declared each) {
        ConfigurationPropertyName name = ConfigurationPropertyName.of(each.property());
        for (var source : ConfigurationPropertySources.get(environment)) {
            ConfigurationProperty found = source.getConfigurationProperty(name);
            if (found != null) {
                return Optional.of(found);
            }
        }
        return Optional.empty();
    }

    /** Returns the name that was used: a variable, or a property and its place. */
    private String name(ConfigurationProperty given) {
        return switch (Origin.from(given)) {
            case SystemEnvironmentOrigin variable -> variable.getProperty();
            case PropertySourceOrigin property -> property.getPropertyName();
            case Origin file -> "%s (%s)".formatted(given.getName(), file);
            case null -> given.getName().toString();
        };
    }

    private static boolean isNamed(PropertySourceOrigin origin, String name) {
        return origin.getPropertySource().getName().equals(name);
    }

    private String from(ConfigurationProperty given) {
        return switch (Origin.from(given)) {
            case SystemEnvironmentOrigin variable -> variable.getProperty();
            case PropertySourceOrigin property ->
                isNamed(property, StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME)
                        ? property.getPropertyName()
                        : property.getPropertySource().getName();
            case Origin file -> file.toString();
            case null -> "another place";
        };
    }
}
