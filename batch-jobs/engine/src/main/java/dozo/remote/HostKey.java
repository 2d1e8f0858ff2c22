package dozo.remote;

import dozo.remote.RemoteException.Reason;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.util.List;
import java.util.Optional;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.digest.BuiltinDigests;

/**
 * A host's public key.
 *
 * @param line as in an OpenSSH public key file, without a comment: {@code ssh-ed25519 AAAA…}
 */
public record HostKey(String line) {

    /**
     * Returns the key that a host presents now. Whether it is the right host, only a person can tell, who compares the
     * fingerprint with one from a trusted source. Does not log in.
     *
     * @throws RemoteException UNREACHABLE if the host does not answer as an SSH server
     */
    public static HostKey presentedBy(String host, int port) throws RemoteException, InterruptedException {
        return new HostKey(PublicKeyEntry.toString(SshLogin.hostKey(host, port)));
    }

    /** Returns the keys in these lines. */
    public static List<HostKey> all(String lines) {
        return SiteAddress.hostKeyLines(lines).stream().map(HostKey::new).toList();
    }

    /** Returns its kind: {@code ssh-ed25519}. */
    public String kind() {
        return line.split("\\s", 2)[0];
    }

    /** Returns its fingerprint as {@code ssh-keygen -l} prints it; empty if the line is no key. */
    public String fingerprint() {
        return key(line)
                .map(key -> KeyUtils.getFingerPrint(BuiltinDigests.sha256, key))
                .orElse("");
    }

    static PublicKey key(SiteAddress site, String line) throws RemoteException {
        return key(line)
                .orElseThrow(() -> new RemoteException(
                        Reason.HOST_KEY, "the pinned host key of " + site + " must be an OpenSSH public key line"));
    }

    private static Optional<PublicKey> key(String line) {
        try {
            return Optional.of(PublicKeyEntry.parsePublicKeyEntry(line).resolvePublicKey(null, null, null));
        } catch (IOException | GeneralSecurityException | RuntimeException noKey) {
            return Optional.empty();
        }
    }
}
