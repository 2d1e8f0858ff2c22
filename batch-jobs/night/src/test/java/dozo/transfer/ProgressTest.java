package dozo.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.transfer.TransferUnits.Progress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The share of a run: 100 % only if all units are verified, 0 % only if nothing is. */
class ProgressTest {

    @ParameterizedTest
    @CsvSource(
            useHeadersInDisplayName = true,
            value = {
                "units, done, entries,   bytes, bytesDone, moved, percent, percentMoved",
                "    0,    0,       0,       0,         0,     0,       0,            0",
                "    4,    0,       0,     100,         0,     0,       0,            0",
                "    4,    0,       0,     100,         0,    91,       0,           91",
                "    4,    1,       1, 1000000,         1,     0,       1,            1",
                "    4,    1,       1,     100,         9,    90,       9,           90",
                "    4,    1,       1,     100,        60,     9,      60,           60",
                "    4,    0,       2,     100,        66,     0,      66,           66",
                "    4,    3,       9, 1000000,   1000000,     0,      99,           99",
                "    4,    3,       9,     100,        99,   200,      99,           99",
                "    4,    4,       9,     100,       100,   200,     100,          100",
                "    4,    1,       1,       0,         0,     0,      25,           25",
                "  400,    1,       1,       0,         0,     0,       1,            1",
                "    4,    4,       9,       0,         0,     0,     100,          100"
            })
    void aShareIsNeitherAllNorNothingUnlessItIs(
            long units,
            long done,
            long entries,
            long bytes,
            long bytesDone,
            long moved,
            int percent,
            int percentMoved) {
        Progress progress = new Progress(units, done, 0, entries, bytes, bytesDone, moved);

        assertThat(progress.percent()).isEqualTo(percent);
        assertThat(progress.percentMoved()).isEqualTo(percentMoved);
    }
}
