package dozo.drill;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.copy.Restore;
import dozo.file.FilePath;
import dozo.file.Selection;
import dozo.ledger.Rows;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.plan.RestoreCost.Measured;
import dozo.plan.Work;
import dozo.registry.Refusal;
import dozo.registry.SiteLanes;
import dozo.registry.Sites.Site;
import dozo.restore.Inventories;
import dozo.restore.TargetFolder;
import dozo.source.OpenFolder;
import dozo.verify.Copies;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Restores of a sample of experiments out of a rebuilt catalogue, one after the other; each is verified, measured and removed. */
final class ScratchRestores {

    /** How many experiments are restored. */
    static final int SAMPLE = 20;

    private final JdbcClient rebuilt;
    private final Manifests manifests;
    private final Inventories inventories;
    private final Site site;
    private final SiteLanes lanes;
    private final List<Measured> measured = new ArrayList<>();
    private int restored;
    private long entries;
    private long bytes;
    private double seconds;

    record Chosen(int experimentId, String name, int manifest) {}

    /** @param site as the living catalogue knows it */
    ScratchRestores(JdbcClient rebuilt, Site site, SiteLanes lanes) {
        this.rebuilt = rebuilt;
        this.manifests = new Manifests(rebuilt);
        this.inventories = new Inventories(manifests, new Copies(rebuilt));
        this.site = site;
        this.lanes = lanes;
    }

    /** What was restored, also if it was not complete; {@code measured} if it was. */
    record Restored(int experiments, long entries, long bytes, double seconds, List<Measured> measured) {}

    Restored restored() {
        return new Restored(restored, entries, bytes, seconds, measured);
    }

    /**
     * Returns up to {@value #SAMPLE} experiments with files: the largest and the oldest, one of each project as far as there is room, then
     * any, of which larger and older ones are more likely.
     */
    List<Chosen> chosen() {
        return rebuilt.sql("""
                        with known as (
                            select m.experiment_id, p.code || '/' || e.code as name, m.manifest_no as manifest, p.project_id, m.bytes,
                                   coalesce(e.acquired_on::timestamptz, e.registered_at) as since
                            from experiment e join project p using (project_id)
                            join lateral (select * from manifest where experiment_id = e.experiment_id
                                          order by manifest_no desc limit 1) m using (experiment_id)
                            where m.files > 0
                        ), ranked as (
                            select *, row_number() over (order by bytes desc) as by_size, row_number() over (order by since) as by_age,
                                   row_number() over (partition by project_id order by random()) as in_project,
                                   ntile(4) over (order by bytes) + ntile(4) over (order by since desc) as weight
                            from known
                        )
                        select experiment_id, name, manifest from ranked
                        order by least(by_size, by_age) > 1, in_project > 1, -ln(1 - random()) / weight
                        limit :sample
                        """)
                .param("sample", SAMPLE)
                .query(Rows.of(Chosen.class))
                .list();
    }

    /**
     * Restores one, or a part of it, into a new folder, which is removed.
     *
     * @param bytesMax of an experiment with more, a part is restored; of one with only larger files, nothing
     * @param tell gets what was not restored
     */
    void restore(Chosen one, Path folder, long bytesMax, Consumer<String> tell) throws InterruptedException {
        Manifest manifest = manifests.find(one.experimentId, one.manifest).orElseThrow();
        FilePath part;
        try {
            part = Rehearsals.part(rebuilt, one.name, manifest, bytesMax);
        } catch (Refusal tooLarge) {
            return;
        }
        int siteId = rebuilt.sql("select site_id from site where name = :name and removed_at is null")
                .param("name", site.name())
                .query(Integer.class)
                .single();
        List<Finding> found = new ArrayList<>();
        try (Restore restore = new Restore(
                inventories.of(manifest, siteId),
                one.name,
                one.manifest,
                Selection.of(part),
                site.address(),
                folder,
                new Options(0, 0, false).checked(lanes.check()))) {
            Progress progress = run(restore, folder, found);
            found.forEach(each -> tell.accept("restore of %s: %s".formatted(one.name, each.message())));
            if (found.isEmpty() && !progress.complete()) {
                tell.accept("restore of %s: it is not complete".formatted(one.name));
            }
        } catch (IOException e) {
            tell.accept("restore of %s: %s".formatted(one.name, e.getMessage()));
        }
    }

    private Progress run(Restore restore, Path folder, List<Finding> found) throws IOException, InterruptedException {
        long began = System.nanoTime();
        try (OpenFolder held = OpenFolder.open(TargetFolder.makeScratch(folder))) {
            Progress progress = restore.run(held, found::add);
            double took = (System.nanoTime() - began) / 1e9;
            Long first = restore.firstByteAt();
            restored++;
            entries += progress.entriesVerified();
            bytes += progress.bytesVerified();
            seconds += took;
            if (first != null && progress.complete()) {
                measured.add(new Measured(
                        new Work(progress.bytesVerified(), progress.entriesVerified()), (first - began) / 1e9, took));
            }
            return progress;
        } finally {
            TargetFolder.remove(folder);
        }
    }
}
