package dozo.command;

import static java.util.Objects.requireNonNull;

import dozo.api.http.Page;
import dozo.file.FilePath;
import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** The connection of a command to the running service: its address, the login, and the responses. */
final class Connection {

    static final JsonMapper JSON = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(SerializationFeature.INDENT_OUTPUT)
            .build();

    private static final Duration ANSWER_LIMIT = Duration.ofMinutes(2);

    /** Time limit for the first byte: the service may have to count the content first. */
    private static final Duration DOWNLOAD_LIMIT = Duration.ofMinutes(10);

    /** Long enough to look for 100,000 folders. */
    private static final Duration FILE_LIMIT = Duration.ofMinutes(10);

    private static final String DEFAULT_URL = "http://127.0.0.1:8080";

    @Option(
            names = "--url",
            paramLabel = "URL",
            description = "The service's address (DOZO_URL, else " + DEFAULT_URL + ").")
    private @Nullable String url;

    @Option(names = "--json", description = "Prints the service's response as JSON, with exact numbers.")
    private boolean json;

    @Option(
            names = {"-q", "--quiet"},
            description = "Prints no progress and no confirmation; results and errors remain.")
    private boolean quiet;

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec command;

    private @Nullable String authorization;
    private @Nullable HttpClient client;

    /** Says which command uses it, if that is not made from annotations. */
    void isUsedBy(CommandSpec using) {
        command = using;
    }

    boolean json() {
        return json;
    }

    boolean quiet() {
        return quiet;
    }

    /** Returns the command that uses this connection. */
    CommandLine commandLine() {
        return requireNonNull(command).commandLine();
    }

    PrintWriter out() {
        return commandLine().getOut();
    }

    /** Confirms what was done: as received for programs, as one line for people who have not asked for quiet. */
    void confirm(Answer<?> answer, String line) {
        if (json || !quiet) {
            print(answer, line);
        }
    }

    /** Prints a response: as received for programs, as one line for people. */
    void print(Answer<?> answer, String line) {
        print(answer, out -> out.println(line));
    }

    /** Prints a response: as received for programs, as these lines for people. */
    void print(Answer<?> answer, Consumer<PrintWriter> lines) {
        if (json) {
            out().println(answer.json());
        } else {
            lines.accept(out());
        }
        out().flush();
    }

    /** Refuses CSV together with JSON. */
    void checkFormat(boolean csv) {
        if (csv && json) {
            throw new Failure(Exit.USAGE, "either --json or --csv");
        }
    }

    <T> Answer<T> get(String path, Class<T> type) {
        return get(path, type, ANSWER_LIMIT);
    }

    /** Sends a GET that may take long. */
    <T> Answer<T> get(String path, Class<T> type, Duration limit) {
        return Answer.of(ask("GET", path, null, limit), JSON.constructType(type));
    }

    /** Sends a GET for a generic type. */
    <T> Answer<T> get(String path, TypeReference<T> type) {
        return Answer.of(ask("GET", path, null, ANSWER_LIMIT), JSON.constructType(type));
    }

    /** Reads downloaded content. */
    @FunctionalInterface
    interface Taker {
        void take(InputStream in) throws IOException;
    }

    /**
     * Passes on a file of any length while it is received. An interrupted download is a failure, whatever was passed
     * on.
     */
    void download(String path, Taker taker) {
        download("GET", path, taker);
    }

    /** Does the same with a POST, for a file that is made for this request. */
    void order(String path, Taker taker) {
        download("POST", path, taker);
    }

    private void download(String method, String path, Taker taker) {
        HttpRequest request = HttpRequest.newBuilder(address(path))
                .timeout(DOWNLOAD_LIMIT)
                .header("Authorization", authorization())
                .method(method, BodyPublishers.noBody())
                .build();
        HttpResponse<InputStream> response = sent(request, BodyHandlers.ofInputStream());
        try (InputStream in = response.body()) {
            if (response.statusCode() != 200) {
                throw refused(response.statusCode(), parsed(new String(in.readAllBytes(), StandardCharsets.UTF_8)));
            }
            taker.take(in);
        } catch (IOException e) {
            throw new Failure(Exit.UNAVAILABLE, "download interrupted: the output is incomplete");
        }
    }

    /** Prints the CSV of a response, on a terminal as {@link #show} does. */
    void printCsv(Query query) {
        Taker unchanged = in -> new InputStreamReader(in, StandardCharsets.UTF_8).transferTo(out());
        download(query.with("format", "csv").toString(), Terminal.takesOutput() ? this::show : unchanged);
        out().flush();
    }

    /** Prints lines so that no name in them can control a terminal. */
    void show(InputStream in) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.ISO_8859_1));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            out().println(FilePath.render(line.getBytes(StandardCharsets.ISO_8859_1)));
        }
        out().flush();
    }

    <T> Answer<T> post(String path, Map<String, ?> body, Class<T> type) {
        return Answer.of(ask("POST", path, body, ANSWER_LIMIT), JSON.constructType(type));
    }

    <T> Answer<T> post(String path, Map<String, ?> body, Class<T> type, Duration limit) {
        return Answer.of(ask("POST", path, body, limit), JSON.constructType(type));
    }

    /**
     * Sends a CSV file unchanged.
     *
     * @param encoding null: the service detects it
     */
    <T> Answer<T> sendCsv(String method, String path, Path file, @Nullable String encoding, Class<T> type) {
        if (encoding != null && !encoding.matches("[A-Za-z0-9_-]{1,20}")) {
            throw new Failure(Exit.USAGE, "--encoding: expected utf-8, shift_jis or utf-16le");
        }
        String content = encoding == null ? "text/csv" : "text/csv; charset=\"" + encoding + '"';
        try {
            return Answer.of(
                    ask(method, path, content, BodyPublishers.ofFile(file), FILE_LIMIT), JSON.constructType(type));
        } catch (FileNotFoundException missing) {
            throw new Failure(Exit.USAGE, "file %s cannot be read".formatted(file));
        }
    }

    <T> Answer<T> put(String path, Map<String, ?> body, Class<T> type) {
        return Answer.of(ask("PUT", path, body, ANSWER_LIMIT), JSON.constructType(type));
    }

    /** Sends any request, its method in lower case. */
    Answer<JsonNode> send(String method, String path, @Nullable Map<String, ?> body) {
        JsonNode sent = ask(method.toUpperCase(java.util.Locale.ROOT), path, body, ANSWER_LIMIT);
        return new Answer<>(sent, sent);
    }

    /** Returns the items of one page of a list. */
    <T> Answer<List<T>> page(String path, Class<T> type) {
        return Answer.of(pageOf(path).items(), type);
    }

    /** Returns the items of all pages of a list. */
    <T> Answer<List<T>> all(String path, Class<T> type) {
        List<JsonNode> items = new ArrayList<>();
        String after = "";
        while (after != null) {
            Page<JsonNode> page = pageOf(path + (path.contains("?") ? "&" : "?") + "limit=500" + after);
            items.addAll(page.items());
            after = page.next() == null ? null : "&after=" + encoded(page.next());
        }
        return Answer.of(items, type);
    }

    private Page<JsonNode> pageOf(String path) {
        return get(path, new TypeReference<Page<JsonNode>>() {}).value();
    }

    /** Encodes a part of an address. */
    static String encoded(String text) {
        return java.net.URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** Renders the service's text so that it cannot control a terminal. */
    static String visible(String text) {
        return Login.visible(text);
    }

    /** Renders an optional value in the same way; returns an empty text for null. */
    static String text(@Nullable Object said) {
        return said == null ? "" : visible(said.toString());
    }

    private JsonNode ask(String method, String path, @Nullable Map<String, ?> body, Duration limit) {
        return ask(
                method,
                path,
                "application/json",
                body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(JSON.writeValueAsString(body)),
                limit);
    }

    private JsonNode ask(String method, String path, String type, BodyPublisher body, Duration limit) {
        HttpRequest request = HttpRequest.newBuilder(address(path))
                .timeout(limit)
                .header("Authorization", authorization())
                .header("Content-Type", type)
                .method(method, body)
                .build();
        return answer(sent(request, BodyHandlers.ofString()));
    }

    private <T> HttpResponse<T> sent(HttpRequest request, HttpResponse.BodyHandler<T> body) {
        try {
            return client().send(request, body);
        } catch (SSLException e) {
            throw new Failure(Exit.UNAVAILABLE, "no trusted service answers at %s: %s".formatted(shown(), reason(e)));
        } catch (IOException e) {
            throw new Failure(
                    Exit.UNAVAILABLE,
                    "no service answers at " + shown(),
                    "Start one with `dozo serve`, or set another address with --url or DOZO_URL",
                    null);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Exit.UNAVAILABLE, "interrupted");
        }
    }

    private static String reason(SSLException failure) {
        String said = visible(String.valueOf(failure.getMessage()));
        return said.contains("PKIX path")
                ? "no authority that is trusted here has signed its certificate; if the authority is private, set DOZO_CA_FILE to its certificate in PEM format"
                : said;
    }

    /** Created when needed: not every command sends requests, and creating it takes longer than some commands. */
    private HttpClient client() {
        HttpClient known = client;
        if (known == null) {
            known = base().startsWith("https:") ? HttpClients.https(setting("DOZO_CA_FILE")) : HttpClients.plain();
            client = known;
        }
        return known;
    }

    private JsonNode answer(HttpResponse<String> response) {
        int status = response.statusCode();
        JsonNode body = parsed(response.body());
        if (status >= 200 && status < 300) {
            return body;
        }
        throw refused(status, body);
    }

    private static Failure refused(int status, JsonNode body) {
        String said = visible(body.path("detail").asString("the service answered " + status));
        return switch (status) {
            case 401, 403 -> new Failure(Exit.NOT_ALLOWED, said, howToLogIn(status), body);
            case 429, 502, 503, 504 -> new Failure(Exit.UNAVAILABLE, said, "", body);
            default ->
                new Failure(
                        status >= 500 ? Exit.DEFECT : Exit.REFUSED,
                        refusals(body).orElse(said),
                        "",
                        body);
        };
    }

    private static String howToLogIn(int status) {
        Path file = defaultPasswordFile();
        boolean none = setting("DOZO_PASSWORD_FILE").isEmpty() && token().isEmpty();
        return status == 401 && none && !Files.exists(file)
                ? ("The password file %s does not exist: use the folder in which the service was started, or set DOZO_WORK,"
                                + " DOZO_PASSWORD_FILE or DOZO_TOKEN_FILE")
                        .formatted(file.toAbsolutePath())
                : ("Set DOZO_USER and DOZO_PASSWORD_FILE, or DOZO_TOKEN_FILE; the default is admin with the password in "
                        + file);
    }

    private static Optional<String> refusals(JsonNode body) {
        List<String> lines = new ArrayList<>();
        body.path("errors")
                .forEach(error -> lines.add(visible(error.path("field").asString("") + ": "
                        + error.path("message").asString(""))));
        return lines.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", lines));
    }

    private static JsonNode parsed(String body) {
        try {
            return body.isBlank() ? JSON.createObjectNode() : JSON.readTree(body);
        } catch (JacksonException e) {
            return JSON.createObjectNode();
        }
    }

    private URI address(String path) {
        try {
            URI address = URI.create(base() + path);
            if (address.getHost() == null
                    || !String.valueOf(address.getScheme()).startsWith("http")) {
                throw new IllegalArgumentException(base());
            }
            return address;
        } catch (IllegalArgumentException e) {
            throw new Failure(
                    Exit.CONFIGURATION,
                    "--url or DOZO_URL is \"%s\": expected an address such as %s".formatted(shown(), DEFAULT_URL));
        }
    }

    private String base() {
        String given = url != null ? url : System.getenv().getOrDefault("DOZO_URL", DEFAULT_URL);
        return given.endsWith("/") ? given.substring(0, given.length() - 1) : given;
    }

    /** Returns the address without a name and a password, which some have. */
    private String shown() {
        return base().replaceFirst("//[^/]*@", "//");
    }

    private String authorization() {
        String known = authorization;
        if (known == null) {
            known = token().map(Connection::bearer).orElseGet(Connection::basic);
            authorization = known;
        }
        return known;
    }

    private static String bearer(String secret) {
        // NB: otherwise the error of a header that cannot be sent would quote the secret.
        if (!secret.matches("[!-~]*")) {
            throw new Failure(
                    Exit.CONFIGURATION,
                    "DOZO_TOKEN or the file of DOZO_TOKEN_FILE has more than a token: expected one word");
        }
        return "Bearer " + secret;
    }

    private static String basic() {
        String login = setting("DOZO_USER").orElse("admin") + ":" + password();
        return "Basic " + Base64.getEncoder().encodeToString(login.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the given token, unless a user is named: the user takes precedence. */
    private static Optional<String> token() {
        if (setting("DOZO_USER").isPresent()) {
            return Optional.empty();
        }
        Optional<String> secret = setting("DOZO_TOKEN").map(String::strip);
        return secret.isPresent()
                ? secret
                : setting("DOZO_TOKEN_FILE").map(file -> {
                    try {
                        return Files.readString(Path.of(file)).strip();
                    } catch (IOException e) {
                        throw new Failure(
                                Exit.CONFIGURATION,
                                "DOZO_TOKEN_FILE names %s, which cannot be read: expected a file that contains a token"
                                        .formatted(file));
                    }
                });
    }

    private static String password() {
        Optional<Path> given = setting("DOZO_PASSWORD_FILE").map(Path::of);
        Path file = given.orElseGet(Connection::defaultPasswordFile);
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            if (given.isPresent()) {
                throw new Failure(
                        Exit.CONFIGURATION,
                        "DOZO_PASSWORD_FILE names %s, which cannot be read: expected a file that contains the password"
                                .formatted(file));
            }
            return "";
        }
    }

    private static Path defaultPasswordFile() {
        return Path.of(setting("DOZO_WORK").orElse("dozo-work"), "admin-password");
    }

    /**
     * Returns a setting. A system property with the same name, in lower case with dots, comes first, because tests have
     * no environment of their own.
     */
    private static Optional<String> setting(String name) {
        String property =
                System.getProperty(name.toLowerCase(java.util.Locale.ROOT).replace('_', '.'));
        return Optional.ofNullable(property != null ? property : System.getenv(name));
    }
}
