package dozo;

import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.ChildJava;
import dozo.db.Starts;
import dozo.db.TestDatabase;
import dozo.drill.ServiceProgram;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.people.Role;
import dozo.people.Users;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects;
import dozo.registry.Projects.Project;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.SiteAddress;
import dozo.run.Operations;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.config.TaskManagementConfigUtils;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/**
 * The whole service on its own port and database, and its clients. It does nothing by the clock, unless a test sets {@link
 * #CLOCK}: no test depends on how long it takes.
 */
public final class RunningService implements AutoCloseable {

    /** A setting of the tests: {@code on} lets the service do what it does by the clock. */
    public static final String CLOCK = "test.clock";

    /** The password of users whom tests create. */
    public static final String PASSWORD = "a password for tests";

    private static final Duration LIMIT = Duration.ofMinutes(5);

    private final ConfigurableApplicationContext context;
    private final Path work;
    private final HttpClient http = HttpClient.newHttpClient();
    private IdleServices.@Nullable Shared shared;
    private boolean isOpen;

    private RunningService(ConfigurableApplicationContext context, Path work) {
        this.context = context;
        this.work = work;
    }

    /** Returns a service that other tests have used and will use, with the state of a first start. */
    public static RunningService shared() {
        return shared(Map.of());
    }

    /** Returns one with more settings. Start servers that are part of them once per class, so that it is the same one. */
    public static RunningService shared(Map<String, String> more) {
        return IdleServices.take(more).opened();
    }

    /** Starts a service that ends when it is closed. */
    public static RunningService start(Path work) {
        return start(work, TestDatabase.fresh(), Map.of());
    }

    /** Starts a service on this database that ends when it is closed. */
    public static RunningService start(Path work, HikariDataSource database, Map<String, String> more) {
        Map<String, String> settings = new HashMap<>(Map.of(
                "dozo.http.port",
                "0",
                "dozo.work",
                work.toString(),
                "dozo.db.url",
                database.getJdbcUrl(),
                "dozo.db.user",
                String.valueOf(database.getUsername()),
                "dozo.db.password",
                String.valueOf(database.getPassword()),
                "dozo.schedule.cron",
                "-",
                "dozo.scrub.window",
                "-",
                "dozo.drill.cron",
                "-",
                "dozo.drill.site-cron",
                "-"));
        settings.putAll(more);
        Starts.SERVICE.count();
        SpringApplication application = new SpringApplication(Application.class);
        if (!settings.getOrDefault(CLOCK, "off").equals("on")) {
            application.addInitializers(RunningService::stopClock);
        }
        application.addInitializers(context -> ((GenericApplicationContext) context)
                .registerBean(ShiftedClock.class, definition -> definition.setPrimary(true)));
        application.addInitializers(context -> ((GenericApplicationContext) context)
                .registerBean(
                        "testProgram",
                        ServiceProgram.class,
                        () -> new ServiceProgram(
                                Application.class,
                                ChildJava.of(Application.class).fromCache().javaOptions()),
                        definition -> definition.setPrimary(true)));
        return new RunningService(Application.start(application, settings), work).opened();
    }

    /** Leaves out what calls the methods with {@code @Scheduled}. */
    private static void stopClock(ConfigurableApplicationContext context) {
        context.addBeanFactoryPostProcessor(beans -> ((BeanDefinitionRegistry) beans)
                .removeBeanDefinition(TaskManagementConfigUtils.SCHEDULED_ANNOTATION_PROCESSOR_BEAN_NAME));
    }

    private RunningService opened() {
        isOpen = true;
        bean(ShiftedClock.class).right();
        return this;
    }

    /** Has {@link #close} keep the service for other tests. */
    void share(IdleServices.Shared with) {
        shared = with;
    }

    public <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    /** Returns the service's endpoints with their handlers. */
    public RequestMappingHandlerMapping mappings() {
        return context.getBean("requestMappingHandlerMapping", RequestMappingHandlerMapping.class);
    }

    /** Returns the address without a slash at the end. */
    public String url() {
        String address = Application.address(context).toString();
        return address.substring(0, address.length() - 1);
    }

    public Path work() {
        return work;
    }

    public Path passwordFile() {
        return work.resolve("admin-password");
    }

    public String password() {
        try {
            return Files.readString(passwordFile()).strip();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Requests of REST by one user. */
    public final class Client {

        private final @Nullable String authorization;

        private Client(@Nullable String authorization) {
            this.authorization = authorization;
        }

        /** Sends a request with more headers: a name, its value, and so on. */
        public Answer ask(String method, String path, @Nullable String body, String... headers) {
            return send(
                    method,
                    path,
                    "application/json",
                    body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body),
                    headers);
        }

        public Answer get(String path) {
            return ask("GET", path, null);
        }

        public Answer post(String path, @Nullable String body) {
            return ask("POST", path, body);
        }

        public Answer post(String path, String type, byte[] body) {
            return send("POST", path, type, BodyPublishers.ofByteArray(body));
        }

        public Answer put(String path, @Nullable String body) {
            return ask("PUT", path, body);
        }

        public Answer patch(String path, String body) {
            return ask("PATCH", path, body);
        }

        public Answer delete(String path) {
            return ask("DELETE", path, null);
        }

        /** Posts lines of CSV. */
        public Answer postCsv(String path, String csv) {
            return post(path, "text/csv", csv.getBytes(StandardCharsets.UTF_8));
        }

        /** Patches by lines of CSV. */
        public Answer patchCsv(String path, String csv) {
            return ask("PATCH", path, csv, "Content-Type", "text/csv");
        }

        /** Registers an experiment. */
        public Answer register(String project, String code, Object source) {
            return post(
                    "/api/v1/experiments",
                    "{\"project\": \"%s\", \"code\": \"%s\", \"source\": \"%s\"}".formatted(project, code, source));
        }

        private Answer send(
                String method, String path, String bodyType, HttpRequest.BodyPublisher body, String... headers) {
            HttpRequest.Builder request =
                    HttpRequest.newBuilder(URI.create(url() + path)).method(method, body);
            if (headers.length > 0) {
                request.headers(headers);
            }
            if (!List.of(headers).contains("Content-Type")) {
                request.header("Content-Type", bodyType);
            }
            if (authorization != null) {
                request.header("Authorization", authorization);
            }
            return Answer.of(RunningService.send(http, request.build()));
        }
    }

    /** Returns the requests of a user: of the administrator, or of one with {@link #PASSWORD}. */
    public Client as(String user) {
        return with(basic(user, user.equals("admin") ? password() : PASSWORD));
    }

    /** Returns requests with this header {@code Authorization}; without it if it is null. */
    public Client with(@Nullable String authorization) {
        return new Client(authorization);
    }

    public Answer get(String path) {
        return as("admin").get(path);
    }

    public Answer post(String path, String body) {
        return as("admin").post(path, body);
    }

    public Answer put(String path, String body) {
        return as("admin").put(path, body);
    }

    public Answer delete(String path) {
        return as("admin").delete(path);
    }

    public Answer patch(String path, String body) {
        return as("admin").patch(path, body);
    }

    /** Returns the header for a name and a password. */
    public static String basic(String name, String password) {
        return "Basic " + Base64.getEncoder().encodeToString((name + ":" + password).getBytes(StandardCharsets.UTF_8));
    }

    /** Sends a request as the administrator with more headers: a name, its value, and so on. */
    public Answer askWith(String method, String path, @Nullable String body, String... headers) {
        return as("admin").ask(method, path, body, headers);
    }

    /** Returns a browser in which the administrator has logged in by the form. */
    public HttpClient browser() {
        return browser("admin", password());
    }

    /** Returns a browser in which a user with {@link #PASSWORD} has logged in by the form. */
    public HttpClient browser(String name) {
        return browser(name, PASSWORD);
    }

    /** Returns a browser in which a user has tried to log in by the form. */
    public HttpClient browser(String name, String password) {
        HttpClient browser = HttpClient.newBuilder()
                .cookieHandler(new CookieManager())
                .followRedirects(HttpClient.Redirect.NORMAL)
                .build();
        String login =
                "username=%s&password=%s&_csrf=%s".formatted(encoded(name), encoded(password), encoded(token(browser)));
        send(
                browser,
                HttpRequest.newBuilder(URI.create(url() + "/login"))
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(BodyPublishers.ofString(login))
                        .build());
        return browser;
    }

    public Answer look(HttpClient browser, String path, String language) {
        return Answer.of(send(browser, pageRequest(path, language)));
    }

    /** Returns the English text of a page, whatever its status. */
    public String page(HttpClient browser, String path) {
        return look(browser, path, "en").text();
    }

    /** Requests a part of a page, as its script does. */
    public Answer part(HttpClient browser, String path) {
        return Answer.of(send(
                browser,
                HttpRequest.newBuilder(pageRequest(path, "en"), (name, value) -> true)
                        .header("HX-Request", "true")
                        .build()));
    }

    /** Submits a form as a page in this browser would: with the CSRF token. */
    public Answer submit(HttpClient browser, String path, String form) {
        return Answer.of(submit(browser, path, form, BodyHandlers.ofString()));
    }

    /** Submits a form whose response is not text. */
    public <T> HttpResponse<T> submit(HttpClient browser, String path, String form, BodyHandler<T> handler) {
        String body = form + (form.isEmpty() ? "" : "&") + "_csrf=" + encoded(token(browser));
        return send(
                browser,
                HttpRequest.newBuilder(URI.create(url() + path))
                        .header("Accept", "text/html")
                        .header("Accept-Language", "en")
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                handler);
    }

    private String token(HttpClient browser) {
        String form = send(browser, pageRequest("/login", "en")).body();
        Matcher token = Pattern.compile("name=\"_csrf\"[^>]*value=\"([^\"]+)\"").matcher(form);
        if (!token.find()) {
            throw new AssertionError("no token against forgery in " + form);
        }
        return token.group(1);
    }

    public JdbcClient jdbc() {
        return bean(JdbcClient.class);
    }

    /** Returns a number that a statement selects. */
    public long count(String sql) {
        return jdbc().sql(sql).query(Long.class).single();
    }

    /** Returns all entries of the ledger. */
    public List<LedgerEntry> ledger() {
        return ledgerAfter(0);
    }

    public List<LedgerEntry> ledgerAfter(long seq) {
        return bean(Ledger.class).after(seq, 10_000);
    }

    public Project createProject(String code) {
        return bean(Projects.class).create(code, "", "test");
    }

    /** Creates a user with {@link #PASSWORD}, as a member of these projects. */
    public void createUser(String name, Role role, String... projects) {
        bean(Users.class).create(name, PASSWORD, Set.of(role), "test");
        for (String project : projects) {
            bean(Users.class).join(project, name, "test");
        }
    }

    /** Registers an experiment. Its project and its source are created if they do not exist. */
    public Experiment createExperiment(String project, String code, Path source) throws IOException {
        Files.createDirectories(source);
        bean(Projects.class).findOrCreate(project, "test");
        return bean(Experiments.class).register(project, code, "", source, "test");
    }

    /** Saves a site where no server answers. */
    public Site saveUnreachable(String name) {
        return saveSite(name, new SiteAddress("127.0.0.1", 1, "dozo", "/backup", passwordFile(), "ssh-ed25519 AAAA"));
    }

    public Site saveSite(String name, SiteAddress address) {
        return bean(Sites.class).save(name, address, "test");
    }

    /** Returns site {@code dr}. */
    public Site dr() {
        return bean(Sites.class).find("dr").orElseThrow();
    }

    /** Opens a nightly backup to site {@code dr} on which nobody works. */
    public Run openRun() {
        return bean(Runs.class).open(RunKind.NIGHTLY_BACKUP, dr(), "test");
    }

    public Run run(long id) {
        return bean(Runs.class).find(id).orElseThrow();
    }

    /** Runs a nightly backup to site {@code dr} to its end. */
    public Run backUp() {
        return awaitEnd(bean(Operations.class).start("dr", "test").id());
    }

    /** Waits until a run has ended and nobody works on it. */
    public Run awaitEnd(long id) {
        await().atMost(LIMIT)
                .until(() -> !run(id).goesOn() && !bean(Operations.class).isWorking());
        return run(id);
    }

    /** Registers a site by REST. */
    public Answer register(String name, SiteAddress site) {
        return put("/api/v1/sites/" + name, json(site));
    }

    /** Returns the address as REST reads it. */
    public static String json(SiteAddress site) {
        return """
                {"host": "%s", "port": %d, "user": "%s", "root": "%s", "identity": "%s", "hostKey": "%s"}
                """.formatted(
                        site.host(),
                        site.port(),
                        site.user(),
                        site.root(),
                        site.identity(),
                        site.hostKey().strip());
    }

    /** Ends the service, or gives a shared one back. */
    @Override
    public void close() {
        if (isOpen) {
            isOpen = false;
            if (shared == null) {
                end();
            } else {
                IdleServices.giveBack(shared);
            }
        }
    }

    void end() {
        context.close();
        http.close();
    }

    private HttpRequest pageRequest(String path, String language) {
        return HttpRequest.newBuilder(URI.create(url() + path))
                .header("Accept", "text/html")
                .header("Accept-Language", language)
                .build();
    }

    private static HttpResponse<String> send(HttpClient http, HttpRequest request) {
        return send(http, request, BodyHandlers.ofString());
    }

    private static <T> HttpResponse<T> send(HttpClient http, HttpRequest request, BodyHandler<T> handler) {
        try {
            return http.send(request, handler);
        } catch (IOException e) {
            throw new IllegalStateException(request.uri() + ": " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
