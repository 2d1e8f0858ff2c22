package dozo.manifest;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.Problem;
import dozo.manifest.Catalogue.Tree;
import dozo.manifest.SourceLook.Ingested;
import dozo.registry.Experiments.Experiment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A sweep over a project is detected by the number of experiments that lose their share, even if each loses little.
 * Ordinary work is not a sweep.
 */
class SweepTest {

    @TempDir
    Path source;

    private Catalogue catalogue;
    private final List<Experiment> experiments = new ArrayList<>();
    private final List<Tree> trees = new ArrayList<>();

    @BeforeEach
    void makeAProject() throws Exception {
        catalogue = new Catalogue(Files.createDirectory(source.resolve("E")));
    }

    @Test
    void aSweepThatTakesLittleOfEachExperimentIsHeldBeforeATenthIsSealed() {
        for (int i = 0; i < 200; i++) {
            add(i, 150);
        }
        nextNight();

        int sealed = 0;
        for (int i = 0; i < experiments.size(); i++) {
            change(i, 0, 40);
            Ingested night = look(i);
            sealed += night.sealed() ? 1 : 0;
            if (!night.sealed()) {
                assertThat(night.findings()).singleElement().satisfies(finding -> {
                    assertThat(finding.reason()).isEqualTo(Problem.FROZEN);
                    assertThat(finding.message())
                            .startsWith("40 of 150 files and links vanished or changed")
                            .contains("Other experiments of project p lost a similar share within a day.");
                });
            }
        }
        assertThat(sealed).isBetween(1, 19);
        assertThat(catalogue.count("select count(*) from frozen_experiment")).isEqualTo(200 - sealed);

        catalogue.freezes.release(experiments.getLast(), "operator", null);
        assertThat(look(experiments.size() - 1).sealed()).isTrue();
    }

    @Test
    void whatIsLostOnOneDayAfterTheOtherIsNoSweep() {
        for (int i = 0; i < 20; i++) {
            add(i, 150);
        }
        for (int i = 0; i < 20; i++) {
            if (i % 4 == 0) {
                nextNight();
            }
            change(i, 0, 40);
            assertThat(look(i).sealed()).as("experiment %d", i).isTrue();
        }
    }

    /**
     * A made-up year: three experiments a week are added and grow for some days, now and then a few files are
     * corrected, once a week one experiment's result folder is recomputed, once a month those of three.
     */
    @Test
    void aYearOfOrdinaryWorkFreezesNothing() {
        Random dice = new Random(9);
        for (int night = 0; night < 365; night++) {
            nextNight();
            if (night % 7 < 3) {
                add(experiments.size(), 20 + dice.nextInt(180));
            }
            int grown = Math.max(0, experiments.size() - 1 - dice.nextInt(3));
            trees.get(grown).put("sub/late-%d".formatted(night), 1_000, 1);
            assertSealed(grown, night);
            if (night % 3 == 0) {
                correct(dice.nextInt(experiments.size()), 2, night);
            }
            if (night % 7 == 5) {
                correct(dice.nextInt(experiments.size()), 9, night);
            }
            if (night % 30 == 29) {
                for (int i = 0; i < 3; i++) {
                    correct(dice.nextInt(experiments.size()), 9, night);
                }
            }
        }
        assertThat(catalogue.count("select count(*) from frozen_experiment")).isZero();
    }

    private void correct(int experiment, int files, int night) {
        for (int i = 0; i < files; i++) {
            trees.get(experiment).put("sub/image-%d".formatted(i), 1_000, 2 + night);
        }
        assertSealed(experiment, night);
    }

    private void assertSealed(int experiment, int night) {
        assertThat(look(experiment).findings()).as("night %d", night).isEmpty();
    }

    private void add(int number, int files) {
        experiments.add(catalogue.another("S" + number));
        trees.add(new Tree());
        for (int file = 0; file < files; file++) {
            trees.get(number).put("sub/image-%d".formatted(file), 1_000, 1);
        }
        assertThat(look(number).sealed()).isTrue();
    }

    private void change(int experiment, int from, int to) {
        for (int file = from; file < to; file++) {
            trees.get(experiment).put("sub/image-%d".formatted(file), 1_000, 2);
        }
    }

    private Ingested look(int number) {
        return catalogue.look(experiments.get(number), trees.get(number));
    }

    private void nextNight() {
        catalogue.now = catalogue.now.plus(Duration.ofDays(1));
    }
}
