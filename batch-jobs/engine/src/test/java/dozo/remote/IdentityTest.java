package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.writer.openssh.OpenSSHKeyEncryptionContext;
import org.apache.sshd.common.config.keys.writer.openssh.OpenSSHKeyPairResourceWriter;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A private key with a passphrase is recognised before any connection is made. */
class IdentityTest {

    @TempDir
    Path folder;

    @Test
    void keysWithAPassphraseAreSeen() throws Exception {
        OpenSSHKeyEncryptionContext passphrase = new OpenSSHKeyEncryptionContext();
        passphrase.setPassword("secret");
        passphrase.setCipherType("256");

        assertThat(Identity.isEncrypted(key(null))).isFalse();
        assertThat(Identity.isEncrypted(key(passphrase))).isTrue();
    }

    @Test
    void soAreOlderForms() throws Exception {
        assertThat(Identity.isEncrypted(file("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n")))
                .isTrue();
        assertThat(Identity.isEncrypted(file("-----BEGIN ENCRYPTED PRIVATE KEY-----\n")))
                .isTrue();
        assertThat(Identity.isEncrypted(file("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n")))
                .isFalse();
        assertThat(Identity.isEncrypted(file(""))).isFalse();
    }

    private Path key(OpenSSHKeyEncryptionContext passphrase) throws Exception {
        KeyPair fresh = KeyUtils.generateKeyPair(KeyPairProvider.SSH_ED25519, 256);
        Path file = folder.resolve("key");
        try (OutputStream out = Files.newOutputStream(file)) {
            OpenSSHKeyPairResourceWriter.INSTANCE.writePrivateKey(fresh, "a key", passphrase, out);
        }
        return file;
    }

    private Path file(String text) throws Exception {
        return Files.writeString(folder.resolve("key"), text);
    }
}
