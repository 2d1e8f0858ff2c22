package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.loopback.LoopbackSite;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.util.List;
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

    @Test
    void aNewKeyIsForItsOwnerAndNeverReplacesAnother() throws Exception {
        Path file = folder.resolve("site-key");
        Files.writeString(folder.resolve("site-key.new"), "half a key of a process that died");

        Identity.create(file, "a test");
        List<String> keys = Identity.publicKeys(file);

        assertThat(keys).singleElement().asString().matches("ssh-ed25519 AAAA[A-Za-z0-9+/=]+");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThatThrownBy(() -> Identity.create(file, "another")).isInstanceOf(FileAlreadyExistsException.class);
        assertThat(Identity.publicKeys(file)).isEqualTo(keys);
    }

    @Test
    void aFileWithoutAKeyIsRefused() throws Exception {
        Path broken = file("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n");

        assertThatThrownBy(() -> Identity.publicKeys(broken))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no private key can be read from");
        assertThat(Identity.publicKeys(file("no key"))).isEmpty();
    }

    @Test
    void aKeyThatOthersCanReadOrWriteIsNotUsedUnlessItIsTheirs() throws Exception {
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("keys"), folder, 0)) {
            Path key = site.address().identity();
            for (String mode : List.of("rw-r--r--", "rw-rw-rw-", "rw-r-----", "rw--w----")) {
                Files.setPosixFilePermissions(key, PosixFilePermissions.fromString(mode));
                try (Lanes lanes = Lanes.to(site.address(), 1)) {
                    assertThatThrownBy(lanes::next)
                            .as(mode)
                            .isInstanceOf(RemoteException.class)
                            .hasMessageContaining("other users can read or write the private key " + key)
                            .hasMessageContaining("chmod 600");
                }
            }
            if (Files.getAttribute(key, "unix:uid").equals(0)) {
                Files.setAttribute(key, "unix:uid", 1);
                Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
                try (Lanes lanes = Lanes.to(site.address(), 1)) {
                    assertThat(lanes.next()).isNotNull();
                }
            }
        }
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
