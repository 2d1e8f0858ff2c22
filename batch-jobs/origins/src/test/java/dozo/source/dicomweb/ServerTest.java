package dozo.source.dicomweb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dozo.source.delivery.Server;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses are checked, and a password is never sent without TLS. */
class ServerTest {

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "host",
                "ftp://host",
                "http://",
                "http://u:p@host",
                "http://host?x",
                "http://host#x",
                "http://a b"
            })
    void whatIsNoAddressIsRefused(String address) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Server.at(address))
                .withMessageContaining("HOST");
    }

    @ParameterizedTest
    @ValueSource(strings = {"https://pacs.example", "http://127.0.0.1:8042/", "http://localhost:8042/orthanc"})
    void aPasswordGoesOverTlsOrStaysHere(String address) throws Exception {
        Server server = Server.at(address, Files.writeString(folder.resolve("login"), "dozo:pass word\n"));

        assertThat(server.authorization()).isEqualTo("Basic ZG96bzpwYXNzIHdvcmQ=");
        assertThat(server.base().toString()).doesNotEndWith("/");
        assertThat(server.toString()).doesNotContain("pass").doesNotContain("ZG96");
    }

    @Test
    void aPasswordDoesNotGoOverAnOpenNetwork() throws Exception {
        Path login = Files.writeString(folder.resolve("login"), "dozo:secret");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> Server.at("http://pacs.example", login))
                .withMessageContaining("https");
        assertThat(Server.at("http://pacs.example").authorization()).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "secret", ":secret", "dozo:", "dozo:a\nb", "dozo:\u00e4"})
    void whatIsNoLoginIsRefusedAndNotShown(String text) throws Exception {
        Path login = Files.writeString(folder.resolve("login"), text);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> Server.at("https://pacs.example", login))
                .withMessageContaining("NAME:PASSWORD")
                .withMessageNotContaining("secret");
    }
}
