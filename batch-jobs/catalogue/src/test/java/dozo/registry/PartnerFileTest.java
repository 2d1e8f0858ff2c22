package dozo.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.remote.GuardedSite;
import dozo.remote.Identity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The files of partners: what Dozo writes it reads, and nothing else. */
class PartnerFileTest {

    @TempDir
    Path folder;

    private String key;
    private PartnerFile file;

    @BeforeEach
    void makeFile() throws Exception {
        key = key("one");
        file = new PartnerFile(
                Instant.parse("2026-11-30T20:00:00Z"),
                List.of(key),
                "backup.kyoto.example.org",
                22,
                List.of(key("host")),
                "dozo-osaka",
                "/srv/dozo-osaka",
                20_000_000_000_000L,
                "Asia/Tokyo",
                List.of("daily 06:00-20:00 closed"));
    }

    private String key(String name) throws IOException {
        Identity.create(folder.resolve(name), "test");
        return Identity.publicKeys(folder.resolve(name)).getFirst();
    }

    @Test
    void aFileIsReadAsItWasWritten() {
        assertThat(PartnerFile.of(file.text())).isEqualTo(file);
        assertThat(PartnerFile.of("# said by telephone\r\n" + file.text().replace("\n", "\r\n")))
                .as("as a mail program leaves it")
                .isEqualTo(file);
        assertThat(file.fingerprint()).matches("([0-9a-f]{4} ){7}[0-9a-f]{4}");
        assertThat(PartnerFile.of(file.text()).fingerprint()).isEqualTo(file.fingerprint());
        assertThat(file.issued(Instant.parse("2026-12-01T20:00:00Z")).fingerprint())
                .isNotEqualTo(file.fingerprint());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    Dozo partner 1                  | Dozo partner 2
                    Dozo partner 1                  | Dozo
                    host: backup                    | host: -oProxyCommand=x
                    host: backup                    | host: a b
                    port: 22                        | port: 0
                    port: 22                        | port: 022
                    port: 22                        | port: 70000
                    port: 22                        | port: 99999999999
                    account: dozo-osaka             | account: -x
                    account: dozo-osaka             | account: root;id
                    root: /srv/dozo-osaka           | root: /srv/../etc
                    root: /srv/dozo-osaka           | root: srv
                    root: /srv/dozo-osaka           | root: /
                    root: /srv/dozo-osaka           | root: /srv/a b
                    root: /srv/dozo-osaka           | root: /srv/$(id)
                    root: /srv/dozo-osaka           | root: /srv/-x
                    root: /srv/dozo-osaka           | root: /srv/x/
                    quota: 20000000000000           | quota: 5
                    quota: 20000000000000           | quota: -20000000000000
                    quota: 20000000000000           | quota: 9999999999999999999
                    zone: Asia/Tokyo                | zone: Mars/Base
                    hours: daily 06:00-20:00 closed | hours: daily 00:00-24:00 closed
                    hours: daily 06:00-20:00 closed | hours: now
                    issued: 2026-11-30T20:00:00Z    | issued: yesterday
                    issued: 2026-11-30T20:00:00Z    | issued: 2026-11-30T20:00:00.5Z
                    key: ssh-ed25519                | key: command="id" ssh-ed25519
                    key: ssh-ed25519                | key: restrict,ssh-ed25519
                    key: ssh-ed25519                | key: ssh-rsa
                    key: ssh-ed25519                | key: ssh-ed25519 AAAA
                    account: dozo-osaka             | other: dozo-osaka
                    """)
    void whatIsNotAsExpectedIsRefused(String line, String instead) {
        assertThat(file.text()).contains(line);

        assertRefused(file.text().replaceFirst("(?m)^" + line, java.util.regex.Matcher.quoteReplacement(instead)));
    }

    @Test
    void moreThanAFileShouldHaveIsRefused() throws IOException {
        String text = file.text();
        assertRefused("");
        assertRefused("# only a comment");
        assertRefused(text + "host: other");
        assertRefused(text + "account: dozo-osaka");
        assertRefused(text + "more: x");
        assertRefused(text + "\u001b[2Jkey: " + key);
        assertRefused(text.replace("root: ", "root:\u0000 "));
        assertRefused(text.replace("key: ", "key:  "));
        assertRefused(text.replace("\nkey: " + key, "\nkey: " + key + " comment"));
        assertRefused(text.replace("\nkey: " + key, ""));
        assertRefused(text + "#".repeat(PartnerFile.LENGTH_MAX));
        StringBuilder keys = new StringBuilder(text);
        for (int i = 0; i < PartnerFile.KEYS_MAX; i++) {
            keys.insert(keys.indexOf("host: "), "key: " + key("more" + i) + "\n");
        }
        assertRefused(keys.toString());
    }

    private static void assertRefused(String text) {
        assertThatThrownBy(() -> PartnerFile.of(text)).as(text).isInstanceOf(Refusal.class);
    }

    /** As root runs it twice, on a machine of its own: what it changes is in layers over the folders of this one. */
    @Test
    void theScriptCreatesTheAccountWithTheGuardOnly() throws Exception {
        String guard = GuardedSite.path();
        Path count = Path.of("/var/lib/dozo-partner/dozo-osaka/count");
        Path script = Files.writeString(folder.resolve("script"), PartnerAccount.script("osaka", file, file, count));
        Path layers = Files.createDirectory(folder.resolve("layers"));
        Process shell = new ProcessBuilder("unshare", "-m", "bash", "-euc", """
                mount -t tmpfs tmpfs %1$s
                for each in etc var srv usr/local; do
                    mkdir -p %1$s/{new,work}/$each
                    mount -t overlay overlay -o lowerdir=/$each,upperdir=%1$s/new/$each,workdir=%1$s/work/$each /$each
                done
                mkdir -p /etc/cron.d
                ! sh %2$s || exit 1
                install -D %3$s /usr/local/lib/dozo-guard.py
                sh %2$s
                cp -a /etc/passwd /var/lib/dozo-partner /etc/cron.d/dozo-partner-dozo-osaka %1$s
                sh %2$s
                diff /etc/passwd %1$s/passwd
                diff -r /var/lib/dozo-partner/dozo-osaka/.ssh %1$s/dozo-partner/dozo-osaka/.ssh
                stat -c '%%U %%a %%F' /srv/dozo-osaka /var/lib/dozo-partner/dozo-osaka/{.,.ssh,.ssh/authorized_keys,count}
                cat /var/lib/dozo-partner/dozo-osaka/{.ssh/authorized_keys,count} /etc/cron.d/dozo-partner-dozo-osaka
                sed -i 's|:/var/lib/dozo-partner/dozo-osaka:|:/home/other:|' /etc/passwd
                ! sh %2$s || exit 1
                """.formatted(layers, script, guard))
                .redirectErrorStream(true)
                .start();
        String said = new String(shell.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);

        assertThat(shell.waitFor()).as(said).isZero();
        assertThat(said)
                .contains("install dozo-guard.py first")
                .contains("""
                        dozo-osaka 700 directory
                        root 755 directory
                        root 755 directory
                        root 644 regular file
                        dozo-osaka 644 regular file
                        """)
                .contains(
                        "restrict,command=\"python3 -IS /usr/local/lib/dozo-guard.py /srv/dozo-osaka 20000000000000 %s %s\" %s\n"
                                .formatted(count, file.keyFingerprints().getFirst(), key))
                .containsPattern("used 0{20} changes \\d{20} counted \\d{20} quota 00000020000000000000\n")
                .contains("--count /srv/dozo-osaka 20000000000000 " + count)
                .contains("the account dozo-osaka is used for something else");
    }
}
