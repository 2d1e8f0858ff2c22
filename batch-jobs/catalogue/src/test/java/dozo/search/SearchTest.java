package dozo.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.db.Race;
import dozo.db.TestDatabase;
import dozo.ledger.Sight;
import dozo.people.Role;
import dozo.registry.Refusal;
import dozo.search.Hit.Kind;
import dozo.search.Search.Found;
import dozo.search.Search.Key;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Everything is found by a part of its name, by those who may see it, and what was not searched is never "not found". */
class SearchTest {

    private static final int ROOT = 1_000;

    private final DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final Names names = new Names(jdbc);
    private final Search search = new Search(jdbc, names);

    @BeforeEach
    void register() {
        jdbc.sql("""
                insert into project (code, title, created_at) values ('Vision', 'Ｖ１ mapping', now()), ('Motor', '', now());
                insert into experiment (project_id, code, title, subject, source_kind, source_root, modality, scanner, acquired_on, note,
                                        registered_at, registered_by)
                values (1, 'E1', 'Rest_state 100%', 'sub-77', 'filesystem', '/1', 'MR', 'T7', '2026-09-30', 'coil changed', now(), 'x'),
                       (1, 'E2', '視覚野', null, 'filesystem', '/2', 'MR', 'T3', '2026-10-01', '', now(), 'x'),
                       (2, 'E11', 'Rest', null, 'filesystem', '/3', 'MEG', null, null, '', now(), 'x');
                insert into experiment_label values (2, 'pilot', 'x', now());
                insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                values ('dr', 'dr.example', 22, 'dozo', '/dr', 'ssh-ed25519 AAAA', '/key', now());
                insert into run (kind, site_id, state, requested_by, started_at, ended_at)
                values ('nightlyBackup', 1, 'FINDINGS', 'x', now(), now());
                insert into finding (run_id, experiment_id, reason, message, found_at)
                values (1, 1, 'UNREADABLE', 'dir/gone: no permission', now()), (1, null, 'SITE_FULL', 'no space', now()),
                       (1, 3, 'SPECIAL', 'a socket', now());
                insert into acknowledgement values (3, 'x', now(), 'known');
                insert into dozo_user (name, origin, password_hash, created_at) values ('hanako', 'LOCAL', 'x', now());
                insert into user_role select user_id, 'OPERATOR' from dozo_user where name = 'hanako';
                """).update();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "e1 | Vision/E1, Motor/E11",
                "rest | Motor/E11, Vision/E1",
                "t_s | Vision/E1",
                "0% | Vision/E1",
                "SUB-77 | Vision/E1",
                "t7 mr | Vision/E1",
                "mr, t3 | Vision/E2",
                "2026-10-01 | Vision/E2",
                "視覚 | Vision/E2",
                "coil | Vision/E1",
                "pilot | Vision/E2",
                "motor/e | Motor/E11",
                "１００ | Vision/E1",
                "e1 nix | ",
            })
    void experimentsAreFoundByAllThatIsKnownOfThem(String text, @Nullable String experiments) {
        assertThat(found(text, Kind.EXPERIMENT)).containsExactly(split(experiments));
    }

    @Test
    void projectsFindingsAndUsersAreFound() {
        assertThat(found("v1 MAPPING", Kind.PROJECT)).containsExactly("Vision");
        assertThat(found("permission", Kind.FINDING)).containsExactly("UNREADABLE");
        assertThat(found("unreadable vision", Kind.FINDING)).containsExactly("UNREADABLE");
        assertThat(found("space", Kind.FINDING)).containsExactly("SITE_FULL");
        assertThat(all("socket", Kind.FINDING).items().getFirst())
                .isEqualTo(new Hit(
                        Kind.FINDING,
                        "SPECIAL",
                        "a socket",
                        "Motor/E11",
                        true,
                        "/findings?all=true&reason=SPECIAL&experiment=Motor/E11"));
        assertThat(all("nak", Kind.USER).items())
                .containsExactly(new Hit(Kind.USER, "hanako", "OPERATOR", null, false, "/administration/users/hanako"));
    }

    @Test
    void whatIsOverComesLastAndSaysSo() {
        jdbc.sql("update experiment set retired_at = now(), retired_by = 'x', retired_reason = 'x' where code = 'E11'")
                .update();
        jdbc.sql("update project set retired_at = now(), retired_by = 'x', retired_reason = 'x' where code = 'Motor'")
                .update();
        jdbc.sql("update dozo_user set disabled = true").update();

        assertThat(found("rest", Kind.EXPERIMENT)).containsExactly("Vision/E1", "Motor/E11");
        assertThat(all("e11", Kind.EXPERIMENT).items()).extracting(Hit::over).containsExactly(true);
        assertThat(all("motor", Kind.PROJECT).items()).extracting(Hit::over).containsExactly(true);
        assertThat(all("hanako", Kind.USER).items()).extracting(Hit::over).containsExactly(true);
    }

    @Test
    void peopleFindWhatTheyMaySee() {
        seal(1, "a/T1w.nii");
        seal(3, "a/T1w.nii");
        for (int listed = 0; listed < 2; listed++) {
            Sight own = Sight.of(Set.of("Motor"));
            Set<Role> manager = Set.of(Role.LAB_MANAGER);
            assertThat(names(search.find("t1w", manager, own, null, "", 9)))
                    .as("listed %d", listed)
                    .containsExactly("a/T1w.nii");
            assertThat(names(search.find("rest", manager, own, null, "", 9))).containsExactly("Motor/E11");
            assertThat(names(search.find("vision", manager, own, null, "", 9))).isEmpty();
            assertThat(names(search.find("space", manager, own, null, "", 9))).isEmpty();
            assertThat(names(search.find("hanako", manager, own, null, "", 9))).isEmpty();
            assertThat(names(search.find("hanako", manager, own, Kind.USER, "", 9)))
                    .isEmpty();
            assertThat(names(search.find("t1w", Set.of(), Sight.EVERYTHING, null, "", 9)))
                    .isEmpty();
            list();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "t1W | anat/sub-01_T1w.nii.gz",
                "01_t1w nii ANAT | anat/sub-01_T1w.nii.gz",
                "anat/sub | anat/sub-01_T1w.nii.gz",
                "t/s | anat/sub-01_T1w.nii.gz",
                "ana | anat/",
                "anat | anat/",
                "im_000123 | IM_000123",
                "_0001 | IM_000123",
                "m_% | ",
                "x_% | X_%",
                "解剖 | 解剖.txt",
                "剖 | 解剖.txt",
                "ｔ１ｗ | anat/sub-01_T1w.nii.gz",
                "abc | ＡＢＣ.dat",
                "é | caf\u00e9",
                "É | caf\u00e9",
                "脳波 | 脳波.eeg",
                "xff | bad\\xFF.bin",
                "bad | bad\\xFF.bin",
                "nix | ",
                "t1w nix | ",
                "); -- | ",
            })
    void filesAreFoundByPartsOfTheirPathsWhicheverBytesTheseHave(String text, @Nullable String path) {
        int anat = folder(1, "anat");
        seal(1, ROOT, "anat", "X_%", "IM_000123", "解剖.txt", "ＡＢＣ.dat", "caf\u00e9");
        entry(1, ROOT, "脳波.eeg".getBytes(Charset.forName("EUC-JP")));
        entry(1, ROOT, new byte[] {'b', 'a', 'd', (byte) 0xff, '.', 'b', 'i', 'n'});
        seal(1, anat, "sub-01_T1w.nii.gz");
        jdbc.sql("update entry set kind = 'd' where name = 'anat'").update();

        assertThat(found(text, Kind.FILE)).as("read themselves").containsExactly(split(path));
        list();
        assertThat(found(text, Kind.FILE)).as("found by blocks").containsExactly(split(path));
    }

    @Test
    void aFileLeadsToItsProofAndAFolderToItsManifest() {
        seal(1, "T1w.nii", "anat");
        jdbc.sql("update entry set kind = 'd' where name = 'anat'").update();

        assertThat(all("t1w", Kind.FILE).items())
                .containsExactly(new Hit(
                        Kind.FILE, "T1w.nii", "", "Vision/E1", false, "/experiments/Vision/E1/proof?path=VDF3Lm5paQ"));
        assertThat(all("anat", Kind.FILE).items())
                .extracting(Hit::address)
                .containsExactly("/experiments/Vision/E1/manifests/1?folder=YW5hdA");
    }

    @Test
    void ofWhatAPathWasAndIsOnlyTheLatestIsFound() {
        seal(1, "changed.txt", "gone.txt");
        seal(1, "changed.txt");
        end("where name = 'gone.txt' or entry_no = 1");
        for (int listed = 0; listed < 2; listed++) {
            assertThat(all("changed", Kind.FILE).items()).extracting(Hit::over).containsExactly(false);
            assertThat(all("gone", Kind.FILE).items()).extracting(Hit::over).containsExactly(true);
            list();
        }
        end("where name = 'changed.txt'");
        assertThat(all("changed", Kind.FILE).items()).extracting(Hit::over).containsExactly(true);
    }

    @Test
    void whatIsSealedAfterTheListingIsFoundAtOnceAndListedNext() {
        seal(1, "first.txt");
        list();
        seal(1, "second.txt");

        assertThat(found("txt", Kind.FILE)).containsExactly("second.txt", "first.txt");
        list();
        assertThat(found("txt", Kind.FILE)).containsExactly("second.txt", "first.txt");
        assertThat(count("select count(*) from name_block"))
                .as("the same block, longer")
                .isOne();
        assertThat(count("select count(*) from unlisted_manifest")).isZero();
    }

    @Test
    void anErasedExperimentIsNotFoundAnyMore() {
        seal(3, "T1w.nii");
        list();
        jdbc.sql("""
                set session_replication_role = replica;
                delete from finding where experiment_id = 3; delete from manifest where experiment_id = 3;
                delete from entry where experiment_id = 3; delete from directory where experiment_id = 3;
                set session_replication_role = origin;
                delete from experiment where experiment_id = 3;
                """).update();

        assertThat(found("t1w", Kind.FILE)).isEmpty();
        assertThat(count("select count(*) from name_block")).isZero();
    }

    @Test
    void manyNamesAreListedInBlocksAndAreAllFoundPageByPage() {
        numbered(1, 70_000);
        assertThat(listOnce()).isTrue();
        assertThat(count("select count(*) from name_block")).as("one step").isEqualTo(16);
        assertThat(found("im_069999", Kind.FILE)).as("not listed yet").containsExactly("IM_069999");
        list();

        assertThat(count("select count(*) from name_block")).isEqualTo(18);
        assertThat(count("select sum(entries) from name_block")).isEqualTo(70_000);
        assertThat(found("im_000001", Kind.FILE)).containsExactly("IM_000001");
        List<String> pages = new ArrayList<>();
        String after = "";
        while (after != null) {
            SearchResult page = search.find("im_06999", Set.of(Role.ADMIN), Sight.EVERYTHING, Kind.FILE, after, 3);
            pages.addAll(names(page));
            after = page.next();
        }
        assertThat(pages)
                .containsExactly(
                        "IM_069999",
                        "IM_069998",
                        "IM_069997",
                        "IM_069996",
                        "IM_069995",
                        "IM_069994",
                        "IM_069993",
                        "IM_069992",
                        "IM_069991",
                        "IM_069990");
    }

    @Test
    void ifTheTimeIsUpTheNextPageContinues() {
        numbered(1, 50_000);
        numbered(3, 50_000);
        for (int listed = 0; listed < 2; listed++) {
            List<String> found = new ArrayList<>();
            int pages = 0;
            Key after = Key.NONE;
            while (after != null) {
                Found page = new FileSearch(jdbc, names, Sight.EVERYTHING, List.of("00001"), 99, 100, Duration.ZERO)
                        .find(after);
                page.hits().forEach(hit -> found.add(hit.experiment() + " " + hit.name()));
                assertThat(page.partial()).isEqualTo(page.next() != null);
                after = page.next();
                pages++;
            }
            assertThat(found)
                    .hasSize(22)
                    .doesNotHaveDuplicates()
                    .startsWith("Motor/E11 IM_000019", "Motor/E11 IM_000018")
                    .endsWith("Vision/E1 IM_000010", "Vision/E1 IM_000001");
            assertThat(pages).isGreaterThan(3);
            list();
        }
    }

    @Test
    void ifEverythingIsSearchedOneExperimentDoesNotHideTheOthers() {
        numbered(1, 9);
        numbered(3, 9);

        SearchResult result = search.find("im_", Set.of(Role.ADMIN), Sight.EVERYTHING, null, "", 20);

        assertThat(result.items())
                .extracting(Hit::experiment)
                .containsExactly("Motor/E11", "Motor/E11", "Motor/E11", "Vision/E1", "Vision/E1", "Vision/E1");
        assertThat(result.more()).containsExactly(Kind.FILE);
        assertThat(result.next()).isNull();
        assertThat(search.find("e1", Set.of(Role.ADMIN), Sight.EVERYTHING, null, "", 1)
                        .more())
                .containsExactly(Kind.EXPERIMENT, Kind.FINDING);
    }

    @Test
    void pagesOfOtherKindsContinueWhereTheyEnded() {
        SearchResult first = search.find("e", Set.of(Role.ADMIN), Sight.EVERYTHING, Kind.EXPERIMENT, "", 2);
        assertThat(names(first)).containsExactly("Motor/E11", "Vision/E2");
        assertThat(first.next()).isNotNull();
        SearchResult second = search.find(
                "e", Set.of(Role.ADMIN), Sight.EVERYTHING, Kind.EXPERIMENT, String.valueOf(first.next()), 2);
        assertThat(names(second)).containsExactly("Vision/E1");
        assertThat(second.next()).isNull();
    }

    @Test
    void twoThatListAtOnceListOnce() throws Exception {
        seal(1, "first.txt");

        Race.behind(database, names::listSome, names::listSome).get();

        assertThat(count("select count(*) from name_block")).isOne();
        assertThat(count("select count(*) from unlisted_manifest")).isZero();
        assertThat(found("first", Kind.FILE)).containsExactly("first.txt");
    }

    @Test
    void findingsOfOthersNeverHideOnesOwn() {
        jdbc.sql("""
                insert into finding (run_id, experiment_id, reason, message, found_at)
                select 1, 1, 'UNREADABLE', 'ＮＯ２', now() from generate_series(1, 2000)
                """).update();

        SearchResult own = search.find("socket", Set.of(Role.LAB_MANAGER), Sight.of(Set.of("Motor")), null, "", 9);
        assertThat(names(own)).containsExactly("SPECIAL");
        assertThat(own.partial()).isFalse();
        SearchResult all = search.find("socket", Set.of(Role.ADMIN), Sight.EVERYTHING, null, "", 9);
        assertThat(names(all)).isEmpty();
        assertThat(all.partial()).isTrue();
        assertThat(all.more()).containsExactly(Kind.FINDING);
        assertThat(found("socket", Kind.FINDING)).containsExactly("SPECIAL");
        assertThat(found("no2", Kind.FINDING)).hasSize(100);
    }

    @Test
    void whatWasReplacedTakesNoMoreTimeThanThereIs() {
        seal(1, "often.txt", "often.bak");
        for (int n = 0; n < 3; n++) {
            seal(1, "often.txt");
        }
        end("where name = 'often.txt' and entry_no < 5");
        int pages = 0;
        List<String> found = new ArrayList<>();
        for (Key after = Key.NONE; after != null; pages++) {
            Found page =
                    new FileSearch(jdbc, names, Sight.EVERYTHING, List.of("often"), 9, 10, Duration.ZERO).find(after);
            page.hits().forEach(hit -> found.add(hit.name()));
            after = page.next();
        }
        assertThat(found).containsExactly("often.txt", "often.bak");
        assertThat(pages).isEqualTo(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\u3000", ",", "two\nlines", "nul\0", "\ud800"})
    void whatIsNoSearchIsRefused(String text) {
        assertThatThrownBy(() -> found(text, Kind.FILE))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("expected one line of 1 to 200 characters");
    }

    @Test
    void whatIsTooLongOrNoKindOrNoPlaceIsRefused() {
        assertThatThrownBy(() -> found("x".repeat(201), Kind.FILE)).hasMessageContaining("1 to 200 characters");
        assertThatThrownBy(() -> Kind.of("scanner")).hasMessageContaining("expected experiment, project, file");
        for (String wrong : List.of("x", "1", "1.x", ".", "9999999999999999999.1")) {
            assertThatThrownBy(() -> search.find("x", Set.of(Role.ADMIN), Sight.EVERYTHING, Kind.EXPERIMENT, wrong, 1))
                    .as(wrong)
                    .hasMessageContaining("expected the value of next");
        }
    }

    private static String[] split(@Nullable String list) {
        return list == null ? new String[0] : list.split(", ");
    }

    private SearchResult all(String text, Kind kind) {
        return search.find(text, Set.of(Role.ADMIN), Sight.EVERYTHING, kind, "", 100);
    }

    private List<String> found(String text, Kind kind) {
        SearchResult result = all(text, kind);
        assertThat(result.partial()).isFalse();
        return names(result);
    }

    private static List<String> names(SearchResult result) {
        return result.items().stream().map(Hit::name).toList();
    }

    private boolean listOnce() {
        return Boolean.TRUE.equals(
                new TransactionTemplate(new JdbcTransactionManager(database)).execute(_ -> names.listSome()));
    }

    private void list() {
        while (listOnce()) {
            assertThat(count("select count(*) from unlisted_manifest")).isNotNegative();
        }
    }

    private long count(String sql) {
        return jdbc.sql(sql).query((row, n) -> row.getLong(1)).single();
    }

    private int folder(int experiment, String path) {
        jdbc.sql("""
                        insert into directory (experiment_id, directory_no, path)
                        select :e, 1 + count(*), convert_to(:path, 'UTF8') from directory where experiment_id = :e
                        """).param("e", experiment).param("path", path).update();
        return (int) count("select max(directory_no) from directory where experiment_id = " + experiment);
    }

    /** Seals a manifest with these further files, in the root or in one folder of it. */
    private void seal(int experiment, String... paths) {
        int slash = paths[0].lastIndexOf('/');
        int directory = slash < 0 ? ROOT : folder(experiment, paths[0].substring(0, slash));
        String[] own = new String[paths.length];
        for (int i = 0; i < own.length; i++) {
            own[i] = paths[i].substring(slash + 1);
        }
        seal(experiment, directory, own);
    }

    private void seal(int experiment, int directory, String... files) {
        for (String file : files) {
            entry(experiment, directory, file.getBytes(StandardCharsets.UTF_8));
        }
        sealed(experiment);
    }

    private void sealed(int experiment) {
        jdbc.sql("""
                        insert into manifest
                        select :e, 1 + count(*), now(), 0, 0, 0, 0, 0, 0, 0, 0 from manifest where experiment_id = :e
                        """).param("e", experiment).update();
    }

    private void entry(int experiment, int directory, byte[] name) {
        jdbc.sql(
                        "insert into directory (experiment_id, directory_no, path) values (:e, :root, '') on conflict do nothing")
                .param("e", experiment)
                .param("root", ROOT)
                .update();
        jdbc.sql("""
                        insert into entry
                        select :e, 1 + count(*), :directory, 1, 0, 0, 420, 'f', :name from entry_version where experiment_id = :e
                        """)
                .param("e", experiment)
                .param("directory", directory)
                .param("name", name)
                .update();
    }

    private void numbered(int experiment, int files) {
        folder(experiment, "series");
        jdbc.sql("""
                        insert into entry
                        select :e, n, 1, 1, 0, 0, 420, 'f', convert_to('IM_' || to_char(n, 'FM000000'), 'UTF8')
                        from generate_series(1, :files) n
                        """).param("e", experiment).param("files", files).update();
        jdbc.sql("update directory set path = '' where experiment_id = " + experiment)
                .update();
        sealed(experiment);
    }

    private void end(String which) {
        jdbc.sql(
                        "with gone as (delete from entry " + which + " returning *) insert into ended_entry"
                                + " select experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind, name, 2 from gone")
                .update();
    }
}
