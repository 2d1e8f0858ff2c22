package dozo.archive;

import dozo.collect.CollectSettings;
import dozo.collect.DicomServers;
import dozo.collect.Origins;
import dozo.copy.ManifestPart;
import dozo.copy.ProvenRead;
import dozo.registry.Refusal;
import dozo.restore.ArchiveRestore;
import dozo.restore.Archives;
import dozo.restore.Target;
import dozo.send.Throttle;
import dozo.source.delivery.Pause;
import dozo.source.dicomweb.Archive;
import dozo.source.dicomweb.Server;
import java.time.InstantSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.stereotype.Component;

/** The archives that are registered as origins of the kind {@code dicomweb}, also those that no night looks at. */
@Component
@EnableConfigurationProperties(ArchiveSettings.class)
class OriginArchives implements Archives {

    private final Origins origins;
    private final CollectSettings settings;
    private final ArchiveSettings archives;
    private final InstantSource clock;

    OriginArchives(Origins origins, CollectSettings settings, ArchiveSettings archives, InstantSource clock) {
        this.origins = origins;
        this.settings = settings;
        this.archives = archives;
        this.clock = clock;
    }

    @Override
    public void check(String name) {
        var _ = server(name);
    }

    private Server server(String name) {
        return origins.find(name)
                .map(DicomServers::of)
                .orElseThrow(() -> new Refusal("origin", "there is no origin %s; register it first", name));
    }

    @Override
    public ArchiveRestore restore(Target.Archive archive, ManifestPart part, ProvenRead site) {
        return new InstanceRestore(
                part,
                site,
                () -> Archive.open(server(archive.origin()), settings.limits(), Pause.REAL, clock),
                archive.replaces(),
                new Throttle(archives.rate().toBytes()));
    }
}
