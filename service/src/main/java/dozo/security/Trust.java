package dozo.security;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Collection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Whose certificates are trusted. */
public final class Trust {

    private Trust() {}

    /** Returns what trusts the certificates in this file; if it has no name, those that Java trusts. */
    static SSLContext in(String caFile) throws IOException, GeneralSecurityException {
        if (caFile.isEmpty()) {
            return SSLContext.getDefault();
        }
        try (InputStream in = Files.newInputStream(Path.of(caFile))) {
            return in(CertificateFactory.getInstance("X.509").generateCertificates(in));
        }
    }

    /** Returns what trusts these certificates, and no others. */
    public static SSLContext in(Collection<? extends Certificate> certificates)
            throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        for (Certificate certificate : certificates) {
            store.setCertificateEntry("ca" + store.size(), certificate);
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }
}
