package dozo.start;

import dozo.certificate.LogKeys;
import dozo.certificate.SigningKey;
import dozo.db.ActiveService;
import dozo.record.RecoveryKey;
import dozo.registry.OwnFolders;
import dozo.registry.SiteKey;
import dozo.registry.SiteKeys;
import java.util.List;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The folders and files on this machine that belong to Dozo. */
@Configuration
@EnableConfigurationProperties(WitnessSettings.class)
class Folders {

    @Bean
    OwnFolders ownFolders(Settings settings) {
        return new OwnFolders(List.of(settings.workFolder()));
    }

    @Bean
    SiteKey siteKey(Settings settings) {
        return new SiteKey(settings.workFolder().resolve("site-key"));
    }

    @Bean
    SigningKey certificateKey(Settings settings) {
        return new SigningKey(settings.workFolder().resolve("certificate-key"));
    }

    @Bean
    LogKeys logKeys(Settings settings, WitnessSettings witness) {
        return new LogKeys(
                new SigningKey(settings.workFolder().resolve("checkpoint-key")),
                new SigningKey(settings.workFolder().resolve("witness-key")),
                witness.originOr(settings.service().nameHere()));
    }

    @Bean
    RecoveryKey recoveryKey(Settings settings) {
        return new RecoveryKey(settings.workFolder().resolve("recovery-key"));
    }

    /**
     * Creates the keys that a service publishes, so that reading them creates nothing. A service that stands by must have those of
     * the active one.
     */
    @Bean
    @ConditionalOnWebApplication
    SmartInitializingSingleton publishedKeys(
            SiteKeys forSites,
            SigningKey forCertificates,
            LogKeys forCheckpoints,
            RecoveryKey forRecovery,
            ActiveService active) {
        return () -> {
            if (active.isHere()) {
                forSites.create();
                forCertificates.create();
                forCheckpoints.create();
                forRecovery.create();
            }
        };
    }
}
