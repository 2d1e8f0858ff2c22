package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.plan.Lot;
import dozo.plan.Work;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tables of sizes are accepted in their usual forms. Invalid lines are reported with their numbers, and nothing is
 * guessed.
 */
class SizesTableTest {

    @TempDir
    Path folder;

    @Test
    void aHeaderSaysWhichColumnIsWhich() throws Exception {
        assertThat(read("dir,size_mbyte,percent,region\n0001,334605374,36.16,1\n0035,0,0.00,4\n"))
                .containsExactly(lot("0001", 334_605_374_000_000L, 0, "1"), lot("0035", 0, 0, "4"));
        assertThat(read("\uFEFFRegion;Files;Size;Project\r\n2;1,234;\"1,500 GB\";脳\r\n"))
                .containsExactly(new Lot("脳", "2", 0, new Work(1_500_000_000_000L, 1_234)));
        assertThat(read("bytes\tname\n5\t\"a\"\"b\"\n")).containsExactly(lot("a\"b", 5, 0, ""));
    }

    @Test
    void withoutAHeaderTheOrderIsNameSizeFilesRegion() throws Exception {
        assertThat(read("# a remark\n\na,10\nb,1.5 TB,7\n\"c,d\",2KiB,8,east\n"))
                .containsExactly(
                        lot("a", 10, 0, ""), lot("b", 1_500_000_000_000L, 7, ""), lot("c,d", 2_048, 8, "east"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            name;size;experiments        | a;1;1,234     | 1234
            name;size;studies            | a;1;0         | 0
            dir;Sessions;size            | a;17;1        | 17
            project;size;experiments     | P1;1;480      | 480
            name;size;experiments        | a;1;          | 1
            experiment;size              | a;1           | 1
            project;experiment;size      | P1;S1;1       | 1
            size                         | 7             | 1
            project;size                 | P1;1          | 0
            project;size;experiments     | P1;1;         | 0
            """)
    void aLineIsOneExperimentUnlessItSaysOrIsAProject(String header, String line, long experiments) throws Exception {
        assertThat(read(header + "\n" + line + "\n"))
                .singleElement()
                .extracting(Lot::experiments)
                .isEqualTo(experiments);
    }

    @Test
    void aNumberOfExperimentsThatIsNoneIsRefusedByItsLine() {
        assertThatThrownBy(() -> read("name,size,experiments\na,1,2\nb,1,many\nc,1,-3\n"))
                .hasMessageContaining("line 3: \"many\" is not a number of experiments; expected 0 to 999,")
                .hasMessageContaining("line 4: \"-3\" is not a number of experiments")
                .hasMessageNotContaining("line 2");
        String most = "a,1,999999999999999999\n";
        assertThatThrownBy(() -> read("name,size,experiments\n" + most.repeat(10)))
                .hasMessageContaining("line 11: the total exceeds 9.2 EB, or 9.2 × 10¹⁸ files or experiments");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "917, 917",
        "917 B, 917",
        "1kB, 1000",
        "1K, 1000",
        "1 KiB, 1024",
        "2 Mbyte, 2000000",
        "3 GB, 3000000000",
        "1.5T, 1500000000000",
        "1 PiB, 1125899906842624",
        "12_000, 12000"
    })
    void sizesAreTakenWithAndWithoutUnits(String typed, long bytes) throws Exception {
        assertThat(read("a;" + typed)).containsExactly(lot("a", bytes, 0, ""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "-1", "1.5.5", "1e6", "1,5", "10 ib", "10 parsecs", "NaN", "", "0x10", "１２"})
    void aSizeThatIsNoneIsRefusedByItsLine(String typed) throws Exception {
        assertThatThrownBy(() -> read("name;size\na;1\nb;%s\n".formatted(typed)))
                .isInstanceOfSatisfying(
                        Failure.class, refused -> assertThat(refused.exitCode()).isEqualTo(Exit.REFUSED))
                .hasMessageContaining("sizes.csv line 3: ")
                .hasMessageContaining("expected");
    }

    @Test
    void allBadLinesAreToldAtOnceButNotThousands() {
        assertThatThrownBy(() -> read("name,size,files\na,x,1\nb,1,2\nc,1,-3\n"))
                .hasMessageContaining("line 2: \"x\" is not a size")
                .hasMessageContaining("line 4: \"-3\" is not a number of files")
                .hasMessageNotContaining("line 3");
        assertThatThrownBy(() -> read("a,1\n" + "b,x\n".repeat(5_000)))
                .hasMessageContaining("line 11")
                .hasMessageNotContaining("line 12");
    }

    @Test
    void whatHoldsNoSizesIsRefused() {
        for (String text : List.of("", "\n\n", "name,size\n", "# nothing\n")) {
            assertThatThrownBy(() -> read(text)).as(text).hasMessageContaining("no line with a size");
        }
        assertThatThrownBy(() -> read("just a text\nof two lines\n")).hasMessageContaining("line 1: no size");
        assertThatThrownBy(() -> SizesTable.read(folder.resolve("nix"))).hasMessageContaining("cannot be read");
        assertThatThrownBy(() -> SizesTable.read(folder)).hasMessageContaining("cannot be read");
    }

    @Test
    void moreThanCanBeCountedIsRefused() {
        assertThatThrownBy(() -> read("a,9000PB\nb,300PB\n")).hasMessageContaining("line 2: the total");
        assertThatThrownBy(() -> read("a,99999999999999999999 EB\n")).hasMessageContaining("line 1: the total");
        StringBuilder regions = new StringBuilder("name,size,region\n");
        for (int i = 0; i < 65; i++) {
            regions.append("a,1,").append(i).append('\n');
        }
        assertThatThrownBy(() -> read(regions.toString()))
                .hasMessageContaining("line 66: too many regions; the maximum is 64");
    }

    @Test
    void bytesThatAreNoTextAreTakenForNames() throws Exception {
        Path file = Files.write(folder.resolve("raw.csv"), new byte[] {(byte) 0x94, (byte) 0x5c, ',', '7', '\n'});

        assertThat(SizesTable.read(file)).singleElement().extracting(Lot::work).isEqualTo(new Work(7, 0));
    }

    private List<Lot> read(String text) throws Exception {
        return SizesTable.read(Files.write(folder.resolve("sizes.csv"), text.getBytes(StandardCharsets.UTF_8)));
    }

    private static Lot lot(String name, long bytes, long files, String region) {
        return new Lot(name, region, 1, new Work(bytes, files));
    }
}
