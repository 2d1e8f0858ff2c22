package dozo;

import org.junit.jupiter.api.Test;
import org.springframework.modulith.core.ApplicationModules;

/** The rooms: no cycles, no reach into another's inside, and only what a room says it uses. */
class ModularityTest {

    @Test
    void roomsKeepToTheirDoors() {
        ApplicationModules.of(Application.class).verify();
    }
}
