package dozo.verify;

import static java.util.Objects.requireNonNull;

import dozo.content.Instance;
import dozo.file.Digest;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Which DICOM objects entries are, by the files' own headers, and which of them are safe. An object is known once its file was
 * read to be sent; a catalogue that was rebuilt knows none.
 */
@Component
public class Images {

    private final JdbcClient jdbc;
    private final Proofs proofs;
    private final Contents contents;

    /** A DICOM object: its SOP Class UID and SOP Instance UID, neither empty. */
    public record Image(String classUid, String instanceUid) {

        /** A class is part of it: an object of another class with the same UID is another one. */
        private byte[] digest() {
            return Digest.ofText(classUid + '/' + instanceUid).bytes();
        }
    }

    /** An entry that is, or was, one of the images asked for. */
    private record Found(int experiment, int entry, int asked) {}

    public Images(JdbcClient jdbc, Proofs proofs, Contents contents) {
        this.jdbc = jdbc;
        this.proofs = proofs;
        this.contents = contents;
    }

    /** Records what entries are, by their numbers. Those that do not say it are left out. */
    public void add(int experimentId, Map<Integer, Instance> instances) {
        Map<Integer, Instance> known = instances.entrySet().stream()
                .filter(each -> each.getValue().isIdentified())
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        if (known.isEmpty()) {
            return;
        }
        List<Integer> entries = known.keySet().stream().sorted().toList();
        jdbc.sql("""
                        insert into image (experiment_id, entry_no, sop_digest)
                        select :experiment, * from unnest(:entries::integer[], :digests::bytea[])
                        on conflict do nothing
                        """)
                .param("experiment", experimentId)
                .param("entries", entries.toArray(Integer[]::new))
                .param(
                        "digests",
                        entries.stream()
                                .map(each -> requireNonNull(known.get(each)))
                                .map(each -> new Image(each.sopClassUid(), each.sopInstanceUid()).digest())
                                .toArray(byte[][]::new))
                .update();
    }

    /**
     * Returns which of these images nobody needs to keep any more. In each experiment that has an image, and there is at least
     * one, its latest entry is whole by its content and proven at every site, and no erasure of the experiment was requested.
     */
    public Set<Image> safe(List<Image> images) {
        List<Integer> sites = jdbc.sql("select site_id from site where removed_at is null")
                .query((row, n) -> row.getInt(1))
                .list();
        Map<Integer, List<Found>> byExperiment =
                found(images).stream().collect(Collectors.groupingBy(Found::experiment));
        Set<Integer> known = new HashSet<>();
        Set<Integer> unsafe = new HashSet<>();
        byExperiment.forEach((experiment, found) -> {
            Set<Integer> safe = safe(experiment, found, sites);
            found.forEach(each -> {
                known.add(each.asked);
                if (!safe.contains(each.entry)) {
                    unsafe.add(each.asked);
                }
            });
        });
        known.removeAll(unsafe);
        return known.stream().map(images::get).collect(Collectors.toSet());
    }

    private List<Found> found(List<Image> images) {
        return jdbc.sql("""
                        select distinct on (a.n, i.experiment_id) a.n::integer - 1 as asked, i.experiment_id, i.entry_no
                        from unnest(:digests::bytea[]) with ordinality as a (digest, n)
                        join image i on i.sop_digest = a.digest
                        order by a.n, i.experiment_id, i.entry_no desc
                        """)
                .param("digests", images.stream().map(Image::digest).toArray(byte[][]::new))
                .query((row, n) -> new Found(row.getInt("experiment_id"), row.getInt("entry_no"), row.getInt("asked")))
                .list();
    }

    private Set<Integer> safe(int experiment, List<Found> found, List<Integer> sites) {
        if (sites.isEmpty() || isToBeErased(experiment)) {
            return Set.of();
        }
        Set<Integer> entries = found.stream().map(Found::entry).collect(Collectors.toSet());
        Set<Integer> safe = new HashSet<>(contents.whole(experiment, entries));
        int[] numbers = entries.stream().mapToInt(Integer::intValue).sorted().toArray();
        sites.forEach(site -> safe.retainAll(proofs.proven(experiment, site, numbers)));
        return safe;
    }

    private boolean isToBeErased(int experiment) {
        return jdbc.sql("""
                        select exists (select from erasure where experiment_id = :experiment and withdrawn_at is null)
                        """)
                .param("experiment", experiment)
                .query((row, n) -> row.getBoolean(1))
                .single();
    }
}
