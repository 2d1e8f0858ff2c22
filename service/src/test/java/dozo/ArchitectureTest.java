package dozo;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZonedDateTime;
import java.util.Set;
import org.springframework.beans.factory.annotation.Autowired;

/** What the compiler does not hold and a reviewer should not have to. */
@AnalyzeClasses(
        packages = "dozo",
        importOptions = {DoNotIncludeTests.class, ArchitectureTest.WithoutTestJars.class})
class ArchitectureTest {

    /** What other modules test with is on our class path as jars of their own. */
    static final class WithoutTestJars implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return !location.contains("-tests.jar");
        }
    }

    /** What the room has around the engine: all else in it is the engine. */
    private static final Set<String> TRANSFER_FOR_THE_BATCH =
            Set.of("TransferUnits", "TagFiles", "Sha256Sums", "package-info");

    private static final Set<String> RESTORE_FOR_THE_SERVICE =
            Set.of("Inventories", "RestoreQueue", "Restores", "package-info");

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
            .resideOutsideOfPackages("dozo.remote..", "dozo.demo..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.apache.sshd..")
            .because("whoever changes the SSH library should have one room to look through");

    @ArchTest
    static final ArchRule theEngineStandsAlone = noClasses()
            .that(areOfTheEngine())
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.springframework..", "java.sql..", "javax.sql..", "jakarta..")
            .because("copying without a service, benchmarks and the batch drive the same code");

    @ArchTest
    static final ArchRule facesAskRooms = noClasses()
            .that()
            .resideInAnyPackage("dozo.ui..", "dozo.administration..")
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

    private static DescribedPredicate<JavaClass> areOfTheEngine() {
        return DescribedPredicate.describe("are of the engine", type -> switch (type.getPackageName()) {
            // What a room may use is written on its package by an annotation of Spring's, which nothing needs to run.
            case "dozo.copy",
                    "dozo.file",
                    "dozo.plan",
                    "dozo.remote",
                    "dozo.source",
                    "dozo.source.delivery",
                    "dozo.source.dicom",
                    "dozo.source.dicomweb",
                    "dozo.source.flywheel",
                    "dozo.source.http" -> !type.getSimpleName().equals("package-info");
            case "dozo.restore" ->
                !RESTORE_FOR_THE_SERVICE.contains(outermost(type).getSimpleName());
            case "dozo.transfer" ->
                !TRANSFER_FOR_THE_BATCH.contains(outermost(type).getSimpleName());
            default -> false;
        });
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(ArchitectureTest::outermost).orElse(type);
    }
}
