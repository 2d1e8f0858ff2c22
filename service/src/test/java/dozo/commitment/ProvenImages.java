package dozo.commitment;

import dozo.content.Instance;
import dozo.content.Verdict;
import dozo.content.Verdict.State;
import dozo.file.Digest;
import dozo.ledger.Ledger;
import dozo.verify.Contents;
import dozo.verify.Images;
import dozo.verify.Images.Image;
import dozo.verify.Proofs;
import dozo.verify.Receipts;
import dozo.verify.Receipts.Proof;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A catalogue with images of experiment 1, numbered from 1, of which the first ones are proven at site 1. */
final class ProvenImages {

    static final String MR = "1.2.840.10008.5.1.4.1.1.4";

    final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-10-01T12:00:00Z"));
    final InstantSource clock = now::get;
    final JdbcClient jdbc;
    final Images images;
    private final Receipts receipts;

    ProvenImages(DataSource database, int known, int proven) {
        jdbc = JdbcClient.create(database);
        Contents contents = new Contents(jdbc, clock);
        images = new Images(jdbc, new Proofs(jdbc), contents);
        receipts = new Receipts(jdbc, clock);
        jdbc.sql("""
                insert into project (code, created_at) values ('p', now());
                insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                values (1, 'E1', 'filesystem', '/data', now(), 'test');
                insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                values ('dr', 'dr.example', 22, 'dozo', '/dr', 'ssh-ed25519 AAAA', '/key', now());
                insert into run (kind, site_id, state, requested_by, started_at)
                values ('nightlyBackup', 1, 'RUNNING', 'test', now());
                insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                values (1, 1, 'BUNDLE', '{1}', 30, 'VERIFIED', 1, 0);
                """).update();
        images.add(1, byNumber(known, n -> new Instance(MR, image(n).instanceUid(), "", null, "", null)));
        contents.add(1, byNumber(known, _ -> new Verdict(State.WHOLE, "DICOM", "")));
        if (proven > 0) {
            prove(1, proven);
        }
    }

    private static <T> Map<Integer, T> byNumber(int last, Function<Integer, T> of) {
        return IntStream.rangeClosed(1, last).boxed().collect(Collectors.toMap(n -> n, of));
    }

    static Image image(int number) {
        return new Image(MR, "1.2.3." + number);
    }

    static List<Image> images(int last) {
        return IntStream.rangeClosed(1, last).mapToObj(ProvenImages::image).toList();
    }

    void prove(int first, int last) {
        List<Proof> proofs = IntStream.rangeClosed(first, last)
                .mapToObj(n -> new Proof(n, Digest.ofText("image " + n)))
                .toList();
        receipts.add(1, 1, 1, 1, 1, proofs, "archive", "exec sha256sum", "test");
    }

    Commitments commitments() {
        return new Commitments(jdbc, new Ledger(jdbc, clock), clock);
    }
}
