package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.copy.Restore;
import dozo.copy.Trees;
import dozo.file.FilePath;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;

/** Tests of restores: nights that keep what their source was, and restores of their manifests into new folders. */
abstract class RestoredNight extends NightAtSite {

    static final Options OPTIONS = new Options(2, 0, false);

    final List<Map<FilePath, String>> kept = new ArrayList<>();
    final List<Finding> findings = new ArrayList<>();

    @BeforeEach
    void open() throws IOException {
        night.register("E1", source);
    }

    void assertRestores(int manifest) throws Exception {
        Progress progress = restore(manifest);
        assertThat(findings).isEmpty();
        assertThat(progress.complete()).isTrue();
        assertThat(Snapshot.of(restored(manifest))).as("manifest " + manifest).isEqualTo(kept.get(manifest - 1));
    }

    Progress restore(int manifest) throws IOException, InterruptedException {
        try (Restore restore = restoring(manifest, OPTIONS)) {
            return restore.run(findings::add);
        }
    }

    Restore restoring(int manifest, Options options) {
        return restoring(manifest, restored(manifest), options);
    }

    Restore restoring(int manifest, Path target, Options options) {
        return night.restoring(night.experiment(), manifest, site.address(), target, options);
    }

    Path restored(int manifest) {
        return folder.resolve("restored-" + manifest);
    }

    /** Writes files into the source, and runs a night. */
    void night(Map<String, String> files) throws Exception {
        Night.write(source, files);
        night();
    }

    /** Runs a night, and keeps the content of the source at that time. */
    void night() throws Exception {
        keep();
        night.complete();
        assertThat(night.count("select max(manifest_no) from manifest")).isEqualTo(kept.size());
        NightlyBackupIT.assertChecks(bag);
    }

    void keep() throws IOException {
        kept.add(Snapshot.of(source));
    }

    void delete(String name) throws IOException {
        Trees.delete(source.resolve(name));
    }
}
