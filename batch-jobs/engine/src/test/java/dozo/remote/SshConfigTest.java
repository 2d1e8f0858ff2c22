package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The client's configuration is read as ssh reads it. */
class SshConfigTest {

    private static final String FILE = """
            # comment in Latin-1: \u00e9
            User common
            Host dr dr-?
              HostName "dr.example.org"
              Port=2222
              user nobody
              IdentityFile ~/.ssh/dr
            Host *.example.org !secret.example.org
              IdentityFile ~/.ssh/example
              ProxyJump gate
            Host *
              Port 22
            """;

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "dr, HostName, dr.example.org",
        "dr-2, hostname, dr.example.org",
        "dr-22, HostName,",
        "dr, Port, 2222",
        "other, Port, 22",
        "dr, User, common",
        "dr, IdentityFile, ~/.ssh/dr",
        "x.example.org, IdentityFile, ~/.ssh/example",
        "secret.example.org, IdentityFile,",
        "x.example.org, PROXYJUMP, gate",
        "other, ProxyJump,"
    })
    void theFirstValueOfAMatchingHostCounts(String host, String keyword, String value) throws IOException {
        Path file = Files.write(folder.resolve("config"), FILE.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1));

        assertThat(SshConfig.in(file).value(host, keyword).orElse(null)).isEqualTo(value);
    }

    @Test
    void aMissingFileSaysNothing() throws IOException {
        assertThat(SshConfig.in(folder.resolve("none")).value("dr", "Port")).isEmpty();
    }

    @Test
    void includedFilesAreReadWhereTheyAreNamed() throws IOException {
        Files.createDirectory(folder.resolve("config.d"));
        Files.writeString(folder.resolve("config.d/b"), "User second\nHost gate\n  Port 24\n");
        Files.writeString(folder.resolve("config.d/a"), "User first\n");
        Path file = Files.writeString(folder.resolve("config"), """
                Host dr
                  Include config.d/* nowhere/*
                  Port 23
                Match user x
                  Port 25
                Host gate
                  Port 26
                """);
        SshConfig config = SshConfig.in(file);

        assertThat(config.value("dr", "User")).hasValue("first");
        assertThat(config.value("dr", "Port")).hasValue("23");
        assertThat(config.value("gate", "User")).isEmpty();
        assertThat(config.value("gate", "Port"))
                .as("the file is included for dr only")
                .hasValue("26");
        assertThat(config.value("other", "Port")).isEmpty();
    }

    @Test
    void aFileThatIncludesItselfIsRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("config"), "Include config\n");

        assertThatThrownBy(() -> SshConfig.in(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("levels deep");
    }
}
