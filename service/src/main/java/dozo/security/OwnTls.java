package dozo.security;

import dozo.alert.Condition;
import dozo.alert.Condition.Kind;
import dozo.alert.Watch;
import dozo.setting.WrongSetting;
import dozo.start.HttpSettings;
import dozo.start.TlsPair;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.ssl.SslBundleRegistrar;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundleRegistry;
import org.springframework.boot.ssl.pem.PemSslStore;
import org.springframework.boot.ssl.pem.PemSslStoreBundle;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * TLS of the service's own. When its files have changed, new connections get the new certificate; connections that are
 * open keep the earlier one. A wrong pair is logged once and not used (ADR 0086).
 */
@Component
public class OwnTls implements SslBundleRegistrar, Watch {

    /** The name of Spring's bundle. */
    public static final String BUNDLE = "dozo";

    private static final Logger LOG = LoggerFactory.getLogger(OwnTls.class);
    private static final Duration WARN_BEFORE = Duration.ofDays(14);
    private static final Duration WARN_EVERY = Duration.ofDays(1);

    private final HttpSettings settings;
    private final InstantSource clock;

    private @Nullable SslBundleRegistry registry;
    private Contents inUse = Contents.NONE;
    private Contents lastSeen = Contents.NONE;
    private Instant expiresAt = Instant.MAX;
    private Instant warnedAt = Instant.MIN;

    OwnTls(HttpSettings settings, InstantSource clock) {
        this.settings = settings;
        this.clock = clock;
    }

    /** The content of the two files; null for one that cannot be read. */
    private record Contents(
            @Nullable String certificate, @Nullable String key) {
        static final Contents NONE = new Contents(null, null);
    }

    @Override
    public synchronized void registerBundles(SslBundleRegistry bundles) {
        if (!settings.isTls()) {
            return;
        }
        registry = bundles;
        inUse = seen();
        lastSeen = inUse;
        bundles.registerBundle(BUNDLE, bundle());
    }

    /**
     * Uses files that have changed. They are replaced one after the other, so they must be the same at two looks. NB:
     * looks at the content, because links to files that are replaced, as certbot and containers have, keep their times.
     */
    @Scheduled(initialDelay = 10_000, fixedDelay = 10_000)
    public synchronized void look() {
        SslBundleRegistry bundles = registry;
        if (bundles == null) {
            return;
        }
        Contents seen = seen();
        boolean isStable = seen.equals(lastSeen);
        lastSeen = seen;
        if (isStable && !seen.equals(inUse)) {
            inUse = seen;
            replace(bundles);
        }
        warnBeforeItExpires();
    }

    private void replace(SslBundleRegistry bundles) {
        try {
            bundles.updateBundle(BUNDLE, bundle());
            warnedAt = Instant.MIN;
            LOG.info("new connections get the new TLS certificate, valid until {}", expiresAt);
        } catch (WrongSetting wrong) {
            LOG.error(
                    "the new TLS certificate is not used, the earlier one stays: DOZO_HTTP_TLS_{}_FILE {}",
                    wrong.component().contains("Key") ? "KEY" : "CERTIFICATE",
                    wrong.why());
        }
    }

    private SslBundle bundle() {
        TlsPair pair = TlsPair.read(settings.tlsCertificateFile(), settings.tlsKeyFile(), clock.instant());
        expiresAt = pair.expiresAt();
        return SslBundle.of(new PemSslStoreBundle(PemSslStore.of(pair.chain(), pair.key()), null));
    }

    private boolean expires(Instant now) {
        return !now.isBefore(expiresAt.minus(WARN_BEFORE));
    }

    @Override
    public synchronized List<Condition> now() {
        return expires(clock.instant())
                ? List.of(new Condition(Kind.CERTIFICATE_EXPIRING, null, null, 1, expiresAt.toString()))
                : List.of();
    }

    private void warnBeforeItExpires() {
        Instant now = clock.instant();
        if (!expires(now) || warnedAt.isAfter(now.minus(WARN_EVERY))) {
            return;
        }
        warnedAt = now;
        LOG.warn(
                "the TLS certificate {} at {}: replace the file of DOZO_HTTP_TLS_CERTIFICATE_FILE and that of its key",
                expiresAt.isBefore(now) ? "expired" : "expires",
                expiresAt);
    }

    private Contents seen() {
        return new Contents(content(settings.tlsCertificateFile()), content(settings.tlsKeyFile()));
    }

    private static @Nullable String content(String file) {
        try {
            return Files.readString(Path.of(file));
        } catch (IOException e) {
            return null;
        }
    }
}
