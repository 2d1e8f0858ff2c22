package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.run.Equipment.Difference;
import dozo.run.Equipment.Kind;
import dozo.run.Services.SeenService;
import dozo.run.Services.SeenWorker;
import dozo.run.Services.ServiceState;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a terminal shows of the services with one database. */
class ServiceReportTest {

    private static final Instant THEN = Instant.parse("2026-01-02T03:04:05Z");

    @Test
    void oneServiceIsNotMentioned() {
        assertThat(report(service("one", ServiceState.ACTIVE))).isEmpty();
    }

    @Test
    void whoStandsByIsNamed() {
        assertThat(report(service("one", ServiceState.ACTIVE), service("two", ServiceState.STANDS_BY)))
                .isEqualTo("services: one is active, two stands by\n");
    }

    @Test
    void thatNobodyStandsByIsSaid() {
        assertThat(report(
                        service("one", ServiceState.ACTIVE),
                        service("three", ServiceState.STOPPED),
                        service("two", ServiceState.AWAY)))
                .contains("one is active, three was stopped " + Times.text(THEN))
                .contains("two does not respond since " + Times.text(THEN))
                .contains("no service stands by: if the active one fails, nobody takes over");
    }

    @Test
    void whoCouldNotTakeOverIsNamed() {
        Difference key = new Difference(Kind.KEY_MISSING, "site-key", "/w2/site-key", "/w1/site-key");
        Difference setting = new Difference(Kind.SETTING_DIFFERS, "DOZO_SCHEDULE_ZONE", "", "");
        StringWriter out = new StringWriter();
        ServiceReport.print(
                new PrintWriter(out, true),
                List.of(
                        service("one", ServiceState.ACTIVE),
                        new SeenService("two", "", "1", ServiceState.STANDS_BY, THEN, List.of(key))),
                List.of(new SeenWorker("w1", "1", THEN, List.of(setting))));
        assertThat(out.toString())
                .contains("  two: the key site-key is missing or not usable in /w2/site-key\n")
                .contains("  worker w1: DOZO_SCHEDULE_ZONE differs\n");
    }

    private static SeenService service(String name, ServiceState state) {
        return new SeenService(name, "", "1", state, THEN, List.of());
    }

    private static String report(SeenService... services) {
        StringWriter out = new StringWriter();
        ServiceReport.print(new PrintWriter(out, true), List.of(services), List.of());
        return out.toString();
    }
}
