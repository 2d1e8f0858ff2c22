package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Trees;
import dozo.db.TestDatabase;
import dozo.file.Problem;
import dozo.loopback.LoopbackSite;
import dozo.rebuild.Rebuild;
import dozo.registry.Sites;
import dozo.remote.GuardedSite;
import dozo.remote.SiteAddress;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Sites of their own: no run sends anything into the folder of another site. */
class SiteRootsIT extends NightAtSite {

    private int sites;

    @BeforeEach
    void register() throws IOException {
        register(Map.of("a", "1"));
    }

    @Test
    void aRootThatSharesAFolderWithAnotherSiteIsRefusedBeforeAnythingIsSent() throws Exception {
        night.complete();
        Path link = Files.createSymbolicLink(folder.resolve("link"), root);
        Map<String, Long> before = contents();

        for (String same : List.of(root.toString(), folder + "/./dr", link.toString())) {
            assertThat(refusedAt(same)).contains("is now the root of site dr;");
        }
        for (Path inside : List.of(bag, bag.resolve("data"), root.resolve(".dozo"), link.resolve("p"))) {
            assertThat(refusedAt(inside.toString())).contains("is in " + root + ", the root of site dr;");
        }
        assertThat(refusedAt(folder.toString())).contains("contains " + root + ", the root of site dr;");

        assertThat(contents()).isEqualTo(before);
        assertThat(folder.resolve(".dozo")).doesNotExist();
        assertThat(night.complete().state()).isEqualTo(RunState.COMPLETE);
        assertThat(root.resolve(".dozo/site")).content().contains("one Dozo site");
    }

    @Test
    void theRootOfARemovedSiteCanBeUsedAgain() {
        night.complete();
        assertThat(night.get(Sites.class).remove("dr", true, "test")).isTrue();
        night.get(Sites.class).add("again", site.address(), "test");

        assertThat(night.run("again").state()).isEqualTo(RunState.COMPLETE);

        assertThat(refusedAt(bag.toString())).contains("the root of site again;");
    }

    @Test
    void ofTwoDatabasesTheOneThatCameLaterHasTheRoot() throws Exception {
        night.complete();
        try (Night later = Night.on(site.address())) {
            later.register("E1", source);
            assertSafe(later);
            assertSafe(later);

            Run earlier = night.run();

            assertThat(earlier.state()).isEqualTo(RunState.FAILED);
            assertThat(night.findings(earlier).getFirst().message()).contains("is now the root of another Dozo;");
        }
        Files.writeString(root.resolve(".dozo/site"), "cut");
        assertThat(night.run().state()).as("an unreadable mark").isEqualTo(RunState.FAILED);
        Files.delete(root.resolve(".dozo/site"));
        assertSafe(night);
    }

    @Test
    void whereAMarkCannotBeReplacedALaterDatabaseIsRefusedUnlessItWasRebuilt() throws Exception {
        try (LoopbackSite guarded = GuardedSite.start(folder.resolve("sshd2"), folder.resolve("guarded"));
                Night earlier = Night.on(guarded.address());
                Night later = Night.on(guarded.address());
                Night rebuilt = Night.without(TestDatabase.fresh())) {
            earlier.register("E1", source);
            earlier.complete();
            String mark = Files.readString(folder.resolve("guarded/.dozo/site"));
            later.register("E1", source);

            Run refused = later.run();

            assertThat(refused.state()).isEqualTo(RunState.FAILED);
            assertThat(later.findings(refused).getFirst().message()).contains("is the root of another Dozo;");
            rebuilt.get(Rebuild.class).run("dr", guarded.address(), null);
            assertSafe(rebuilt);
            assertThat(folder.resolve("guarded/.dozo/site")).hasContent(mark);
            assertThat(folder.resolve("guarded/.dozo/incoming")).isEmptyDirectory();
        }
    }

    /** Runs a night. NB: two databases may anchor the same row of their ledgers there, which is a finding. */
    private static void assertSafe(Night night) {
        assertThat(night.run().state()).isNotEqualTo(RunState.FAILED);
        assertThat(night.coverage().safe()).isTrue();
    }

    /** Runs a night to a new site with this root, which is refused. Returns why. */
    private String refusedAt(String path) {
        String name = "s" + ++sites;
        SiteAddress address = site.address().withRoot(path);
        night.get(Sites.class).save(name, address, "test");
        Run run = night.run(name);
        assertThat(run.state()).isEqualTo(RunState.FAILED);
        night.assertOnly(run, Problem.SITE_UNUSABLE);
        return night.findings(run).getFirst().message();
    }

    /** Returns everything below the root, with its time. */
    private Map<String, Long> contents() throws IOException {
        Map<String, Long> contents = new TreeMap<>();
        for (Path path : Trees.all(root)) {
            contents.put(path.toString(), Files.getLastModifiedTime(path).toMillis());
        }
        return contents;
    }
}
