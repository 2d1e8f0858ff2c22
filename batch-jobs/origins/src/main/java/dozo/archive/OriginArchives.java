package dozo.archive;

import dozo.collect.CollectSettings;
import dozo.collect.DicomServers;
import dozo.collect.Flywheels;
import dozo.collect.OriginKind;
import dozo.collect.Origins;
import dozo.collect.Origins.Origin;
import dozo.collect.Xnats;
import dozo.copy.ManifestPart;
import dozo.copy.ProvenRead;
import dozo.registry.Refusal;
import dozo.restore.ArchiveRestore;
import dozo.restore.Archives;
import dozo.restore.Target;
import dozo.send.Throttle;
import dozo.source.delivery.Pause;
import dozo.source.delivery.Server;
import dozo.source.dicomweb.Archive;
import dozo.source.flywheel.Flywheel;
import dozo.source.xnat.Xnat;
import java.time.InstantSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.stereotype.Component;

/**
 * The archives that are registered as origins of the kinds {@code dicomweb}, {@code flywheel} and {@code xnat}, also those that no night
 * looks at.
 */
@Component
@EnableConfigurationProperties(ArchiveSettings.class)
class OriginArchives implements Archives {

    private final Origins origins;
    private final RestoredIds ids;
    private final CollectSettings settings;
    private final ArchiveSettings archives;
    private final InstantSource clock;

    OriginArchives(
            Origins origins, RestoredIds ids, CollectSettings settings, ArchiveSettings archives, InstantSource clock) {
        this.origins = origins;
        this.ids = ids;
        this.settings = settings;
        this.archives = archives;
        this.clock = clock;
    }

    @Override
    public void check(String name) {
        Origin origin = origin(name);
        switch (origin.terms().kind()) {
            case FLYWHEEL -> flywheel(origin).close();
            case XNAT -> xnat(origin).close();
            case DICOMWEB, TREE -> {
                var _ = DicomServers.of(origin);
            }
        }
    }

    private Origin origin(String name) {
        return origins.find(name)
                .orElseThrow(() -> new Refusal("origin", "there is no origin %s; register it first", name));
    }

    private Server server(String name) {
        return DicomServers.of(origin(name));
    }

    private Flywheel flywheel(Origin origin) {
        return Flywheels.of(origin, settings.limits(), clock);
    }

    private Xnat xnat(Origin origin) {
        return Xnats.of(origin, settings.limits(), clock);
    }

    @Override
    public ArchiveRestore restore(Target.Archive archive, ManifestPart part, ProvenRead site) {
        Throttle throttle = new Throttle(archives.rate().toBytes());
        Origin origin = origins.find(archive.origin()).orElse(null);
        if (origin != null && origin.terms().kind() == OriginKind.FLYWHEEL) {
            return new SessionRestore(
                    part, site, () -> flywheel(origin), ids.of(origin.id()), archive.replaces(), throttle);
        }
        if (origin != null && origin.terms().kind() == OriginKind.XNAT) {
            return new XnatRestore(part, site, () -> xnat(origin), archive.replaces(), throttle);
        }
        return new InstanceRestore(
                part,
                site,
                () -> Archive.open(server(archive.origin()), settings.limits(), Pause.REAL, clock),
                archive.replaces(),
                throttle);
    }
}
