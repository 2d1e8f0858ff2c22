package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.LoggingEvent;
import com.zaxxer.hikari.HikariDataSource;
import dozo.db.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.support.PropertiesLoaderUtils;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The log is one JSON object a line if the setting says so, and lines of systemd's journal have a priority. */
class LogFormatTest {

    @TempDir
    Path folder;

    /** NB: systemd's sd-daemon(3) defines the prefixes. */
    @ParameterizedTest
    @CsvSource({"ERROR, 3", "WARN, 4", "INFO, 6", "DEBUG, 7", "TRACE, 7"})
    void theJournalIsToldThePriority(String level, int priority) throws IOException {
        Properties properties = PropertiesLoaderUtils.loadProperties(new ClassPathResource("application.properties"));
        LoggerContext context = new LoggerContext();
        PatternLayout layout = new PatternLayout();
        layout.setContext(context);
        layout.setPattern(properties.getProperty("log-forms.journal"));
        layout.start();

        assertThat(layout.doLayout(new LoggingEvent(
                        "", context.getLogger("dozo.run.Runs"), Level.toLevel(level), "run 7 starts", null, null)))
                .isEqualTo("<%d>%-22s run 7 starts%n", priority, "Runs");
    }

    @Test
    void theJournalHasFields() {
        LoggerContext context = new LoggerContext();
        LoggingEvent event = new LoggingEvent(
                "",
                context.getLogger("dozo.run.Runs"),
                Level.WARN,
                "unit {} failed",
                new IOException("disk"),
                new Object[] {3});
        event.setThreadName("lane-1");
        event.setMDCPropertyMap(Map.of("run", "7", "experiment", "P1/E1"));

        assertThat(JournalAppender.fields(event))
                .containsEntry("PRIORITY", "4")
                .containsEntry("SYSLOG_IDENTIFIER", "dozo")
                .containsEntry("DOZO_LOGGER", "dozo.run.Runs")
                .containsEntry("DOZO_THREAD", "lane-1")
                .containsEntry("DOZO_RUN", "7")
                .containsEntry("DOZO_EXPERIMENT", "P1/E1")
                .hasEntrySatisfying(
                        "MESSAGE",
                        message -> assertThat(message).startsWith("unit 3 failed\njava.io.IOException: disk"));
    }

    @Test
    void everyLineIsAnObject() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        // As Spring Boot without a file. The tests have a file of their own.
        Path logback = Files.writeString(folder.resolve("logback.xml"), """
                <configuration>
                  <include resource="org/springframework/boot/logging/logback/defaults.xml"/>
                  <include resource="org/springframework/boot/logging/logback/structured-console-appender.xml"/>
                  <root level="INFO"><appender-ref ref="CONSOLE"/></root>
                </configuration>
                """);
        Path output = folder.resolve("output");
        Process service = ServeProcess.start(
                folder.resolve("work"),
                output,
                Map.of(
                        "DOZO_LOG_FORMAT", "json",
                        "LOGGING_CONFIG", logback.toString(),
                        "DOZO_DB_URL", String.valueOf(database.getJdbcUrl()),
                        "DOZO_DB_USER", String.valueOf(database.getUsername()),
                        "DOZO_DB_PASSWORD", String.valueOf(database.getPassword())));
        try {
            await().atMost(Duration.ofMinutes(5))
                    .until(() -> !service.isAlive() || Files.readString(output).contains("log in as admin"));
        } finally {
            service.destroy();
            assertThat(service.waitFor(5, TimeUnit.MINUTES)).isTrue();
        }

        JsonMapper json = new JsonMapper();
        List<JsonNode> lines =
                Files.readAllLines(output).stream().map(json::readTree).toList();
        assertThat(lines).allSatisfy(line -> {
            assertThat(line.at("/@timestamp").asString()).isNotEmpty();
            assertThat(line.at("/log/level").asString()).isNotEmpty();
        });
        assertThat(lines).anyMatch(line -> line.at("/message").asString().startsWith("Dozo listens at "));
    }
}
