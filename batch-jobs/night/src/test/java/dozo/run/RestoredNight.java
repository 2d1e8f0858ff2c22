package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.copy.Restore;
import dozo.file.FilePath;
import dozo.file.Selection;
import dozo.manifest.Manifests;
import dozo.restore.Inventories;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
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

    record Restored(Progress progress) {}

    void assertRestores(int manifest) throws Exception {
        Restored restored = restore(manifest);
        assertThat(findings).isEmpty();
        assertThat(restored.progress().complete()).isTrue();
        assertThat(Snapshot.of(restored(manifest))).as("manifest " + manifest).isEqualTo(kept.get(manifest - 1));
    }

    Restored restore(int manifest) throws IOException, InterruptedException {
        try (Restore restore = restoring(manifest, OPTIONS)) {
            return new Restored(restore.run(findings::add));
        }
    }

    Restore restoring(int manifest, Options options) {
        return restoring(manifest, restored(manifest), options);
    }

    Restore restoring(int manifest, Path target, Options options) {
        return new Restore(
                night.get(Inventories.class)
                        .of(night.get(Manifests.class).find(1, manifest).orElseThrow(), 1),
                "p/E1",
                manifest,
                Selection.ALL,
                site.address(),
                target,
                options);
    }

    Path restored(int manifest) {
        return folder.resolve("restored-" + manifest);
    }

    /** Runs a night, and keeps the content of the source at that time. */
    void night() throws Exception {
        keep();
        Run run = night.run();
        assertThat(night.findings(run)).isEmpty();
        assertThat(run.state()).isEqualTo(RunState.COMPLETE);
        assertThat(night.count("select max(manifest_no) from manifest")).isEqualTo(kept.size());
        NightlyBackupIT.assertChecks(root.resolve("p/E1"));
    }

    void keep() throws IOException {
        kept.add(Snapshot.of(source));
    }

    void delete(String name) throws IOException {
        delete(source.resolve(name));
    }

    static void delete(Path path) throws IOException {
        if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            try (Stream<Path> children = Files.list(path)) {
                for (Path child : children.toList()) {
                    delete(child);
                }
            }
        }
        Files.delete(path);
    }

    static Object inode(Path path) {
        try {
            return Files.getAttribute(path, "unix:ino", LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new SplittableRandom(length).nextBytes(bytes);
        return bytes;
    }
}
