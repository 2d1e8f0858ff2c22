package dozo.record;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Message;
import dozo.record.Header.Link;
import dozo.registry.Refusal;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/**
 * Reads records of a site, each with those that it continues. What is read is passed on before the end of its record, where
 * the signature is checked: it must be kept in a transaction that a {@link DamagedRecord} rolls back.
 */
final class RecordChain {

    /** Not a SHA-256: of a record that no other is known to continue. */
    private static final String ANY = "";

    private static final TransactionDefinition SAVEPOINT =
            new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_NESTED);

    private final RecordFiles files;
    private final String schema;
    private final List<String> identities;
    private final Set<Digest> signers;
    private final PlatformTransactionManager transactions;
    private final Set<Digest> signedBy = new HashSet<>();
    private final Set<String> unusable = new LinkedHashSet<>();

    interface Use {
        void use(RecordReader.Table table) throws IOException;
    }

    /**
     * @param schema of this database
     * @param identities private keys
     * @param signers SHA-256 of the keys, in DER, that may have signed; empty: any
     */
    RecordChain(
            RecordFiles files,
            String schema,
            List<String> identities,
            Set<Digest> signers,
            PlatformTransactionManager transactions) {
        this.files = files;
        this.schema = schema;
        this.identities = identities;
        this.signers = signers;
        this.transactions = transactions;
    }

    /** Returns the keys that have signed what was read. */
    Set<Digest> signedBy() {
        return signedBy;
    }

    /** Returns why something of the base records is left out, for people; what is found later may be added. */
    Set<String> unusable() {
        return unusable;
    }

    boolean has(String experiment) throws IOException, InterruptedException {
        return !files.in(Header.folder(experiment)).isEmpty();
    }

    /**
     * Reads the base records: the last one, and then each that it continues. One that cannot be used is left out, and the one with the
     * next lower number is read instead. Returns the header of the last one that can be used.
     *
     * @param read called after each record: whether it was usable
     * @throws DamagedRecord if none can be used
     */
    Header base(Use use, Consumer<Boolean> read) throws IOException, InterruptedException {
        Set<FilePath> there = Set.copyOf(files.in(Header.folder(null)));
        TreeSet<Long> numbers = there.stream()
                .flatMap(file -> Header.number(file).stream())
                .collect(Collectors.toCollection(TreeSet::new));
        if (numbers.isEmpty()) {
            throw new Refusal("records", "there is no record in %s", Header.folder(null));
        }
        @Nullable Header last = null;
        @Nullable DamagedRecord damaged = null;
        @Nullable Link next = new Link(numbers.last(), ANY);
        while (next != null) {
            Link link = next;
            try {
                Header header = Loading.inTransaction(
                        transactions, SAVEPOINT, () -> read(there, Header.file(null, link.number()), link, use));
                last = last == null ? header : last;
                next = header.continues();
                read.accept(true);
            } catch (DamagedRecord e) {
                unusable.add(e.getMessage() + "; what no other record has is not in the catalogue");
                damaged = damaged == null || !damaged.isOpened() ? e : damaged;
                Long lower = numbers.lower(link.number());
                next = lower == null ? null : new Link(lower, ANY);
                read.accept(false);
            }
        }
        if (last == null && !requireNonNull(damaged).isOpened()) {
            throw new Refusal("identity", Message.verbatim(String.valueOf(damaged.getMessage())));
        }
        if (last == null) {
            throw requireNonNull(damaged);
        }
        return last;
    }

    /**
     * Reads the last record of an experiment, and then each that it continues.
     *
     * @param known a record that must be among them, unless the first of them is a later one and so complete; 0: none
     */
    void experiment(String experiment, long known, Use use) throws IOException, InterruptedException {
        FilePath folder = Header.folder(experiment);
        Set<FilePath> there = Set.copyOf(files.in(folder));
        @Nullable
        Link link = new Link(
                Header.highest(there)
                        .orElseThrow(() -> new DamagedRecord("there is no record in %s".formatted(folder))),
                ANY);
        boolean isKnown = false;
        long first = 0;
        while (link != null) {
            first = link.number();
            isKnown |= first == known;
            link = read(there, Header.file(experiment, first), link, use).continues();
        }
        if (!isKnown && first < known) {
            throw new DamagedRecord(
                    "the record %s is missing, or is not continued".formatted(Header.file(experiment, known)));
        }
    }

    /** Reads one record, and checks all of it. */
    private Header read(Set<FilePath> there, FilePath file, Link link, Use use)
            throws IOException, InterruptedException {
        if (!there.contains(file)) {
            throw new DamagedRecord("the record %s is missing".formatted(file));
        }
        try (RecordReader record = opened(file)) {
            for (RecordReader.Table table = record.table(); table != null; table = record.table()) {
                use.use(table);
            }
            Digest digest = record.end();
            if (!link.sha256().equals(ANY) && !link.sha256().equals(digest.toString())) {
                throw new DamagedRecord("the record %s is not the one that the next record continues".formatted(file));
            }
            signedBy.add(Digest.ofContent(record.header().signer()));
            return record.header();
        }
    }

    private RecordReader opened(FilePath file) throws IOException, InterruptedException {
        InputStream in = files.open(file);
        try {
            RecordReader record = new RecordReader(file, in, identities);
            check(record.header(), file);
            return record;
        } catch (IOException | RuntimeException e) {
            in.close();
            throw e;
        }
    }

    private void check(Header header, FilePath file) {
        if (header.schema().compareTo(schema) > 0) {
            throw new Refusal(
                    "records",
                    "the record %s was written by a newer Dozo (schema %s, here %s); install that version",
                    file,
                    header.schema(),
                    schema);
        }
        Digest signer = Digest.ofContent(header.signer());
        if (!signers.isEmpty() && !signers.contains(signer)) {
            throw new Refusal("records", "the record %s is signed with another key: %s", file, signer);
        }
    }
}
