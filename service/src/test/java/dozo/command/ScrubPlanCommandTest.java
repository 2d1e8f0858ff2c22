package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Ended;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** {@code dozo scrub --plan --stored}: without a service, from amounts only. */
class ScrubPlanCommandTest {

    private static final String CENTRE = "scrub --plan --max-age 90d --stored 1.27PiB --files 482,977,782 ";

    @Test
    void aPromiseThatCanBeKeptEndsWithZero() {
        Ended ended = dozo(CENTRE + "--limit 300MB --rate 1GB --per-file 4ms");

        assertThat(ended).extracting(Ended::code, Ended::err).containsExactly(0, "");
        assertThat(ended.out().replaceAll("\\d{4}-\\d\\d-\\d\\d", "2027-01-15")).isEqualTo("""
                        1.4 PB in 482,977,782 files; every copy must be read again within 90 days
                        reading from 00:00-24:00, at most 300 MB/s
                        the site reads 1.0 GB/s, plus 4.00 ms per file: as given

                                                               WANTED                  FORECAST
                        age of the oldest copy, first round   90 days  55.2 days, by 2027-01-15
                        and in later rounds                   90 days                 55.2 days
                        bytes a second while it reads        184 MB/s                  300 MB/s
                        files a second while it reads            62.2                       101

                        The promise can be kept, with 38 % of the time to spare.
                        Each of these alone is still enough:
                          --limit 184MB or more
                          a --window of 14.8 h or more
                          --max-age 56d or more
                        """);
    }

    @Test
    void aPromiseThatCannotBeKeptSaysWhatWouldDo() {
        assertThat(dozo(CENTRE + "--limit 200MB --window 20:00-06:00 --rate 1GB --per-file 1ms")
                        .ends(Exit.NOT_SAFE)
                        .out())
                .contains("reading from 20:00-06:00, at most 200 MB/s")
                .containsPattern("and in later rounds +90 days +198\\.9 days\n")
                .containsPattern("bytes a second while it reads +442 MB/s +200 MB/s\n")
                .endsWith("""
                        The promise cannot be kept: a round takes 108.9 days too long.
                        Each of these alone would be enough:
                          --limit 442MB or more
                          a --window of 22.1 h or more
                          --max-age 199d or more
                        """);
    }

    @Test
    void withoutWhatReadingCostsNobodyCanSay() {
        assertThat(dozo(CENTRE + "--limit 300MB").ends(Exit.NOT_SAFE).out())
                .contains("the cost of reading at the site is unknown")
                .containsPattern("and in later rounds +90 days +at least 55\\.2 days\n")
                .containsPattern("files a second while it reads +62\\.2 +at most 101\n")
                .contains("Unknown whether the promise can be kept")
                .contains("Each of these alone is the least that is needed:\n  --limit 184MB or more");
    }

    @Test
    void programsGetExactNumbers() {
        Ended ended = dozo(CENTRE + "--limit 300MB --rate 1GB --per-file 4ms --json");

        JsonNode json = Connection.JSON.readTree(ended.out());
        assertThat(json.at("/verdict").asString()).isEqualTo("KEPT");
        assertThat(json.at("/stored/bytes").asLong()).isEqualTo(1_429_892_881_690_132L);
        assertThat(json.at("/stored/entries").asLong()).isEqualTo(482_977_782L);
        assertThat(json.at("/maxAgeSeconds").asLong()).isEqualTo(7_776_000L);
        assertThat(json.at("/budget/bytesPerSecond").asLong()).isEqualTo(300_000_000L);
        assertThat(json.at("/rounds/seconds").asDouble()).isGreaterThan(0);
        ended.ends(0);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --max-age 0d                     | --max-age 0d: expected 1h to 3660d, such as 36h, 90d or 12w
            --max-age -1d                    | --max-age -1d: expected 1h to 3660d
            --max-age 3661d                  | --max-age 3661d: expected 1h to 3660d
            --max-age 99999w                 | --max-age 99999w: expected 1h to 3660d
            --max-age 90                     | --max-age 90: expected 1h to 3660d
            --max-age soon                   | --max-age soon: expected 1h to 3660d
             --limit 0                        | --limit 0: expected bytes per second
             --limit -1MB                     | --limit -1MB: expected bytes per second
             --limit 999999999999999TB        | --limit 999999999999999TB: expected bytes per second
            --window 20-06                   | --window 20-06: expected two different times of the day such as 20:00-06:00
            --window 20:00-20:00             | --window 20:00-20:00: expected two different times
            --window 24:00-06:00             | --window 24:00-06:00: expected two different times
            --stored many                    | --stored many: expected bytes up to 9.2 EB such as 250000, 1.5TB or 1.27PiB
            --stored -5TB                    | --stored -5TB: expected bytes up to 9.2 EB
            --stored 9000PB --stored 99EB    | --stored
            --files few                      | --files few: expected a number up to
            --files -1                       | --files -1: expected a number up to
            --rate fast --per-file 0         | --rate fast: expected bytes per second
            --rate 7B --per-file 0           | --rate 7B --per-file 0: expected 1kB to 1TB per second
            --rate 1GB --per-file 4          | --per-file 4: expected a time such as 4ms
            --rate 1GB --per-file 4h         | --per-file 4h: expected a time such as 4ms
             --rate 1GB --per-file 9999s      | 0 to 3600s
            --until 06:00                    | --plan excludes --home, --all, --until, --cold, --warm and --wait
            --cold                           | --plan excludes --home, --all, --until, --cold, --warm and --wait
            --wait                           | --plan excludes --home, --all, --until, --cold, --warm and --wait
            --window 20:00-06:00 --until 5:0 | mutually exclusive
            --cold --warm                    | mutually exclusive
            """)
    void whatIsWrongIsNamedWithWhatIsAccepted(String options, String message) {
        String defaults = (options.contains("--max-age") ? "" : " --max-age 90d")
                + (options.contains("--stored") ? "" : " --stored 1TB")
                + (options.contains("--files") ? "" : " --files 1");

        Ended ended = dozo("scrub --plan " + options + defaults);

        assertThat(ended.err()).contains(message);
        ended.ends(Exit.USAGE);
        assertThat(ended.out()).isEmpty();
    }

    @Test
    void whatBelongsTogetherIsSaid() {
        assertThat(dozo("scrub --plan --max-age 90d --stored 1TB").err())
                .contains("--stored and --files are required together");
        assertThat(dozo("scrub --plan --stored 1TB --files 1").err()).contains("--max-age is required");
        assertThat(dozo("scrub --stored 1TB --files 1").err()).contains("are for --plan");
    }

    private static Ended dozo(String line) {
        return Ended.of(line.split(" +"));
    }
}
