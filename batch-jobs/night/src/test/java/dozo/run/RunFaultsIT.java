package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Trees;
import dozo.db.TestDatabase;
import dozo.file.Digest;
import dozo.file.Problem;
import dozo.ledger.Sight;
import dozo.loopback.LoopbackSite;
import dozo.loopback.Ports;
import dozo.registry.Sites;
import dozo.remote.SiteAddress;
import dozo.remote.Tmpfs;
import dozo.run.Headlines.Kind;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * A site that cannot be used ends the run as FAILED with one finding that names the problem. Nothing that was safe is
 * lost, and once the site is repaired the next run finishes the rest.
 */
class RunFaultsIT {

    @TempDir
    Path folder;

    Path source;
    Path root;

    @BeforeEach
    void makeSource() throws IOException {
        source = Files.createDirectory(folder.resolve("source"));
        root = Files.createDirectory(folder.resolve("dr"));
        Night.write(source, Map.of("a", "1", "b", "2"));
    }

    @Test
    void nothingListensThere() throws Exception {
        int free = Ports.free();
        try (LoopbackSite site = site()) {
            failsWith(
                    Problem.SITE_UNREACHABLE,
                    at(site.address(), free, site.address().hostKey()),
                    "127.0.0.1:" + free);
        }
    }

    @Test
    void aSiteThatHasLostItsShellIsNewsOnceAndServesOn() throws Exception {
        SiteAddress first;
        Night night;
        try (LoopbackSite site = site()) {
            first = site.address();
            night = Night.on(first);
            night.register("E1", source);
            night.complete();
        }
        try (night;
                LoopbackSite site = LoopbackSite.openSsh(
                        folder.resolve("sshd"), root, first.port(), "ForceCommand internal-sftp")) {
            assertThat(site.address()).isEqualTo(first);
            Night.write(source, Map.of("c", "3"));
            Run run = night.run();

            assertThat(run.state()).isEqualTo(RunState.FINDINGS);
            assertThat(night.findings(run))
                    .isNotEmpty()
                    .allMatch(finding -> finding.reason() == Problem.SITE_CHANGED)
                    .anyMatch(finding -> finding.message().contains(" to read-back"));
            assertThat(night.coverage().safe()).isTrue();
            night.complete();
        }
    }

    @Test
    void theHostHasAnotherKey() throws Exception {
        try (LoopbackSite site = site();
                LoopbackSite other = LoopbackSite.openSsh(folder.resolve("other"), root, 0)) {
            failsWith(
                    Problem.SITE_KEY_CHANGED,
                    at(site.address(), site.address().port(), other.address().hostKey()),
                    "host key");
            assertThat(root).isEmptyDirectory();
        }
    }

    @Test
    void theLoginIsRefused() throws Exception {
        try (LoopbackSite site = site();
                LoopbackSite other = LoopbackSite.openSsh(folder.resolve("other"), root, 0)) {
            SiteAddress address = site.address();
            failsWith(
                    Problem.SITE_UNUSABLE,
                    new SiteAddress(
                            address.host(),
                            address.port(),
                            address.user(),
                            address.root(),
                            other.address().identity(),
                            address.hostKey()),
                    "key");
        }
    }

    @Test
    void theRootIsNotThere() throws Exception {
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), root.resolve("missing"), 0)) {
            Files.delete(root.resolve("missing"));
            failsWith(Problem.SITE_UNUSABLE, site.address(), "missing");
        }
    }

    @Test
    void theDiskIsReadOnlyAndThenMended() throws Exception {
        try (Tmpfs disk = new Tmpfs(root, "size=16m");
                LoopbackSite site = site();
                Night night = Night.on(site.address())) {
            night.register("E1", source);
            disk.remount("ro");
            assertThat(failed(Problem.SITE_UNUSABLE, night).message()).containsIgnoringCase("read-only");

            disk.remount("rw");
            night.complete();
            assertThat(ended(night)).as("by the check of the second run").containsExactly("SITE_UNUSABLE");
            NightlyBackupIT.assertSame(source, root.resolve("p/E1/data"));
        }
    }

    @Test
    void theDiskFillsUpAndIsThenEnlarged() throws Exception {
        for (int i = 0; i < 40; i++) {
            Files.write(source.resolve("f" + i), Trees.random(500_000, i));
        }
        try (Tmpfs disk = new Tmpfs(root, "size=8m");
                LoopbackSite site = site();
                Night night = Night.on(site.address())) {
            night.register("E1", source);
            assertThat(failed(Problem.SITE_FULL, night).message()).contains("full");
            long safe = night.count("select coalesce(sum(cardinality(entry_nos)), 0) from receipt");

            disk.remount("size=64m");
            night.complete();
            assertThat(night.count("select sum(cardinality(entry_nos)) from receipt"))
                    .as("what had a receipt (%d) got no second one", safe)
                    .isEqualTo(42);
            NightlyBackupIT.assertSame(source, root.resolve("p/E1/data"));
            NightlyBackupIT.assertChecks(root.resolve("p/E1"));
        }
    }

    @Test
    void theNewestTroubleLeadsUntilANewerFactEndsIt() throws Exception {
        for (int i = 0; i < 40; i++) {
            Files.write(source.resolve("f" + i), Trees.random(500_000, i));
        }
        try (Tmpfs disk = new Tmpfs(root, "size=8m");
                LoopbackSite site = site();
                LoopbackSite other = LoopbackSite.openSsh(folder.resolve("other"), root, 0);
                Night night = Night.on(at(
                        site.address(), site.address().port(), other.address().hostKey()))) {
            night.register("E1", source);
            failed(Problem.SITE_KEY_CHANGED, night);
            assertThat(headline(night)).isEqualTo(Kind.SITE_KEY_CHANGED);

            night.get(Sites.class).save("dr", site.address(), "test");
            failed(Problem.SITE_FULL, night);
            assertThat(headline(night)).isEqualTo(Kind.SITE_FULL);
            assertThat(ended(night)).as("by the login").containsExactly("SITE_KEY_CHANGED");

            disk.remount("size=64m");
            night.complete();
            assertThat(ended(night)).as("by a file that was stored").containsExactly("SITE_KEY_CHANGED", "SITE_FULL");
            assertThat(headline(night)).isEqualTo(Kind.SAFE);
        }
    }

    private static Kind headline(Night night) {
        return night.get(Headlines.class).all(Sight.EVERYTHING).getFirst().kind();
    }

    /** Returns the reasons of what ended before a run completed. */
    private static List<String> ended(Night night) {
        return night.texts("select reason from finding where superseded_at is not null order by finding_id");
    }

    @Test
    void aBagThatCouldNotBeWrittenIsWrittenByTheNextRunThatHasNothingElseToDo() throws Exception {
        String temporaryName = "tag-"
                + Digest.ofContent("p/E1/manifest-sha256.txt".getBytes())
                        .toString()
                        .substring(0, 16);
        Path inTheWay =
                Files.createDirectories(root.resolve(".dozo/incoming/p/E1").resolve(temporaryName));
        try (LoopbackSite site = site();
                Night night = Night.on(site.address())) {
            night.register("E1", source);
            Run failed = night.run();
            assertThat(failed.state()).isEqualTo(RunState.FAILED);
            assertThat(failed.message()).contains(temporaryName);
            assertThat(root.resolve("p/E1/data/a")).exists();
            assertThat(root.resolve("p/E1/manifest-sha256.txt")).doesNotExist();

            Files.delete(inTheWay);
            night.complete();
            NightlyBackupIT.assertChecks(root.resolve("p/E1"));
        }
    }

    @Test
    void aRunThatFailsWhileItIsLookedForIsNotGoneOnWith() throws Exception {
        Late late = new Late(TestDatabase.fresh());
        try (LoopbackSite site = site();
                Night night = new Night(late, site.address())) {
            night.register("E1", source);
            List<Thread> recovering = new ArrayList<>();
            Run run = night.startAndHoldUpBefore("sweep", () -> {
                site.close();
                recovering.add(late.holdUp(night.operations()::recover, night.get(Executions.class)::idle));
            });
            recovering.getFirst().join();

            assertThat(night.await(run).state()).isEqualTo(RunState.FAILED);
            assertThat(night.count("select count(*) from ledger where action = 'run.recovered'"))
                    .isZero();
        }
    }

    /** A database whose answer to one thread's first query comes late. */
    private static final class Late extends DelegatingDataSource {

        private final CountDownLatch answered = new CountDownLatch(1);
        private volatile @Nullable Thread asking;
        private volatile Callable<Boolean> until = () -> true;

        Late(DataSource database) {
            super(database);
        }

        /** Begins something in another thread, whose first query is answered at once, but goes on only after a condition. */
        Thread holdUp(Runnable work, Callable<Boolean> condition) throws InterruptedException {
            until = condition;
            asking = Thread.ofVirtual().unstarted(work);
            asking.start();
            answered.await();
            return asking;
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            if (Thread.currentThread() != asking || answered.getCount() == 0) {
                return connection;
            }
            return (Connection) Proxy.newProxyInstance(
                    Late.class.getClassLoader(), new Class<?>[] {Connection.class}, (_, method, values) -> {
                        Object result = method.invoke(connection, values);
                        if (method.getName().equals("close")) {
                            answered.countDown();
                            Night.until(until);
                        }
                        return result;
                    });
        }
    }

    private LoopbackSite site() throws IOException {
        return LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
    }

    private static SiteAddress at(SiteAddress address, int port, String hostKey) {
        return new SiteAddress(address.host(), port, address.user(), address.root(), address.identity(), hostKey);
    }

    private void failsWith(Problem problem, SiteAddress address, String named) {
        try (Night night = Night.on(address)) {
            night.register("E1", source);
            assertThat(failed(problem, night).message()).contains(named);
            assertThat(night.get(Sites.class).find("dr")).isPresent();
        }
    }

    private static Run failed(Problem problem, Night night) {
        Run run = night.run();
        assertThat(run.state()).isEqualTo(RunState.FAILED);
        assertThat(run.message()).doesNotContain("Exception");
        assertThat(night.findings(run))
                .anySatisfy(finding -> assertThat(finding.reason()).isEqualTo(problem));
        assertThat(night.coverage().safe()).isFalse();
        return run;
    }
}
