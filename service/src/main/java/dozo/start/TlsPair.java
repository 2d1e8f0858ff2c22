package dozo.start;

import dozo.setting.WrongSetting;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.pem.PemContent;

/**
 * The certificate and the private key with which the service itself offers TLS.
 *
 * @param chain the service's certificate, then those of its issuers
 */
public record TlsPair(List<X509Certificate> chain, PrivateKey key) {

    static final String CERTIFICATE_FILE = "tlsCertificateFile";
    static final String KEY_FILE = "tlsKeyFile";

    private static final int BYTES_MAX = 1 << 20;
    private static final byte[] SIGNED = {1};

    /** Checks two files that are set, or neither, as {@link #read} does now. */
    public static void check(String certificateFile, String keyFile) {
        if (!(certificateFile + keyFile).isEmpty()) {
            read(certificateFile, keyFile, Instant.now());
        }
    }

    /**
     * Reads two files in PEM format.
     *
     * @throws WrongSetting if a file is wrong, if they do not belong together, or if a certificate is not valid now
     */
    public static TlsPair read(String certificateFile, String keyFile, Instant now) {
        // Each file is checked before the other one is missed.
        List<X509Certificate> chain = certificateFile.isEmpty() ? List.of() : valid(certificateFile, now);
        Optional<PrivateKey> given = keyFile.isEmpty() ? Optional.empty() : Optional.of(key(keyFile));
        if (chain.isEmpty()) {
            throw new WrongSetting(CERTIFICATE_FILE, "is missing, but the key's file is set: set both, or neither");
        }
        PrivateKey key = given.orElseThrow(() ->
                new WrongSetting(KEY_FILE, "is missing, but the certificate's file is set: set both, or neither"));
        if (!belongTogether(chain.getFirst(), key)) {
            throw new WrongSetting(
                    KEY_FILE,
                    "names %s, which is not the key of the first certificate in %s"
                            .formatted(keyFile, certificateFile));
        }
        return new TlsPair(chain, key);
    }

    /** Returns when the first certificate of the chain expires. */
    public Instant expiresAt() {
        return chain.stream()
                .map(each -> each.getNotAfter().toInstant())
                .min(Instant::compareTo)
                .orElseThrow();
    }

    /**
     * Reads certificates of others, which may have expired.
     *
     * @param component of the settings, which a refusal names
     * @throws WrongSetting if the file has no certificate
     */
    public static List<X509Certificate> trusted(String file, String component) {
        return parsed(component, file, PemContent::getCertificates)
                .orElseThrow(
                        () -> new WrongSetting(component, "names %s, which contains no certificate".formatted(file)));
    }

    private static List<X509Certificate> valid(String file, Instant now) {
        List<X509Certificate> chain = trusted(file, CERTIFICATE_FILE);
        for (X509Certificate each : chain) {
            Instant until = each.getNotAfter().toInstant();
            Instant from = each.getNotBefore().toInstant();
            if (until.isBefore(now)) {
                throw new WrongSetting(
                        CERTIFICATE_FILE, "names %s, with a certificate that expired at %s".formatted(file, until));
            }
            if (from.isAfter(now)) {
                throw new WrongSetting(
                        CERTIFICATE_FILE,
                        "names %s, with a certificate that is not valid before %s".formatted(file, from));
            }
        }
        return chain;
    }

    private static PrivateKey key(String file) {
        return parsed(KEY_FILE, file, PemContent::getPrivateKey)
                .orElseThrow(() -> new WrongSetting(
                        KEY_FILE, "names %s, which contains no unencrypted private key".formatted(file)));
    }

    /** NB: the parser's message is not repeated, because it may contain what the file contains. */
    private static <T> Optional<T> parsed(String component, String file, Function<PemContent, @Nullable T> parse) {
        PemContent content = content(component, file);
        try {
            return Optional.ofNullable(parse.apply(content));
        } catch (IllegalStateException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static PemContent content(String component, String file) {
        try {
            return PemContent.of(SecretFile.content(file, BYTES_MAX, component.equals(KEY_FILE)));
        } catch (IllegalArgumentException wrong) {
            throw new WrongSetting(component, String.valueOf(wrong.getMessage()));
        }
    }

    private static boolean belongTogether(X509Certificate certificate, PrivateKey key) {
        String algorithm = switch (key.getAlgorithm().toUpperCase(Locale.ROOT)) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> key.getAlgorithm();
        };
        try {
            Signature signature = Signature.getInstance(algorithm);
            signature.initSign(key);
            signature.update(SIGNED);
            byte[] signed = signature.sign();
            signature.initVerify(certificate.getPublicKey());
            signature.update(SIGNED);
            return signature.verify(signed);
        } catch (GeneralSecurityException e) {
            return false;
        }
    }
}
