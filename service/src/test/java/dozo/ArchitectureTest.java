package dozo;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dozo.remote.Lanes;
import dozo.remote.Passwords;
import dozo.remote.SiteAddress;
import dozo.remote.TuningStart;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZonedDateTime;
import org.springframework.beans.factory.annotation.Autowired;

/** Rules that the compiler does not check and a reviewer should not have to. */
@AnalyzeClasses(
        packages = "dozo",
        importOptions = {DoNotIncludeTests.class, ArchitectureTest.WithoutTestJars.class})
class ArchitectureTest {

    /** Excludes the test jars of other modules, which are on the class path. */
    static final class WithoutTestJars implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return !location.contains("-tests.jar");
        }
    }

    @ArchTest
    static final ArchRule namesSaySomething = noClasses()
            .should()
            .haveSimpleNameEndingWith("Impl")
            .orShould()
            .haveSimpleNameEndingWith("Util")
            .orShould()
            .haveSimpleNameEndingWith("Utils")
            .orShould()
            .haveSimpleNameEndingWith("Helper")
            .orShould()
            .haveSimpleNameEndingWith("Manager")
            .orShould()
            .haveSimpleNameEndingWith("Dto")
            .because("a class is named for what it is in the glossary's words");

    @ArchTest
    static final ArchRule oneRoomSpeaksSsh = noClasses()
            .that()
            .resideOutsideOfPackages("dozo.remote..", "dozo.loopback..", "dozo.demo..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.apache.sshd..")
            .because("whoever changes the SSH library should have one room to look through");

    @ArchTest
    static final ArchRule onlyCommandsAskForPasswords = noClasses()
            .that()
            .resideOutsideOfPackages("dozo.remote..", "dozo.command..")
            .should()
            .dependOnClassesThat()
            .belongToAnyOf(Passwords.class)
            .because("a service logs in at sites with keys alone");

    @ArchTest
    static final ArchRule theServiceChecksItsPackets = noClasses()
            .that()
            .resideInAnyPackage("dozo.api..", "dozo.drill..", "dozo.restore..", "dozo.run..", "dozo.ui..")
            .should()
            .callMethod(Lanes.class, "to", SiteAddress.class, int.class)
            .orShould()
            .callMethod(Lanes.class, "to", SiteAddress.class, int.class, int.class)
            .orShould()
            .callMethod(Lanes.class, "tuned", SiteAddress.class)
            .orShould()
            .callMethod(Lanes.class, "tuned", SiteAddress.class, TuningStart.class)
            .because("SiteLanes has every packet checked: another service may have taken over (ADR 0081)");

    @ArchTest
    static final ArchRule facesAskRooms = noClasses()
            .that()
            .resideInAPackage("dozo.ui..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.springframework.jdbc..", "java.sql..", "javax.sql..")
            .because("what a page changes, a room changes with its row in the ledger, as for REST");

    @ArchTest
    static final ArchRule timeIsInjected = noClasses()
            .that()
            .resideOutsideOfPackage("dozo.start..")
            .should()
            .callMethod(Instant.class, "now")
            .orShould()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .callMethod(LocalDate.class, "now")
            .orShould()
            .callMethod(LocalDateTime.class, "now")
            .orShould()
            .callMethod(ZonedDateTime.class, "now")
            .because("a test must be able to say what time it is");

    @ArchTest
    static final ArchRule nothingIsInjectedIntoFields = fields().should()
            .notBeAnnotatedWith(Autowired.class)
            .because("a constructor shows what a class needs, and the compiler sees that it gets it");

    @ArchTest
    static final ArchRule filesArePaths = noClasses()
            .that()
            .resideOutsideOfPackage("dozo.db..")
            .should()
            .dependOnClassesThat()
            .belongToAnyOf(java.io.File.class)
            .because("java.io.File cannot hold every name that a file system can");
}
