package dozo.commitment;

import dozo.setting.WrongSetting;
import dozo.start.TlsPair;
import java.io.IOException;
import java.net.Socket;
import java.security.cert.X509Certificate;
import java.time.InstantSource;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.pem.PemSslStore;
import org.springframework.boot.ssl.pem.PemSslStoreBundle;

/**
 * TLS of requests and reports, as set. The files are read for each connection, so that new ones need no restart. Whose
 * certificate the file of trusted ones does not vouch for can neither ask nor get a report; names in certificates do not count.
 */
record Tls(CommitmentSettings settings, InstantSource clock) {

    /**
     * Returns what to talk over on a connection that came in; the handshake is at the first byte.
     *
     * @throws IOException if a file is wrong by now
     */
    Socket answering(Socket socket) throws IOException {
        if (!settings.isTls()) {
            return socket;
        }
        SSLSocket tls = (SSLSocket) context().getSocketFactory().createSocket(socket, null, true);
        tls.setUseClientMode(false);
        tls.setNeedClientAuth(settings.isMutual());
        return tls;
    }

    /** Returns what to talk over on a connection to a caller: TLS only if its certificate can be verified. */
    Socket asking(Socket socket, Caller caller) throws IOException {
        return settings.isMutual()
                ? context().getSocketFactory().createSocket(socket, caller.host(), caller.port(), true)
                : socket;
    }

    private SSLContext context() throws IOException {
        try {
            TlsPair pair = TlsPair.read(settings.tlsCertificateFile(), settings.tlsKeyFile(), clock.instant());
            List<X509Certificate> trusted =
                    settings.isMutual() ? TlsPair.trusted(settings.tlsTrustFile(), "tlsTrustFile") : List.of();
            return SslBundle.of(new PemSslStoreBundle(
                            PemSslStore.of(pair.chain(), pair.key()),
                            trusted.isEmpty() ? null : PemSslStore.of(trusted, null)))
                    .createSslContext();
        } catch (WrongSetting wrong) {
            throw new IOException("TLS is not possible: a file %s".formatted(wrong.why()), wrong);
        }
    }
}
