package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Trees;
import dozo.db.TestDatabase;
import dozo.loopback.LoopbackSite;
import dozo.rebuild.Rebuild;
import dozo.registry.Capabilities;
import dozo.remote.GuardedSite;
import dozo.remote.KeyPowers.Power;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Nights and scrubs at a hardened site (ADR 0068). */
class HardenedNightIT extends NightAtSite {

    private static final int FILES = 40;

    /** While it exists, the guard ends in the middle of every connection. */
    private Path dying;

    @Override
    LoopbackSite serve() throws IOException {
        dying = folder.resolve("dying");
        return GuardedSite.dying(folder.resolve("sshd"), root, dying);
    }

    @Test
    void anInterruptedNightIsContinuedAndAScrubFindsEverything() throws Exception {
        for (int i = 0; i < FILES; i++) {
            Night.write(source, Map.of("many/" + i, "file " + i));
        }
        byte[] large = Trees.random(24 << 20);
        Files.write(source.resolve("large"), large);
        register(Map.of("changed", "before", "renamed", "same", "vanished", "gone"));
        Files.createFile(dying);

        Run interrupted = night.run();
        assertThat(interrupted.state()).isNotEqualTo(RunState.COMPLETE);
        assertThat(night.coverage().safe()).isFalse();
        assertThat(root.resolve(".dozo/incoming/p/E1")).as("it was sending").isNotEmptyDirectory();

        Files.delete(dying);
        night.complete();
        NightlyBackupIT.assertSame(source, bag.resolve("data"));

        Night.write(source, Map.of("changed", "after", "new", "new"));
        Files.move(source.resolve("renamed"), source.resolve("other name"));
        Files.delete(source.resolve("vanished"));
        large[0]++;
        Files.write(source.resolve("large"), large);
        night.complete();

        assertThat(root.resolve(".dozo/catalogue/p/E1"))
                .as("the catalogue is recorded")
                .isNotEmptyDirectory();
        assertThat(bag.resolve("data/changed")).hasContent("after");
        assertThat(root.resolve(".dozo/versions/p/E1/2/data/changed")).hasContent("before");
        assertThat(bag.resolve("data/vanished")).hasContent("gone");
        assertThat(bag.resolve("data/large")).hasBinaryContent(large);
        NightlyBackupIT.assertChecks(bag);
        assertThat(Trees.names(root.resolve(".dozo/incoming")))
                .as("a killed check's folder is removed a day later")
                .allMatch(name -> name.startsWith("probe-"));
        assertThat(night.get(Capabilities.class).of(1).orElseThrow().keyCouldNot())
                .containsExactly(Power.CHANGE, Power.RENAME, Power.REPLACE, Power.DELETE);

        Run scrub = night.scrub();
        night.assertComplete(scrub);
        assertThat(night.texts("select distinct method || ' ' || result from challenge"))
                .containsExactly("challenge@dozo HELD");
    }

    @Test
    void aFileWithManyNamesIsStoredOnce() throws Exception {
        Night.write(source, Map.of("a/file", "1", "b/other", "2"));
        Files.createLink(source.resolve("b/name"), source.resolve("a/file"));
        night.register("E1", source);
        night.complete();
        Files.createLink(source.resolve("later"), source.resolve("a/file"));
        night.complete();

        for (String name : List.of("b/name", "later")) {
            assertThat(Trees.inode(bag.resolve("data/" + name)))
                    .as(name)
                    .isEqualTo(Trees.inode(bag.resolve("data/a/file")));
        }
        Files.writeString(source.resolve("later"), "changed in place");
        night.complete();
        NightlyBackupIT.assertSame(source, bag.resolve("data"));
        assertThat(root.resolve(".dozo/versions/p/E1/3/data/a/file")).hasContent("1");
        NightlyBackupIT.assertChecks(bag);
    }

    @Test
    void theCatalogueIsRebuiltFromIt() throws Exception {
        safe(Map.of("a/file", "1", "new\nline", "2", "empty", ""));

        try (Night rebuilt = Night.without(TestDatabase.fresh())) {
            Run run = rebuilt.get(Rebuild.class).run("dr", site.address(), null);

            assertThat(rebuilt.findings(run)).isEmpty();
            assertThat(rebuilt.coverage().safe()).isTrue();
            assertThat(rebuilt.count("select count(*) from receipt where method <> 'check-file'"))
                    .isZero();
        }
    }

    @Test
    void whatAThiefPutsInTheWayIsMovedAside() throws Exception {
        register(Map.of("a/file", "1", "folder/in", "2"));
        Files.createDirectories(bag.resolve("data/a/file"));
        Files.createSymbolicLink(bag.resolve("data/folder"), root);
        Files.createDirectories(root.resolve(".dozo/versions/p/E1/1/data/a/file"));

        night.complete();

        NightlyBackupIT.assertSame(source, bag.resolve("data"));
    }
}
