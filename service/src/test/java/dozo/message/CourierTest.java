package dozo.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import com.sun.net.httpserver.HttpServer;
import dozo.RunningService;
import dozo.alert.Alerts;
import dozo.alert.Condition;
import dozo.alert.Condition.Kind;
import dozo.db.StartsServices;
import dozo.loopback.Ports;
import jakarta.mail.internet.MimeMessage;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the outbox contains arrives at a real mail server and at a real webhook, also after they were away. */
@StartsServices(4)
class CourierTest {

    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final Condition LATE = new Condition(Kind.LATE, null, "P1", 2, "P1/E1, …");

    /** Of all mail servers in this class, one after the other. */
    private static final int PORT = Ports.free();

    private static final Map<String, String> ALLOWED = Map.of("dozo.webhook.internal-hosts", "127.0.0.1");
    private static final Map<String, String> NOT_ALLOWED = Map.of("dozo.webhook.internal-hosts", "chat.example.org");

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    private JdbcClient jdbc;

    /** A webhook's request. */
    private record Posted(String path, String key, JsonNode body) {}

    @Test
    void alertsArriveByMailInTheRecipientsLanguageAlsoAfterTheServerWasAway() throws Exception {
        GreenMail mail = new GreenMail(new ServerSetup(PORT, "127.0.0.1", ServerSetup.PROTOCOL_SMTP));
        mail.start();
        try {
            start(mail("none"));
            service.post("/api/v1/projects", "{\"code\": \"P1\"}");
            save(service, "it", "{\"mail\": \"it@example.org\"}");
            save(service, "lab", "{\"mail\": \"lab@example.org\", \"language\": \"ja\", \"projects\": [\"P1\"]}");
            service.post("/api/v1/alerts/recipients/it/test", "").expect(202);
            assertThat(received(mail, 1)[0].getSubject()).isEqualTo("Dozo: This is a test. Alerts reach it.");

            service.bean(Alerts.class).evaluate(List.of(LATE));
            List<MimeMessage> alerts = List.of(received(mail, 3)).subList(1, 3);
            assertThat(alerts)
                    .extracting(MimeMessage::getSubject)
                    .containsExactlyInAnyOrder(
                            "Dozo: 2 experiments have waited too long for a copy (P1/E1, …).",
                            "Dozo：2 件の実験のコピーが遅れています（P1/E1, …）。");
            MimeMessage english = alerts.stream()
                    .filter(each -> recipient(each).equals("it@example.org"))
                    .findFirst()
                    .orElseThrow();
            assertThat(String.valueOf(english.getContent()).replace("\r\n", "\n"))
                    .startsWith("2 experiments have waited too long for a copy (P1/E1, …).\n\nProject: P1\nSince: 2")
                    .contains("\nSee: https://dozo.example.org\n", "\nSent by the service one. ")
                    .doesNotContain("Site:");
            assertThat(english.getMessageID()).matches("<dozo-\\d+-\\d+@one>");
            assertThat(english.getHeader("Auto-Submitted")).containsExactly("auto-generated");
            assertThat(english.getFrom()[0]).hasToString("dozo@example.org");

            // NB: a message that the server has accepted, and of which the database does not know that, is sent again.
            awaitDelivery(() -> sent() == 3);
            mail.stop();
            service.bean(Alerts.class).evaluate(List.of());
            awaitDelivery(() -> service.get("/api/v1/alerts/recipients")
                    .at("/0/error")
                    .asString("")
                    .startsWith("the mail server 127.0.0.1 cannot be used"));
            mail.start();
            dueNow();
            assertThat(received(mail, 2))
                    .extracting(MimeMessage::getSubject)
                    .containsExactlyInAnyOrder(
                            "Dozo, over: 2 experiments have waited too long for a copy (P1/E1, …).",
                            "Dozo（解消）：2 件の実験のコピーが遅れています（P1/E1, …）。");
            awaitDelivery(() ->
                    service.get("/api/v1/alerts/recipients").at("/0/waiting").asInt() == 0);
        } finally {
            mail.stop();
        }
    }

    @Test
    void aPasswordThatWasReplacedIsReadAtTheNextDelivery() throws Exception {
        GreenMail mail = new GreenMail(new ServerSetup(PORT, "127.0.0.1", ServerSetup.PROTOCOL_SMTP));
        mail.start();
        try {
            mail.setUser("dozo@example.org", "dozo", "first");
            Path password = Files.writeString(folder.resolve("password"), "first\n");
            Map<String, String> settings = new HashMap<>(mail("none"));
            settings.put("dozo.mail.user", "dozo");
            settings.put("dozo.mail.password-file", password.toString());
            start(settings);
            save(service, "it", "{\"mail\": \"it@example.org\"}");
            service.post("/api/v1/alerts/recipients/it/test", "").expect(202);
            received(mail, 1);

            mail.setUser("dozo@example.org", "dozo", "second");
            service.post("/api/v1/alerts/recipients/it/test", "").expect(202);
            awaitDelivery(() -> error().contains("refuses the login"));
            Files.writeString(password, "second\n");
            dueNow();

            received(mail, 2);
        } finally {
            mail.stop();
        }
    }

    @Test
    void aServerThatDropsIsTriedAgainAndOneThatRefusesTheRecipientIsNot() throws Exception {
        Map<String, String> answers = new ConcurrentHashMap<>(Map.of(".", SmtpScript.DROP));
        try (SmtpScript script = new SmtpScript(PORT, answers)) {
            start(mail("none"));
            save(service, "it", "{\"mail\": \"it@example.org\"}");
            service.post("/api/v1/alerts/recipients/it/test", "");
            awaitDelivery(() -> script.connections() > 0 && error().startsWith("the mail server"));
            assertThat(givenUp()).isZero();

            answers.put("RCPT", "550 5.1.1 no such user");
            answers.remove(".");
            dueNow();
            awaitDelivery(() -> givenUp() == 1);
            assertThat(error()).contains("refuses the message", "550 5.1.1 no such user");
            assertThat(service.get("/api/v1/alerts/recipients").text()).contains("no such user");
        }
    }

    @Test
    void whatAServerHasAcceptedIsSentAlsoIfItThenResetsTheConnection() throws Exception {
        try (SmtpScript script = new SmtpScript(PORT, Map.of(".", SmtpScript.RESET))) {
            start(mail("none"));
            save(service, "it", "{\"mail\": \"it@example.org\"}");
            service.post("/api/v1/alerts/recipients/it/test", "");
            awaitDelivery(() -> sent() == 1 || !error().isEmpty());
            assertThat(error()).isEmpty();
            assertThat(script.connections()).isEqualTo(1);
        }
    }

    @Test
    void aServerWithoutTheTlsThatIsAskedForGetsNothing() throws Exception {
        try (SmtpScript _ = new SmtpScript(PORT, Map.of())) {
            start(mail("starttls"));
            save(service, "it", "{\"mail\": \"it@example.org\"}");
            service.post("/api/v1/alerts/recipients/it/test", "");
            awaitDelivery(() -> error().contains("STARTTLS"));
            assertThat(sent()).isZero();
        }
    }

    @Test
    void withoutAMailServerAMessageSaysSo() throws Exception {
        start(NOT_ALLOWED);
        save(service, "it", "{\"mail\": \"it@example.org\"}");
        service.post("/api/v1/alerts/recipients/it/test", "");
        awaitDelivery(() -> error().equals("no mail server is set: DOZO_MAIL_HOST"));
    }

    @Test
    void alertsArriveAtAWebhookAndRedirectsAreNotFollowed() throws Exception {
        AtomicInteger status = new AtomicInteger(200);
        ConcurrentLinkedQueue<Posted> posted = new ConcurrentLinkedQueue<>();
        HttpServer chat = chat(status::get, posted);
        try {
            start(mail("none"));
            service.post("/api/v1/projects", "{\"code\": \"P1\"}");
            save(service, "chat", hook("http://127.0.0.1:%d/hooks/token".formatted(port(chat))));
            service.bean(Alerts.class).evaluate(List.of(LATE));
            awaitDelivery(() -> sent() == 1);
            assertThat(posted).singleElement().satisfies(request -> {
                assertThat(request.key()).matches("dozo-\\d+-\\d+");
                assertThat(request.body().at("/text").asString())
                        .isEqualTo("Dozo: 2 experiments have waited too long for a copy (P1/E1, …).");
                assertThat(request.body().at("/condition").asString()).isEqualTo("late");
                assertThat(request.body().at("/occasion").asString()).isEqualTo("raised");
                assertThat(request.body().at("/project").asString()).isEqualTo("P1");
                assertThat(request.body().at("/count").asInt()).isEqualTo(2);
            });

            status.set(503);
            service.post("/api/v1/alerts/recipients/chat/test", "");
            awaitDelivery(() -> error().equals("the webhook answers HTTP 503"));
            assertThat(givenUp()).isZero();
            status.set(302);
            dueNow();
            awaitDelivery(() -> givenUp() == 1);
            assertThat(error()).isEqualTo("the webhook answers HTTP 302; redirects are not followed");
            assertThat(posted).extracting(Posted::path).containsOnly("/hooks/token");
            status.set(404);
            service.post("/api/v1/alerts/recipients/chat/test", "");
            awaitDelivery(() -> givenUp() == 2);
        } finally {
            chat.stop(0);
        }
    }

    @Test
    void anAddressOfAWebhookThatWasReplacedIsReadAtTheNextDelivery() throws Exception {
        ConcurrentLinkedQueue<Posted> posted = new ConcurrentLinkedQueue<>();
        HttpServer chat = chat(() -> 200, posted);
        try {
            start(mail("none"));
            save(service, "chat", hook("http://127.0.0.1:%d/hooks/first".formatted(port(chat))));
            service.post("/api/v1/alerts/recipients/chat/test", "").expect(202);
            awaitDelivery(() -> sent() == 1);

            hook("http://127.0.0.1:%d/hooks/second".formatted(port(chat)));
            service.post("/api/v1/alerts/recipients/chat/test", "").expect(202);
            awaitDelivery(() -> sent() == 2);

            assertThat(posted).extracting(Posted::path).containsExactly("/hooks/first", "/hooks/second");
        } finally {
            chat.stop(0);
        }
    }

    @Test
    void aWebhookAtAnInternalAddressIsRefusedUnlessItIsAllowed() throws Exception {
        ConcurrentLinkedQueue<Posted> posted = new ConcurrentLinkedQueue<>();
        HttpServer chat = chat(() -> 200, posted);
        try {
            start(NOT_ALLOWED);
            int refused = 0;
            for (String host : List.of(
                    "127.0.0.1",
                    "localhost",
                    "[::1]",
                    "10.1.2.3",
                    "169.254.169.254",
                    "100.64.0.1",
                    "[fd00::1]",
                    "[64:ff9b::10.1.2.3]",
                    "[64:ff9b:1::8.8.8.8]",
                    "[2002:7f00:1::]",
                    "[::169.254.169.254]")) {
                save(service, "chat", hook("http://%s:%d/hooks/token".formatted(host, port(chat))));
                service.post("/api/v1/alerts/recipients/chat/test", "");
                int before = refused++;
                awaitDelivery(() -> givenUp() == before + 1);
                assertThat(error()).as(host).contains("has an internal address", "DOZO_WEBHOOK_INTERNAL_HOSTS");
            }
            assertThat(posted).isEmpty();

            save(service, "chat", hook("http://[64:ff9b::203.0.113.1]/"));
            service.post("/api/v1/alerts/recipients/chat/test", "");
            awaitDelivery(() -> error().contains("does not answer"));

            save(service, "chat", hook("no-address"));
            service.post("/api/v1/alerts/recipients/chat/test", "");
            awaitDelivery(() -> error().contains("contains no URL"));
            assertThat(error()).doesNotContain("no-address");
            Files.delete(folder.resolve("hook"));
            dueNow();
            awaitDelivery(() -> error().contains("does not exist"));
        } finally {
            chat.stop(0);
        }
    }

    @Test
    void badRecipientsAreRefused() throws Exception {
        start(NOT_ALLOWED);
        for (String bad : List.of(
                "{}",
                "{\"mail\": \"a@b.c\", \"webhookFile\": \"/x\"}",
                "{\"mail\": \"nobody\"}",
                "{\"webhookFile\": \"https://chat.example.org\"}",
                "{\"mail\": \"a@b.c\", \"quietFrom\": \"late\", \"quietUntil\": \"07:00\"}",
                "{\"mail\": \"a@b.c\", \"projects\": [\"P9\"]}")) {
            assertThat(service.put("/api/v1/alerts/recipients/it", bad).status())
                    .as(bad)
                    .isEqualTo(422);
        }
        service.post("/api/v1/alerts/recipients/it/test", "").expect(404);
        service.delete("/api/v1/alerts/recipients/it").expect(404);
        save(service, "it", "{\"mail\": \"a@b.c\"}");
        service.delete("/api/v1/alerts/recipients/it").expect(204);
    }

    private void start(Map<String, String> more) {
        Map<String, String> settings = new HashMap<>(more);
        settings.put("dozo.service.name", "one");
        settings.put("dozo.service.url", "https://dozo.example.org");
        service = RunningService.shared(settings);
        jdbc = service.jdbc();
    }

    /** Has the messages delivered that are due, until this is so. */
    private void awaitDelivery(Callable<Boolean> what) {
        await().atMost(LIMIT).until(() -> {
            service.bean(Courier.class).go();
            return what.call();
        });
    }

    private static Map<String, String> mail(String tls) {
        Map<String, String> settings = new HashMap<>(ALLOWED);
        settings.put("dozo.mail.host", "127.0.0.1");
        settings.put("dozo.mail.port", String.valueOf(PORT));
        settings.put("dozo.mail.tls", tls);
        settings.put("dozo.mail.from", "dozo@example.org");
        return settings;
    }

    private static void save(RunningService service, String name, String settings) {
        service.put("/api/v1/alerts/recipients/" + name, settings).expect(200);
    }

    private String hook(String url) throws IOException {
        Path file = folder.resolve("hook");
        Files.deleteIfExists(file);
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, url + "\n");
        return "{\"webhookFile\": \"%s\"}".formatted(file);
    }

    private MimeMessage[] received(GreenMail mail, int count) {
        awaitDelivery(() -> mail.getReceivedMessages().length >= count);
        return mail.getReceivedMessages();
    }

    private static String recipient(MimeMessage message) {
        try {
            return message.getAllRecipients()[0].toString();
        } catch (jakarta.mail.MessagingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static HttpServer chat(IntSupplier status, ConcurrentLinkedQueue<Posted> posted) throws IOException {
        HttpServer chat = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        JsonMapper json = new JsonMapper();
        chat.createContext("/", exchange -> {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            posted.add(new Posted(
                    exchange.getRequestURI().getPath(),
                    String.valueOf(exchange.getRequestHeaders().getFirst("Idempotency-Key")),
                    json.readTree(body)));
            exchange.getResponseHeaders().add("Location", "/elsewhere");
            exchange.sendResponseHeaders(status.getAsInt(), -1);
            exchange.close();
        });
        chat.start();
        return chat;
    }

    private static int port(HttpServer server) {
        return server.getAddress().getPort();
    }

    private void dueNow() {
        jdbc.sql("update alert_message set due_at = now() - interval '1 minute' where sent_at is null")
                .update();
    }

    private String error() {
        return jdbc.sql("select error from alert_message where error is not null order by message_id desc limit 1")
                .query(String.class)
                .optional()
                .orElse("");
    }

    private int givenUp() {
        return jdbc.sql("select count(*) from alert_message where given_up_at is not null")
                .query(Integer.class)
                .single();
    }

    private int sent() {
        return jdbc.sql("select count(*) from alert_message where sent_at is not null")
                .query(Integer.class)
                .single();
    }
}
