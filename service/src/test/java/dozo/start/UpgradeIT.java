package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The service is stopped in the middle of a night for an upgrade. The units in flight end; the next version upgrades the
 * schema, continues the night, and sends nothing twice.
 */
class UpgradeIT extends NightOfProcesses {

    UpgradeIT() {
        super(1, 200);
    }

    @Test
    void aNightContinuesAfterAnUpgradeAndSendsNothingTwice() throws Exception {
        Process old = serve("service", Map.of());
        awaitUnits(3);

        stop("service");
        assertThat(old.exitValue()).as("ended by SIGTERM").isEqualTo(143);
        assertUnderWay();
        Map<String, String> before = tree(copy(0));
        assertThat(before).isNotEmpty();

        serve("service", Map.of(), nextVersion());
        assertEndsWhole(1, IN_FLIGHT_MAX);

        assertThat(count("select count(*) from of_the_next_version")).isZero();
        assertThat(tree(copy(0))).containsAllEntriesOf(before);

        stop("service");
        settings.put("DOZO_DB_START_WAIT", "1s");
        assertThat(serve("service", Map.of()).waitFor())
                .as("the earlier version")
                .isEqualTo(StartFailure.UNAVAILABLE);
        assertThat(said("service"))
                .contains(
                        "a later version of Dozo has upgraded the database: it has schema 999912312359, this program has");
    }

    /** Returns a folder for the class path, with a migration that the present version does not have. */
    private Path nextVersion() throws IOException {
        Path migrations = Files.createDirectories(folder.resolve("next/db/migration"));
        Files.writeString(
                migrations.resolve("V999912312359__of_the_next_version.sql"),
                "create table of_the_next_version (id bigint primary key);");
        return folder.resolve("next");
    }
}
