package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.time.OffsetDateTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Exported values are exact, and a spreadsheet runs none of them. */
class TableTest {

    @ParameterizedTest
    @ValueSource(strings = {"=1+1", "+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "＝1"})
    void aTextThatWouldBeAFormulaIsExportedAsText(String text) {
        assertThat(csv(text)).isEqualTo("'" + text);
    }

    @Test
    void controlCharactersAreShown() {
        StringWriter out = new StringWriter();
        new Table("NAME").row("a\u001b[2J\u202eb").print(new PrintWriter(out));

        assertThat(out.toString()).isEqualTo("NAME\na\\x1B[2J\\u202Eb\n");
    }

    @Test
    void aFormulaThatHasToBeQuotedIsNoFormulaWithinItsQuotes() {
        assertThat(csv("=A1,\"x\"")).isEqualTo("\"'=A1,\"\"x\"\"\"");
        assertThat(csv("\n=1")).isEqualTo("\"'\n=1\"");
    }

    @Test
    void numbersAndDashesAndAllOtherTextsAreAsTheyAre() {
        assertThat(csv(-5L)).isEqualTo("-5");
        assertThat(csv("-")).isEqualTo("-");
        assertThat(csv("")).isEmpty();
        assertThat(csv("a=b")).isEqualTo("a=b");
        assertThat(csv(new Table.Minutes(null))).isEmpty();
    }

    @Test
    void peopleReadTimesInTheirZoneAndProgramsInUtc() {
        Instant time = Instant.parse("2026-10-01T15:00:00.123Z");
        StringWriter out = new StringWriter();
        new Table("X").row(time).print(new PrintWriter(out));
        String shown = out.toString().lines().skip(1).findFirst().orElseThrow();

        assertThat(shown).matches("2026-10-0[12] \\d\\d:\\d\\d:00 [+-]\\d\\d:\\d\\d");
        assertThat(OffsetDateTime.parse(shown.replaceFirst(" ", "T").replace(" ", ""))
                        .toInstant())
                .isEqualTo(Instant.parse("2026-10-01T15:00:00Z"));
        assertThat(csv(time)).isEqualTo("2026-10-01T15:00:00.123Z");
        assertThat(Times.text(null)).isEqualTo("-");
    }

    @Test
    void aStateHasAColourOnATerminalOnlyAndItsColumnStaysAligned() {
        Table table = new Table("SAFE", "TITLE").row(new Table.State("no", Colour.BAD), "x");
        StringWriter plain = new StringWriter();
        table.print(new PrintWriter(plain));
        assertThat(plain.toString()).isEqualTo("SAFE  TITLE\nno    x\n");
        assertThat(csv(new Table.State("no", Colour.BAD))).isEqualTo("no");

        StringWriter coloured = new StringWriter();
        System.setProperty("picocli.ansi", "true");
        try {
            table.print(new PrintWriter(coloured));
        } finally {
            System.clearProperty("picocli.ansi");
        }
        assertThat(coloured.toString()).isEqualTo("SAFE  TITLE\n\u001b[31mno\u001b[0m    x\n");
    }

    private static String csv(Object cell) {
        StringWriter out = new StringWriter();
        new Table("X").row(cell).csv(new PrintWriter(out));
        return out.toString().replaceFirst("^x\n", "").replaceFirst("\n$", "");
    }
}
