package dozo.remote;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.sshd.client.future.AuthFuture;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.client.session.ClientUserAuthService;
import org.apache.sshd.common.NamedFactory;
import org.apache.sshd.common.Service;
import org.apache.sshd.common.ServiceFactory;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.auth.UserAuthMethodFactory;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.OpenSshCertificate;
import org.apache.sshd.common.io.IoWriteFuture;
import org.apache.sshd.common.kex.extension.DefaultClientKexExtensionHandler;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.signature.Signature;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.common.util.buffer.ByteArrayBuffer;

/**
 * A login whose first request is signed already (RFC 4252, 7). MINA's own first asks for the methods and whether the
 * key is accepted: two more round trips, and OpenSSH delays its answer to the second by at least 5 ms. If the first
 * request fails, the login continues as MINA's does.
 */
final class FirstTry extends ClientUserAuthService {

    static final ServiceFactory FACTORY = new ServiceFactory() {
        @Override
        public String getName() {
            return "ssh-userauth";
        }

        @Override
        public Service create(Session session) {
            return new FirstTry(session);
        }
    };

    private FirstTry(Session session) {
        super(session);
    }

    @Override
    protected IoWriteFuture sendInitialAuthRequest(ClientSession session, String service) throws IOException {
        try {
            Iterator<KeyPair> ours = session.getFactoryManager()
                    .getKeyIdentityProvider()
                    .loadKeys(session)
                    .iterator();
            if (ours.hasNext()) {
                KeyPair key = ours.next();
                // NB: with a certificate, the names of the algorithm and of the signature differ.
                Optional<NamedFactory<Signature>> algorithm = key.getPublic() instanceof OpenSshCertificate
                        ? Optional.empty()
                        : algorithm(session, KeyUtils.getKeyType(key));
                if (algorithm.isPresent()) {
                    return session.writePacket(signed(session, service, key, algorithm.get()));
                }
            }
        } catch (GeneralSecurityException e) {
            throw new IOException("the private key cannot be used", e);
        }
        return super.sendInitialAuthRequest(session, service);
    }

    @Override
    protected void tryNext(int command, AuthFuture future) throws Exception {
        getSession()
                .getConnectionContext()
                .getAttribute(SshLogin.SEEN)
                .offered()
                .set(List.copyOf(serverMethods));
        super.tryNext(command, future);
    }

    /**
     * Returns the first algorithm for a key of this type that the server accepts, if it has listed those (RFC 8308,
     * 3.1).
     */
    private static Optional<NamedFactory<Signature>> algorithm(ClientSession session, String keyType) {
        Set<String> suiting = new HashSet<>(KeyUtils.getAllEquivalentKeyTypes(keyType));
        suiting.add(keyType);
        Set<String> welcome = session.getAttribute(DefaultClientKexExtensionHandler.SERVER_ALGORITHMS);
        return session.getSignatureFactories().stream()
                .filter(each -> suiting.contains(each.getName()))
                .filter(each -> welcome == null || welcome.contains(each.getName()))
                .findFirst();
    }

    private static Buffer signed(ClientSession session, String service, KeyPair key, NamedFactory<Signature> algorithm)
            throws GeneralSecurityException {
        ByteArrayBuffer request = new ByteArrayBuffer();
        request.putString(session.getUsername());
        request.putString(service);
        request.putString(UserAuthMethodFactory.PUBLIC_KEY);
        request.putBoolean(true);
        request.putString(algorithm.getName());
        request.putPublicKey(key.getPublic());
        byte[] content = request.getCompactData();
        ByteArrayBuffer signing = new ByteArrayBuffer();
        signing.putBytes(session.getSessionId());
        signing.putByte(SshConstants.SSH_MSG_USERAUTH_REQUEST);
        signing.putRawBytes(content);
        Signature signature = algorithm.create();
        try {
            signature.initSigner(session, key.getPrivate());
            signature.update(session, signing.getCompactData());
            ByteArrayBuffer blob = new ByteArrayBuffer();
            blob.putString(algorithm.getName());
            blob.putBytes(signature.sign(session));
            Buffer packet = session.createBuffer(SshConstants.SSH_MSG_USERAUTH_REQUEST);
            packet.putRawBytes(content);
            packet.putBytes(blob.getCompactData());
            return packet;
        } catch (GeneralSecurityException e) {
            throw e;
        } catch (Exception e) {
            throw new GeneralSecurityException(e);
        }
    }
}
