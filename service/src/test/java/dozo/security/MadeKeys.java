package dozo.security;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Keys with certificates that they signed themselves, made by Java's keytool. */
public final class MadeKeys {

    public static final String PASSWORD = "changeit";

    private MadeKeys() {}

    /** Makes a key store with a key and its certificate, valid for 30 days from a start such as {@code -40d}. */
    public static Path store(Path file, String algorithm, String names, String start) throws Exception {
        keytool(
                "-genkeypair -keyalg %s -alias a -dname CN=test -ext san=%s -startdate %s -validity 30 -storetype PKCS12 -storepass %s"
                        .formatted(algorithm, names, start, PASSWORD),
                "-keystore",
                file.toString());
        return file;
    }

    /** Returns the certificate in PEM format. */
    public static String certificate(Path store) throws Exception {
        return certificate(open(store).getCertificate("a"));
    }

    public static String certificate(Certificate certificate) throws Exception {
        return pem("CERTIFICATE", certificate.getEncoded());
    }

    /** Returns the private key in PEM format, unencrypted. */
    public static String key(Path store) throws Exception {
        Key key = open(store).getKey("a", PASSWORD.toCharArray());
        return pem("PRIVATE KEY", key.getEncoded());
    }

    /** Replaces the content of a file that only its owner may write to. */
    public static void write(Path file, String content) throws Exception {
        Files.writeString(file, content);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    private static KeyStore open(Path store) throws Exception {
        return KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
    }

    private static String pem(String what, byte[] content) {
        return "-----BEGIN %1$s-----%n%2$s%n-----END %1$s-----%n"
                .formatted(what, Base64.getMimeEncoder().encodeToString(content));
    }

    private static void keytool(String words, String... more) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of(words.split(" ", -1)));
        command.addAll(List.of(more));
        Process process = new ProcessBuilder(command).inheritIO().start();
        assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).isZero();
    }
}
