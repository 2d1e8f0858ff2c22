package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dozo.Ended;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** {@code dozo plan --from-table}: without a service, from sizes only. */
class PlanCommandTest {

    /** A centre's largest projects, the others in one line, and the regions in which the centre copied them. */
    private static final String CENTRE = """
            dir,size_mbyte,region
            0001,334605374,1
            0002,249307831,2
            0003,67109542,3
            0004,60455564,3
            0005,47376576,3
            0006,35885983,4
            rest,130639845,4
            """;

    @TempDir
    Path folder;

    @Test
    void theTablesRegionsStandBesideWhatARunDoes() throws Exception {
        Ended ended = plan(CENTRE, "--rate", "600Mbit", "--link", "7.62Gbit", "--lanes", "4,8,13");

        assertThat(ended).extracting(Ended::code, Ended::err).containsExactly(0, "");
        assertThat(ended.out())
                .startsWith("7 projects, 925 TB; a lane moves 600 Mbit/s; the link carries 7.62 Gbit/s")
                .containsPattern("the table's regions +4 +4 +1\\.446 +44\\.63 % +51\\.6 days +largest partition")
                .containsPattern("whole projects +4 +4 +1\\.446 ")
                .containsPattern("Dozo +4 +4 +1\\.000 +0\\.00 % +35\\.7 days +lanes")
                .containsPattern("Dozo +8 +8 +1\\.000 +0\\.00 % +17\\.9 days +lanes")
                .containsPattern("Dozo +13 +13 +1\\.000 +0\\.00 % +11\\.2 days +link")
                .containsPattern("PARTITION +REGIONS +4 LANES +8 LANES +13 LANES\n1 +335 TB +231 TB +116 TB +71 TB")
                .containsPattern("\n2 +249 TB ")
                .containsPattern("\n3 +175 TB ")
                .containsPattern("\n4 +167 TB ");
    }

    @Test
    void programsGetExactNumbers() throws Exception {
        Ended ended = plan(CENTRE, "--rate", "600Mbit", "--lanes", "4", "--partitions", "8", "--json");

        JsonNode json = Connection.JSON.readTree(ended.out());
        assertThat(json.at("/work/bytes").asLong()).isEqualTo(925_380_715_000_000L);
        assertThat(json.at("/ways/0/sharing").asString()).isEqualTo("REGIONS");
        assertThat(json.at("/ways/2/sharing").asString()).isEqualTo("SPLIT");
        assertThat(json.at("/ways/2/partitions").size()).isEqualTo(8);
        assertThat(json.at("/ways/2/bottleneck").asString()).isEqualTo("LANES");
        assertThat(json.hasNonNull("linkBytesPerSecond")).isFalse();
    }

    @Test
    void aFirstCopyIsPlannedNightByNight() throws Exception {
        String[] options = {
            "--rate", "600Mbit", "--link", "7.62Gbit", "--lanes", "13", "--hours", "daily 06:00-20:00 closed"
        };

        assertThat(plan(CENTRE, options).out())
                .containsPattern("NIGHT +UNTIL +VERIFIED +AT LEAST +AT MOST +EXPERIMENTS\n +1 ")
                .containsPattern("\n +27 +20..-..-.. 06:00:00 .* TB ");
        JsonNode json =
                Connection.JSON.readTree(plan(CENTRE, with(options, "--json")).out());
        assertThat(json.at("/forecast/work/bytes").asLong()).isEqualTo(925_380_715_000_000L);
        JsonNode nights = json.at("/nights");
        // 11.2 days of the link, ten hours a night; the first night may have begun.
        assertThat(nights.at("/25/verified/middle").asLong()).isLessThan(925_380_715_000_000L);
        assertThat(nights.at("/28/verified/middle").asLong()).isEqualTo(925_380_715_000_000L);
        assertThat(nights.at("/28/verified/low").asLong()).isLessThan(925_380_715_000_000L);
        assertThat(plan("a,1\n", "--hours", "daily 06:00-20:00 closed").out()).containsPattern("\n +1 +20");
    }

    private static String[] with(String[] options, String another) {
        return Stream.concat(Stream.of(options), Stream.of(another)).toArray(String[]::new);
    }

    @Test
    void filesCostTime() throws Exception {
        assertThat(plan("a,0,2500000\n", "--lanes", "1").out())
                .contains("1 project, 0 B in 2,500,000 files")
                .contains("One lane needs 16.7 min for 2,500,000 files.\n\n")
                .containsPattern("Dozo +1 +1 +1\\.000 +0\\.00 % +16\\.7 min +lanes");
    }

    @Test
    void experimentsCostTimeThatNoLaneShortens() throws Exception {
        String table = "name,size,files,experiments\nall,640 TB,483000000,10000000\n";

        assertThat(plan(table, "--lanes", "8,16").out())
                .contains("""
                        One lane needs 24.7 days for the bytes and 2.2 days for 483,000,000 files.
                        10,000,000 experiments need 47.2 h (17 ms each) with any number of lanes.

                        """)
                .containsPattern("Dozo +8 +8 +1\\.000 +0\\.00 % +3\\.4 days +lanes")
                .containsPattern("Dozo +16 +16 +1\\.000 +0\\.00 % +47\\.2 h +experiments");
        JsonNode json =
                Connection.JSON.readTree(plan(table, "--lanes", "16", "--json").out());
        assertThat(json.at("/experiments").asLong()).isEqualTo(10_000_000);
        assertThat(json.at("/parts/bytesLaneSeconds").asDouble()).isCloseTo(640e12 / 300e6, within(0.1));
        assertThat(json.at("/parts/entriesLaneSeconds").asDouble()).isCloseTo(193_200, within(0.1));
        assertThat(json.at("/parts/experimentsSeconds").asDouble()).isCloseTo(170_000, within(0.1));
        assertThat(json.at("/ways/1/bottleneck").asString()).isEqualTo("EXPERIMENTS");
    }

    @Test
    void partsOfNoTimeAreLeftOut() throws Exception {
        assertThat(plan("a,0\n", "--lanes", "1").out()).doesNotContain("One lane", "ms each");
        assertThat(plan("name,size,files,experiments\na,0,1,100\n", "--lanes", "1")
                        .out())
                .contains("in 1 file;", "\n100 experiments need 1.7 s (17 ms each)")
                .doesNotContain("One lane");
    }

    @Test
    void aTableOfProjectsDoesNotHideItsExperiments() throws Exception {
        assertThat(plan("project,size\nP1,1 TB\n", "--lanes", "1").out()).contains("""
                        One lane needs 55.6 min for the bytes.
                        Experiments are not counted; each needs 17 ms with any number of lanes.

                        """);
    }

    @Test
    void experimentsAlsoFillNights() throws Exception {
        String table = "name,size,experiments\nall,1 TB,10000000\n";

        JsonNode nights = Connection.JSON
                .readTree(plan(table, "--rate", "600Mbit", "--hours", "daily 06:00-20:00 closed", "--json")
                        .out())
                .at("/nights");

        // 47.2 hours in nights of ten hours; the first night may have begun. The bytes alone need an hour.
        assertThat(nights.size()).isBetween(5, 7);
        assertThat(nights.at("/1/verified/middle").asLong()).isLessThan(500_000_000_000L);
        assertThat(nights.get(nights.size() - 1).at("/verified/middle").asLong())
                .isEqualTo(1_000_000_000_000L);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --lanes 0                 | 2 | --lanes: expected 1 to 16 numbers from 1 to 64
            --lanes 4,65              | 2 | --lanes: expected 1 to 16 numbers from 1 to 64
            --lanes four              | 2 | --lanes
            --partitions 65           | 2 | --partitions: expected a number from 1 to 64
            --rate fast               | 2 | --rate fast
            --rate 7B                 | 2 | --rate 7B: expected 1kB to 1TB per second
            --link -1Gbit             | 2 | --link
            --site dr                 | 2 | either --site or --from-table
            --hours never             | 2 | --hours: "never": expected days, hours and a limit
            """)
    void whatCannotBeUnderstoodIsSaid(String options, int code, String message) throws Exception {
        Ended ended = plan("a,1\n", options.split(" "));

        ended.ends(code);
        assertThat(ended.err()).contains(message);
        assertThat(ended.out()).isEmpty();
    }

    @Test
    void aBadLineIsRefusedAndNothingIsPlanned() throws Exception {
        Ended ended = plan("a,1\nb,many\n");

        ended.ends(Exit.REFUSED);
        assertThat(ended.err())
                .contains("sizes.csv line 2: \"many\" is not a size; expected a number with or without a unit");
        assertThat(ended.out()).isEmpty();
    }

    @Test
    void timesAndRatesAreTold() {
        assertThat(PlanReport.time(0)).isEqualTo("0.0 s");
        assertThat(PlanReport.time(119.94)).isEqualTo("119.9 s");
        assertThat(PlanReport.time(7_199)).isEqualTo("120.0 min");
        assertThat(PlanReport.time(10_800)).isEqualTo("3.0 h");
        assertThat(PlanReport.time(4_461_405)).isEqualTo("51.6 days");
        assertThat(PlanReport.rate(75e6)).isEqualTo("600 Mbit/s");
        assertThat(PlanReport.rate(952.5e6)).isEqualTo("7.62 Gbit/s");
        assertThat(PlanReport.rate(12.5)).isEqualTo("100 bit/s");
    }

    private Ended plan(String table, String... options) throws Exception {
        Path file = Files.writeString(folder.resolve("sizes.csv"), table);
        String[] all = new String[options.length + 3];
        all[0] = "plan";
        all[1] = "--from-table";
        all[2] = file.toString();
        System.arraycopy(options, 0, all, 3, options.length);
        return Ended.of(all);
    }
}
