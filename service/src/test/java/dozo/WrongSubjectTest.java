package dozo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.command.Exit;
import dozo.ledger.Sight;
import dozo.source.dicom.PseudonymousCode;
import dozo.worklist.Bookings;
import dozo.worklist.Studies;
import dozo.worklist.Studies.ReceivedSeries;
import java.io.ByteArrayInputStream;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A visit with another subject than booked shows both codes: in REST, in CSV, on the command line and on the page. */
class WrongSubjectTest {

    private static final LocalDate DAY = LocalDate.now(ZoneId.systemDefault()).minusDays(5);

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    private String booked = "";
    private String acquired = "";

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared();
        PseudonymousCode codes = service.bean(PseudonymousCode.class);
        booked = codes.of("0123").orElseThrow();
        acquired = codes.of("0999").orElseThrow();
        String csv = "accession,date,patient\nA1,%s,0123\nA2,%s,0456\n".formatted(DAY, DAY);
        service.bean(Bookings.class)
                .keep(Sight.EVERYTHING, new ByteArrayInputStream(csv.getBytes(UTF_8)), null, false, "test");
        receive("2.25.1", "A1", acquired);
        receive("2.25.2", "A2", codes.of("0456").orElseThrow());
    }

    @Test
    void bothCodesAreShownWhereverTheGapIs() {
        Answer list = service.get("/api/v1/gaps?kind=wrong-subject");
        assertThat(list.items()).isEqualTo(1);
        list.has("/items/0/gaps/0", "wrong-subject");
        list.has("/items/0/accession", "A1");
        list.has("/items/0/subject", booked);
        list.has("/items/0/subjectsAcquired/0", acquired);

        String sheet = service.get("/api/v1/gaps?format=csv").text();
        assertThat(sheet.lines().toList().getFirst()).contains(",subject,subjectsAcquired,");
        assertThat(sheet.lines().toList().get(1))
                .startsWith("wrong-subject,")
                .contains("," + booked + "," + acquired + ",");

        assertThat(Ended.dozo(service, "gaps --kind wrong-subject")
                        .ends(Exit.NOT_SAFE)
                        .out())
                .contains("wrong-subject (booked %s, acquired %s)".formatted(booked, acquired))
                .contains("1 with a gap");

        HttpClient browser = service.browser();
        String english = service.page(browser, "/gaps");
        assertThat(english)
                .contains("Wrong subject", "booked %s, acquired %s".formatted(booked, acquired))
                .doesNotContain("??");
        String japanese =
                service.look(browser, "/gaps?kind=wrong-subject", "ja").text();
        assertThat(japanese).contains("被験者違い", "予約 %s、撮像 %s".formatted(booked, acquired));
        // A visit with the booked subject shows no second code.
        assertThat(service.page(browser, "/gaps?all=true").split("acquired S", -1))
                .hasSize(2);
    }

    private void receive(String study, String accession, String subject) {
        Instant at = DAY.atTime(10, 0).atZone(ZoneId.systemDefault()).toInstant();
        service.bean(Studies.class)
                .received(new ReceivedSeries(
                        study, study + ".1", accession, subject, DAY, null, null, "MR7T01", "MR", 10, null, at, at));
    }
}
