package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A package lists all of its software with licences and ages. What may not be shipped is refused by its name. */
class SoftwareTest {

    private static final LocalDateTime RELEASED = LocalDateTime.of(2026, 9, 20, 10, 11, 12);
    private static final Instant COMMIT = Instant.parse("2026-11-29T17:00:00Z");

    @TempDir
    private Path folder;

    private Path top;
    private Path stage;
    private final List<String> components = new ArrayList<>();

    @BeforeEach
    void aPackageOfTheProgramAlone() throws IOException {
        top = Files.createDirectory(folder.resolve("top"));
        stage = Files.createDirectory(folder.resolve("stage"));
        Files.writeString(top.resolve("LICENSE"), "the text of Apache-2.0");
        Files.writeString(top.resolve("NOTICE"), "Dozo\n");
        Files.createDirectories(top.resolve("service/src/main/licenses"));
        Files.createDirectories(stage.resolve("app/lib"));
        Files.createDirectories(stage.resolve("runtime/legal/java.base"));
        Files.writeString(stage.resolve("runtime/legal/java.base/LICENSE"), "the text of Java's licence");
        jar("app/own.jar", RELEASED);
        component("dozo", "service", "Apache-2.0", "");
    }

    @Test
    void everyJarIsListedWithItsLicenceAndAge() throws IOException {
        library("apache", "Apache-2.0", RELEASED);
        library("choice", "GPL-2.0-only\"}},{\"license\":{\"id\":\"MIT", RELEASED, "META-INF/LICENSE.txt");

        assertThat(problems()).isEmpty();
        assertThat(share("NOTICE"))
                .startsWith("Dozo\n")
                .contains("lib:apache 1: Apache-2.0\n", "lib:choice 1: MIT (also offered: GPL-2.0-only)\n");
        assertThat(share("software.tsv"))
                .contains("\ndozo:service\t1.0.0\tApache-2.0\t2026-11-29\t0\tapp/own.jar\n")
                .contains("\nlib:apache\t1\tApache-2.0\t2026-09-20\t70\tapp/lib/apache-1.jar\n");
        assertThat(share("software.cdx.json")).contains("pkg:apache", "pkg:choice", "oracle:openjdk");
        assertThat(share("licenses/Apache-2.0.txt")).isEqualTo("the text of Apache-2.0");
        assertThat(share("licenses/choice-1/META-INF/LICENSE.txt")).isEqualTo("META-INF/LICENSE.txt");
    }

    @Test
    void whatIsNotInThePackageIsNotListed() throws IOException {
        component("lib", "elsewhere", "Apache-2.0", "");

        assertThat(problems()).isEmpty();
        assertThat(share("software.cdx.json")).doesNotContain("elsewhere");
    }

    @Test
    void aLicenceThatIsUnknownOrNotAllowedIsRefused() throws IOException {
        library("copyleft", "GPL-3.0-only", RELEASED, "LICENSE");
        library("nameless", "", RELEASED, "LICENSE");

        assertThat(problems())
                .anyMatch(problem -> problem.startsWith("lib:copyleft 1: ") && problem.endsWith("; found GPL-3.0-only"))
                .anyMatch(problem -> problem.startsWith("lib:nameless 1: ") && problem.endsWith("; found none"))
                .hasSize(2);
        assertThat(stage.resolve("share/NOTICE")).doesNotExist();
    }

    @Test
    void aLicenceWithoutItsTextIsRefused() throws IOException {
        library("silent", "MIT", RELEASED);

        assertThat(problems())
                .containsExactly(
                        "lib:silent 1: expected a licence text in the jar or in service/src/main/licenses, found none");

        Files.writeString(top.resolve("service/src/main/licenses/silent.txt"), "the text of MIT");
        assertThat(problems()).isEmpty();
        assertThat(share("licenses/silent.txt")).isEqualTo("the text of MIT");
    }

    @Test
    void aTextThatNothingNeedsIsRefused() throws IOException {
        Files.writeString(top.resolve("service/src/main/licenses/gone.txt"), "the text of MIT");

        assertThat(problems())
                .containsExactly("service/src/main/licenses/gone.txt: expected a component that needs it, found none");
    }

    @Test
    void aJarThatTheBuildDoesNotListIsRefused() throws IOException {
        jar("app/lib/stray-1.jar", RELEASED);

        assertThat(problems()).containsExactly("stray-1.jar: expected a component of CycloneDX's list, found none");
    }

    @Test
    void aJarThatDiffersFromTheRegistryIsRefused() throws IOException {
        library("apache", "Apache-2.0", RELEASED);
        jar("app/lib/apache-1.jar", RELEASED, "added.class");

        assertThat(problems())
                .containsExactly("lib:apache 1: expected the file of the registry, found another SHA-256");
    }

    @Test
    void aTimeThatBuildsSetIsNoAge() throws IOException {
        library("gradle", "Apache-2.0", LocalDateTime.of(1980, 2, 1, 0, 0));
        library("midnight", "Apache-2.0", LocalDateTime.of(2024, 2, 14, 0, 0));
        library("parent", "Apache-2.0", LocalDateTime.of(2021, 1, 10, 15, 31));

        assertThat(problems()).isEmpty();
        assertThat(share("software.tsv"))
                .contains(
                        "lib:gradle\t1\tApache-2.0\tunknown\tunknown",
                        "lib:midnight\t1\tApache-2.0\tunknown\tunknown",
                        "lib:parent\t1\tApache-2.0\tunknown\tunknown");
    }

    private List<String> problems() throws IOException {
        Path bom = Files.writeString(
                folder.resolve("all.json"),
                "{\"metadata\":{\"component\":{\"version\":\"1.0.0\",\"bom-ref\":\"root\"}},\"components\":[%s]}"
                        .formatted(String.join(",", components)));
        return Software.list(top, stage, bom, COMMIT, "1.0.0");
    }

    private String share(String file) throws IOException {
        return Files.readString(stage.resolve("share").resolve(file));
    }

    private void library(String name, String licence, LocalDateTime time, String... texts) throws IOException {
        byte[] jar = jar("app/lib/%s-1.jar".formatted(name), time, texts);
        try {
            component(
                    "lib",
                    name,
                    licence,
                    HexFormat.of()
                            .formatHex(MessageDigest.getInstance("SHA-256").digest(jar)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private void component(String group, String name, String licence, String sha256) {
        components.add("""
                {"group":"%s","name":"%s","version":"%s","bom-ref":"pkg:%s","hashes":[{"alg":"SHA-256","content":"%s"}],
                 "licenses":[%s]}""".formatted(
                        group,
                        name,
                        group.equals("dozo") ? "1.0.0" : "1",
                        name,
                        sha256,
                        licence.isEmpty() ? "" : "{\"license\":{\"id\":\"%s\"}}".formatted(licence)));
    }

    /** Makes a jar with these entries, which contain their names. */
    private byte[] jar(String name, LocalDateTime time, String... entries) throws IOException {
        Path jar = stage.resolve(name);
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file)) {
            for (String each : List.of("A.class", String.join("", entries))) {
                if (!each.isEmpty()) {
                    JarEntry entry = new JarEntry(each);
                    entry.setTimeLocal(time);
                    out.putNextEntry(entry);
                    out.write(each.getBytes(StandardCharsets.UTF_8));
                }
            }
        }
        return Files.readAllBytes(jar);
    }
}
