package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dozo.command.Exit;
import dozo.copy.Trees;
import dozo.db.ChildJava;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import dozo.ledger.Coverage;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.loopback.LoopbackSite;
import dozo.registry.Partners;
import dozo.registry.Projects;
import dozo.registry.SiteKey;
import dozo.registry.SiteTimetables;
import dozo.registry.Sites;
import dozo.remote.GuardedSite;
import dozo.remote.SiteAddress;
import dozo.run.Operations;
import dozo.run.PartnerStates;
import dozo.run.PartnerStates.Concern;
import dozo.run.PartnerStates.PartnerState;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two Dozos back each other up: they exchange two files, and each can lose everything but its keys. The number of losses of
 * each side: {@code -Dpartners.losses=10}.
 */
@StartsServices(4)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PartnersIT {

    private static final int LOSSES = Integer.getInteger("partners.losses", 1);
    private static final int EXPERIMENTS = 40;
    private static final String SUBJECT = "YamadaTaro";

    private Path folder;
    private Centre kyoto;
    private Centre osaka;

    /** A centre: its service, and the machine with the copies of the other. */
    private record Centre(
            String name, Path folder, HikariDataSource database, RunningService service, LoopbackSite machine) {

        static Centre start(String name, Path folder) throws IOException {
            HikariDataSource database = TestDatabase.fresh();
            return new Centre(
                    name,
                    folder,
                    database,
                    RunningService.start(Files.createDirectories(folder).resolve("work"), database, Map.of()),
                    LoopbackSite.openSsh(folder.resolve("sshd"), folder.resolve("dr"), 0));
        }

        Ended dozo(String line, Object... more) {
            return Ended.dozo(service, line, more);
        }

        Path count() {
            return folder.resolve("account/count");
        }

        Path root() {
            return Path.of(machine.address().root());
        }

        Ended offer(String partner, String quota) throws IOException {
            SiteAddress here = machine.address();
            Path key = Files.writeString(folder.resolve("host.pub"), here.hostKey());
            return dozo(
                    "partner offer %s --host %s --port %d --account %s --root %s --count-file %s --host-key-file %s --quota"
                            .formatted(partner, here.host(), here.port(), here.user(), here.root(), count(), key),
                    quota,
                    "--hours",
                    "daily 00:00-24:00 yielding");
        }

        /** Does what the account's script does as root, without an account: this machine's user has the keys. */
        void admit(String partner) throws IOException, InterruptedException {
            String script = dozo("partner account " + partner).ends(0).out();
            List<String> keys = script.lines()
                    .filter(line -> line.startsWith("restrict,"))
                    .map(line -> line.replace("/usr/local/lib/dozo-guard.py", GuardedSite.path()))
                    .toList();
            assertThat(keys).isNotEmpty();
            Files.createDirectories(count().getParent());
            if (Files.notExists(count())) {
                Files.createFile(count());
            }
            Files.write(folder.resolve("sshd/authorized_keys"), keys);
            String line = script.lines()
                    .filter(each -> each.startsWith("python3 "))
                    .findFirst()
                    .orElseThrow();
            assertThat(Ended.of(new ProcessBuilder(
                                    "sh", "-c", line.replace("/usr/local/lib/dozo-guard.py", GuardedSite.path())))
                            .ends(0)
                            .out())
                    .isEmpty();
        }

        Set<Concern> concerns(String partner) {
            return service.bean(PartnerStates.class)
                    .of(service.bean(Partners.class).find(partner).orElseThrow())
                    .concerns();
        }

        RunState night(String partner) {
            return service.awaitEnd(service.bean(Operations.class)
                            .start(partner, "test")
                            .id())
                    .state();
        }

        Path source(int number) {
            return folder.resolve("source/E" + number);
        }

        void close() {
            service.close();
            machine.close();
        }
    }

    @BeforeAll
    void exchangeFilesAndBackUp(@TempDir Path temp) throws Exception {
        folder = temp.toRealPath();
        kyoto = Centre.start("kyoto", folder.resolve("kyoto"));
        osaka = Centre.start("osaka", folder.resolve("osaka"));
        exchange();
        for (Centre each : List.of(kyoto, osaka)) {
            each.service.bean(Projects.class).create("p", "", "codes", List.of(), "test");
            for (int i = 0; i < EXPERIMENTS; i++) {
                Path source = each.source(i);
                Files.createDirectories(source.resolve(SUBJECT));
                Files.write(source.resolve(SUBJECT).resolve(SUBJECT + ".dcm"), Trees.random(10_000 + i));
                Files.writeString(source.resolve("of " + SUBJECT), each.name + " " + i);
                each.service.createExperiment("p", "E" + i, source);
            }
        }
        assertThat(kyoto.night("osaka")).isEqualTo(RunState.COMPLETE);
        assertThat(osaka.night("kyoto")).isEqualTo(RunState.COMPLETE);
    }

    @AfterAll
    void end() {
        kyoto.close();
        osaka.close();
    }

    /** The two files in the order in which two administrators send them. */
    private void exchange() throws Exception {
        assertThat(kyoto.dozo("partner account osaka").code()).isEqualTo(Exit.REFUSED);
        Ended offered = kyoto.offer("osaka", "50MB").ends(0);
        Path first = Files.writeString(folder.resolve("kyoto.txt"), offered.out());
        assertThat(offered.out()).startsWith("Dozo partner 1\n").contains("# fingerprint: ", "# next: ");
        assertThat(kyoto.offer("osaka", "50 MB").ends(0).out()).as("the same").isEqualTo(offered.out());
        assertThat(kyoto.dozo("partner account osaka").ends(Exit.REFUSED).err()).contains("both files are needed");

        accept(osaka, "kyoto", first);
        assertThat(osaka.concerns("kyoto"))
                .contains(Concern.OFFER_MISSING, Concern.SITE_UNCHECKED)
                .doesNotContain(Concern.FILE_MISSING);
        assertThat(osaka.dozo("partner account kyoto").ends(Exit.REFUSED).err()).contains("both files are needed");
        Path second = Files.writeString(
                folder.resolve("osaka.txt"),
                osaka.offer("kyoto", "50MB").ends(0).out());
        assertThat(osaka.concerns("kyoto")).contains(Concern.COUNT_UNKNOWN);
        osaka.admit("kyoto");
        assertThat(osaka.concerns("kyoto"))
                .doesNotContain(Concern.COUNT_UNKNOWN)
                .contains(Concern.NO_CONTACT);

        accept(kyoto, "osaka", second);
        kyoto.admit("osaka");
        for (String line : List.of("kyoto osaka", "osaka kyoto")) {
            Centre each = line.startsWith("kyoto") ? kyoto : osaka;
            String partner = line.split(" ")[1];
            assertThat(each.dozo("site check " + partner).ends(0).out())
                    .contains("can be used", "could not: change, rename, replace, delete");
            assertThat(each.service.bean(SiteTimetables.class).of(1).rules())
                    .containsExactly("daily 00:00-24:00 yielding");
        }
        long rows = kyoto.service.ledger().size();
        accept(kyoto, "osaka", second);
        kyoto.admit("osaka");
        assertThat(kyoto.service.ledger()).as("the same again changes nothing").hasSize((int) rows);
    }

    private static void accept(Centre centre, String partner, Path file) {
        String said = centre.dozo("partner accept %s %s".formatted(partner, file))
                .ends(Exit.REFUSED)
                .err();
        String fingerprint = said.replaceFirst("(?s).*has the fingerprint ((?:[0-9a-f]{4} ?){8}).*", "$1")
                .strip();
        assertThat(centre.dozo("partner accept %s %s --fingerprint".formatted(partner, file), "0" + fingerprint)
                        .code())
                .isEqualTo(Exit.REFUSED);
        assertThat(centre.dozo("partner accept %s %s --fingerprint".formatted(partner, file), fingerprint)
                        .ends(0)
                        .out())
                .contains(partner + " is accepted");
    }

    @Test
    void eachSeesWhatItHasThereAndWhatTheOtherHasHere() throws Exception {
        PartnerState state = kyoto.service.bean(PartnerStates.class).all().stream()
                .findFirst()
                .orElseThrow();
        assertThat(state.concerns()).isEmpty();
        assertThat(state.ours()).isNotNull().satisfies(ours -> {
            assertThat(ours.experimentsSafe()).isEqualTo(EXPERIMENTS);
            assertThat(ours.quotaBytes()).isEqualTo(50_000_000);
            assertThat(ours.freeBytes()).isBetween(30_000_000L, 50_000_000L);
            assertThat(ours.lastNight()).isEqualTo(RunState.COMPLETE);
        });
        assertThat(state.theirs()).isNotNull().satisfies(theirs -> {
            assertThat(theirs.usedBytes()).isBetween(EXPERIMENTS * 10_000L, 50_000_000L);
            assertThat(theirs.keys())
                    .containsExactly(osaka.service.bean(SiteKey.class).fingerprint());
        });
        assertThat(kyoto.dozo("partner list").ends(0).out())
                .contains("osaka\n", "40 of 40 experiments safe (100 %)", "theirs here: ", "of 50 MB, last login ");
        kyoto.service.get("/api/v1/partners").has("/items/0/name", "osaka");
        assertThat(kyoto.service.look(kyoto.service.browser(), "/sites", "en").text())
                .contains(">Partners<", "40 of 40 experiments safe");
        assertThat(kyoto.service.look(kyoto.service.browser(), "/sites", "ja").text())
                .contains("相互バックアップ先");
    }

    @Test
    void thePartnerReadsNoName() throws IOException {
        for (Centre each : List.of(kyoto, osaka)) {
            try (Stream<Path> all = Files.walk(each.root())) {
                for (Path path : all.toList()) {
                    assertThat(path.toString()).doesNotContain(SUBJECT);
                    if (Files.isRegularFile(path) && !path.toString().contains("/data/")) {
                        assertThat(Files.readString(path, StandardCharsets.ISO_8859_1))
                                .doesNotContain(SUBJECT);
                    }
                }
            }
        }
    }

    @Test
    void whoLosesEverythingButItsKeysGetsAllBackFromTheOther() throws Exception {
        for (int i = 0; i < LOSSES; i++) {
            lose(kyoto, osaka, i);
            lose(osaka, kyoto, i);
        }
        System.out.printf("partners: %d losses of each side, %d experiments each%n", LOSSES, EXPERIMENTS);
    }

    private void lose(Centre lost, Centre survivor, int number) throws Exception {
        Path place = Files.createDirectories(folder.resolve("new/%s-%d".formatted(lost.name, number)));
        HikariDataSource fresh = TestDatabase.empty();
        SiteAddress site =
                lost.service.bean(Sites.class).find(survivor.name).orElseThrow().address();
        Path secret = Files.writeString(place.resolve("password"), String.valueOf(fresh.getPassword()));
        ProcessBuilder rebuild = ChildJava.of(Application.class)
                .arguments("rebuild-catalogue", "--port", "" + site.port(), "--host-key", site.hostKey())
                .arguments("--identity", lost.folder.resolve("work/site-key").toString())
                .arguments(
                        "--recovery-key",
                        lost.folder.resolve("work/recovery-key").toString())
                .arguments(survivor.name, "%s@%s:%s".formatted(site.user(), site.host(), site.root()))
                .fromCache()
                .process();
        rebuild.environment()
                .putAll(Map.of(
                        "DOZO_WORK", place.resolve("work").toString(),
                        "DOZO_DB_URL", fresh.getJdbcUrl(),
                        "DOZO_DB_USER", String.valueOf(fresh.getUsername()),
                        "DOZO_DB_PASSWORD_FILE", secret.toString()));
        assertThat(Ended.of(rebuild).ends(Exit.WELL).out()).contains("everything is verified");

        try (RunningService newcomer = RunningService.start(place.resolve("work"), fresh, Map.of())) {
            assertThat(newcomer.bean(Coverage.class).all(1).experimentsSafe()).isEqualTo(EXPERIMENTS);
            Files.createDirectory(place.resolve("back"));
            for (int i = 0; i < EXPERIMENTS; i++) {
                Path back = place.resolve("back/E" + i);
                Ended.dozo(newcomer, "restore p/E" + i, back).ends(0);
                assertThat(Ended.printed("diff", "-r", lost.source(i).toString(), back.toString()))
                        .isEmpty();
            }
            assertThat(Ended.dozo(newcomer, "ledger verify").ends(0).out()).contains(survivor.name);
            List<LedgerEntry> before = lost.service.ledger();
            List<LedgerEntry> after = newcomer.ledger();
            long anchored = before.stream()
                    .filter(row -> row.action().equals("ledger.anchored"))
                    .count();
            assertThat(anchored).isPositive();
            int common = (int) Stream.iterate(0, n -> n + 1)
                    .takeWhile(n -> n < Math.min(before.size(), after.size())
                            && before.get(n).equals(after.get(n)))
                    .count();
            assertThat(before.get(common - 1).action())
                    .as("they agree up to the record")
                    .isNotEmpty();
            assertThat(newcomer.bean(Partners.class).find(survivor.name)).isPresent();
        }
        assertThat(survivor.service.bean(Coverage.class).all(1).safe()).isTrue();
        for (int i = 0; i < EXPERIMENTS; i++) {
            assertThat(survivor.root().resolve("p/E%d/bagit.txt".formatted(i))).exists();
        }
    }

    @Test
    void aChangedFileIsAChangeOnlyIfSomebodySaysSo() throws Exception {
        Path same = Files.writeString(
                folder.resolve("again.txt"),
                osaka.offer("kyoto", "50MB").ends(0).out());
        accept(kyoto, "osaka", same);
        Path smaller = Files.writeString(
                folder.resolve("smaller.txt"),
                osaka.offer("kyoto", "40MB").ends(0).out());
        assertThat(osaka.concerns("kyoto")).contains(Concern.QUOTA_DIFFERS);
        String fingerprint = osaka.service
                .bean(Partners.class)
                .find("kyoto")
                .orElseThrow()
                .offered()
                .fingerprint();
        String line = "partner accept osaka %s --fingerprint".formatted(smaller);
        assertThat(kyoto.dozo(line, fingerprint).ends(Exit.REFUSED).err())
                .contains("it differs from the file that was accepted before");
        kyoto.dozo(line, fingerprint, "--changed").ends(0);
        assertThat(kyoto.service.ledger())
                .filteredOn(row -> row.action().equals("partner.accepted"))
                .last()
                .satisfies(row -> assertThat(row.detail()).contains("quota: 50000000", "quota: 40000000", fingerprint));
        assertThat(kyoto.dozo("partner accept osaka %s --changed --fingerprint".formatted(same), fingerprint(same))
                        .ends(Exit.REFUSED)
                        .err())
                .contains("a later file of osaka was accepted before");
        String own = kyoto.service
                .bean(Partners.class)
                .find("osaka")
                .orElseThrow()
                .offered()
                .fingerprint();
        assertThat(kyoto.dozo(
                                "partner accept other %s --changed --fingerprint"
                                        .formatted(folder.resolve("kyoto.txt")),
                                own)
                        .ends(Exit.REFUSED)
                        .err())
                .contains("own key");
        osaka.admit("kyoto");
        assertThat(osaka.concerns("kyoto")).doesNotContain(Concern.QUOTA_DIFFERS);

        Path larger = Files.writeString(
                folder.resolve("larger.txt"),
                osaka.offer("kyoto", "50MB").ends(0).out());
        kyoto.dozo("partner accept osaka %s --changed --fingerprint".formatted(larger), fingerprint(larger))
                .ends(0);
        osaka.admit("kyoto");
    }

    private static String fingerprint(Path file) throws IOException {
        return dozo.registry.PartnerFile.of(Files.readString(file)).fingerprint();
    }
}
