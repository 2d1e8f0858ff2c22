package dozo;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import org.junit.jupiter.api.Test;
import org.springframework.modulith.core.ApplicationModules;

/** The rooms: no cycles, no access to another room's internals, and only declared dependencies. */
class ModularityTest {

    private static final ImportOption MAIN = location ->
            new DoNotIncludeTests().includes(location) && new ArchitectureTest.WithoutTestJars().includes(location);

    @Test
    void roomsKeepToTheirDoors() {
        ApplicationModules.of(Application.class, MAIN).verify();
    }
}
