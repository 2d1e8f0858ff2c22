package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** A phrase says what a response has, and nothing of what it does not have. */
class PhraseTest {

    private static final JsonNode RESPONSE = Connection.JSON.readTree("""
            {"id": 7, "sha256": "ab", "none": 0, "no": false, "yes": true, "rate": 0.0, "empty": "", "state": "NOT_SAFE",
             "bytes": 1500, "files": 12345, "seconds": 90.5, "ahead": 3, "day": "2026-10-01T15:00:00Z", "gaps": ["late", "split"],
             "site": {"name": "a[b|{id}]c"}, "null": null}
            """);

    @ParameterizedTest
    @CsvSource(delimiterString = "=>", quoteCharacter = '`', textBlock = """
            run {id}, {sha256}                        => run 7, ab
            {missing}|{empty}|{null}|{id}             => 7
            a[, {missing}][ of {files number}]        => a of 12,345
            is [{no?}open|{yes?}closed|unknown]       => is closed
            {none?}some|{rate?}fast|nothing           => nothing
            {none=0?}none                             => none
            {state=NOT_SAFE?}{state word}/{state words} => not-safe/not safe
            {gaps list}[{gaps=split?} (two)][{gaps=partly?} (part)] => late, split (two)
            {gaps count} {gaps}                       => 2 late,split
            {bytes size} {seconds time} {seconds ms} {ahead signed} {day day} {day raw} => 1.5 kB 90.5 s 90500.00 +3 2026-10-01 2026-10-01T15:00:00Z
            at {site.name}[ or {site.name}]           => at a[b|{id}]c or a[b|{id}]c
            """)
    void fieldsAreSaidIfTheyAreThere(String phrase, String said) {
        assertThat(new Phrase(phrase).of(RESPONSE)).contains(said);
    }

    @ParameterizedTest
    @CsvSource({"{missing}", "{empty} a", "{no?}a", "{none?}a|{state=SAFE?}b", "{gaps=partly?}c"})
    void nothingIsSaidWithoutThem(String phrase) {
        assertThat(new Phrase(phrase).of(RESPONSE)).isEmpty();
    }
}
