package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.RunningService;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page of an experiment as a browser receives it: what it is, and whether it is safe, come first. */
class ExperimentPageTest {

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared();
        service.saveUnreachable("dr");
        service.createProject("P001");
        service.createExperiment("P001", "S1", folder.resolve("S1"));
        service.jdbc()
                .sql("update experiment set title = 'Retinotopy', acquired_on = '2026-10-01'")
                .update();
    }

    @Test
    void itIsNamedByWhatItIs() {
        assertThat(page("en"))
                .contains("<title>… P001/S1 · Dozo</title>", "<h1>Retinotopy <small>P001/S1</small></h1>", "1 Oct 2026")
                .contains("Not at dr yet: the source has not been read.")
                .doesNotContain("class=\"done\"><b>Sealed");
    }

    @Test
    void oneThatIsVerifiedIsGreenToItsEnd() {
        verify();

        assertThat(page("en"))
                .contains("<title>✓ P001/S1 · Dozo</title>", "class=\"answer one safe\"")
                .contains("Safe at dr: all 3 files (2.0 kB) are verified.", "Not all copies were read again yet.");
        assertThat(page("ja")).contains("dr で安全です。3 件のファイル（2.0 kB）がすべて検証済みです。");
    }

    @Test
    void oneThatIsDamagedHasNoGreen() {
        verify();
        service.openRun();
        service.jdbc().sql("""
                        insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                        values (1, 1, 'BUNDLE', '{1}', 100, 'VERIFIED', 1, 0);
                        insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
                        select 1, 1, unit_id, 1, entry_nos, decode(repeat('00', 32), 'hex'), 'test', 'test', now()
                        from transfer_unit;
                        insert into damage (experiment_id, site_id, entry_no, receipt_id, run_id, found_at, kind)
                        select 1, 1, 1, receipt_id, 1, '2026-01-02T12:00:00Z', 'MISSING' from receipt
                        """).update();

        assertThat(page("en"))
                .contains("<title>✗ P001/S1 · Dozo</title>", "class=\"answer one damage\"")
                .contains("Copies at dr are damaged or missing: see the findings below.")
                .contains("<li class=\"broken\"><b>Registered")
                .doesNotContain("<li class=\"done\">");
        assertThat(page("ja")).contains("dr のコピーに破損または欠落があります。");
    }

    private void verify() {
        service.jdbc().sql("""
                        insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe,
                                                bytes_safe, entries_safe, counted_at)
                        values (1, 1, 1, 3, 2048, 3, 3, 2048, 3, now())
                        """).update();
    }

    private String page(String language) {
        return service.look(service.browser(), "/experiments/P001/S1", language)
                .expect(200)
                .text();
    }
}
