package dozo.certificate;

import static java.util.Objects.requireNonNull;

import dozo.certificate.Checkpoints.Made;
import dozo.content.Verdict.State;
import dozo.file.Digest;
import dozo.file.Spool;
import dozo.ledger.Anchor;
import dozo.ledger.Ledger;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments.Experiment;
import dozo.registry.KeyFile;
import dozo.registry.Refusal;
import dozo.registry.Sites.Site;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Issues certificates: signed statements that every entry of a manifest was verified at a site. Whoever has one, and
 * wrote down the public key, can check it in ten years without Dozo (ADR 0065).
 */
@Component
public class Certificates {

    private static final int FETCH = 1_000;

    private final JdbcClient jdbc;
    private final TransactionTemplate reading;
    private final Ledger ledger;
    private final SigningKey key;
    private final Checkpoints checkpoints;
    private final InstantSource clock;

    /**
     * The public key that certificates are checked with.
     *
     * @param publicKey in PEM, as OpenSSL reads it
     * @param fingerprint SHA-256 of the key in DER, 64 hexadecimal digits
     * @param earlier a line for each key that was replaced: the key, the one after it, the time, and the signature of each of them over
     * these three
     */
    public record PublishedKey(String publicKey, String fingerprint, List<String> earlier) {}

    public Certificates(
            JdbcClient jdbc,
            PlatformTransactionManager transactions,
            Ledger ledger,
            SigningKey key,
            Checkpoints checkpoints,
            InstantSource clock) {
        this.jdbc = jdbc;
        this.reading = new TransactionTemplate(transactions);
        this.reading.setReadOnly(true);
        this.ledger = ledger;
        this.key = key;
        this.checkpoints = checkpoints;
        this.clock = clock;
    }

    /**
     * Returns the public key, and creates nothing.
     *
     * @throws Refusal if its file is missing, or is not a key pair
     */
    public PublishedKey key() {
        KeyPair pair = key.published();
        return new PublishedKey(
                SigningKey.pem(pair.getPublic()),
                SigningKey.fingerprint(pair),
                jdbc.sql("""
                        select detail ->> 'vouched' from ledger
                        where action = :introduced and detail ->> 'vouched' is not null order by seq
                        """)
                        .param("introduced", KeyFile.INTRODUCED)
                        .query((row, n) -> row.getString(1))
                        .list());
    }

    /**
     * Puts a new key in the place of the present one, which vouches for it in the ledger. What the present one has signed
     * stays valid.
     *
     * @return the new key
     * @throws Refusal if the file of the present one is missing, or is not a key pair
     */
    public synchronized PublishedKey replace(String actor) {
        KeyPair before = introduced(actor);
        SigningKey next = new SigningKey(KeyFile.next(key.file()));
        next.create();
        KeyPair now = next.published();
        ledger.append(
                actor,
                KeyFile.INTRODUCED,
                SigningKey.fingerprint(now),
                Map.of(
                        "purpose",
                        "certificates",
                        "after",
                        SigningKey.fingerprint(before),
                        "vouched",
                        SigningKey.succession(before, now, clock.instant().truncatedTo(ChronoUnit.SECONDS))));
        settle();
        return key();
    }

    private void settle() {
        KeyFile.settle(key.file(), ledger, file -> SigningKey.fingerprint(new SigningKey(file).published()), false);
    }

    /** Signs with the service's key. */
    public static final class Signer {

        private final KeyPair pair;

        private Signer(KeyPair pair) {
            this.pair = pair;
        }

        /** Returns the public key in DER. */
        public byte[] publicKey() {
            return pair.getPublic().getEncoded();
        }

        /** Returns the message's signature. What it is for must be in the message. */
        public byte[] sign(byte[] message) {
            return SigningKey.sign(pair, message);
        }
    }

    /**
     * Returns the service's key to sign with.
     *
     * @throws Refusal if its file is missing, or is not a key pair
     */
    public Signer signer(String actor) {
        return new Signer(introduced(actor));
    }

    /** Returns whether the key, in DER, has signed the message. */
    public static boolean isSigned(byte[] publicKey, byte[] message, byte[] signature) {
        return SigningKey.isSigned(publicKey, message, signature);
    }

    /** Returns the key pair. A key that is not in the ledger yet gets a row there. Ends a rotation that was interrupted. */
    private synchronized KeyPair introduced(String actor) {
        settle();
        KeyPair pair = key.published();
        if (!KeyFile.isIntroduced(ledger, SigningKey.fingerprint(pair))) {
            ledger.append(actor, KeyFile.INTRODUCED, SigningKey.fingerprint(pair), Map.of("purpose", "certificates"));
        }
        return pair;
    }

    /**
     * Issues a certificate. The ledger records it before anybody gets it. The caller must close it.
     *
     * @throws Refusal if an entry of the manifest is not verified at the site, or if there is none
     */
    public Issued issue(Experiment experiment, Manifest manifest, Site site, String actor) {
        Spool list = new Spool();
        try {
            Listing listing = listing(experiment, manifest, site, list);
            KeyPair pair = introduced(actor);
            Anchor head = ledger.head().orElseThrow(() -> new IllegalStateException("the ledger has no valid head"));
            Instant now = clock.instant().truncatedTo(ChronoUnit.MICROS);
            Made witnessed = checkpoints.latestCosigned().orElse(null);
            byte[] certificate = signed(text(experiment, manifest, site, listing, head, witnessed, now, pair), pair);
            ledger.append(
                    actor,
                    "certificate.issued",
                    "%s#%d".formatted(experiment.name(), manifest.number()),
                    Map.of(
                            "site",
                            site.name(),
                            "root",
                            listing.root(),
                            "certificate_sha256",
                            Digest.ofContent(certificate),
                            "key",
                            SigningKey.fingerprint(pair)));
            String name = "%s.%s.manifest-%d.%s"
                    .formatted(experiment.project(), experiment.code(), manifest.number(), site.name());
            String proof = witnessed == null ? null : checkpoints.proof(witnessed.size(), witnessed);
            return new Issued(name, now, certificate, list, proof);
        } catch (RuntimeException | Error e) {
            list.close();
            throw e;
        }
    }

    private Listing listing(Experiment experiment, Manifest manifest, Site site, Spool list) {
        Listing listing = new Listing(list);
        reading.executeWithoutResult(_ -> eachEntry(experiment, manifest, site, listing));
        listing.end(experiment, manifest, site);
        return listing;
    }

    /** Reads the entries by path, each with its latest valid receipt. PostgreSQL sorts them, on its disk if necessary. */
    private void eachEntry(Experiment experiment, Manifest manifest, Site site, Listing listing) {
        jdbc.sql("""
                        with proven as (
                            select distinct on (p.entry_no) p.entry_no, p.digest, r.method, r.verified_at
                            from proven_entry p join receipt r using (receipt_id)
                            where p.experiment_id = :experiment and p.site_id = :site
                            order by p.entry_no, p.receipt_id desc
                        )
                        select entry_path(d.path, e.name) as path, e.kind, e.size_bytes, p.digest, p.method, p.verified_at,
                               j.state, j.format, j.why,
                               exists (select from damage b
                                       where b.experiment_id = :experiment and b.site_id = :site
                                         and b.entry_no = e.entry_no) as damaged
                        from entry_version e
                        join directory d on d.experiment_id = :experiment and d.directory_no = e.directory_no
                        left join proven p on p.entry_no = e.entry_no
                        left join judged_entry j on j.experiment_id = :experiment and j.entry_no = e.entry_no
                        where e.experiment_id = :experiment and e.since_manifest <= :manifest
                          and (e.until_manifest is null or e.until_manifest > :manifest)
                        order by path
                        """)
                .withFetchSize(FETCH)
                .params(Map.of("experiment", experiment.id(), "site", site.id(), "manifest", manifest.number()))
                .query(listing::add);
    }

    /**
     * Returns what is signed. It names no person, and nothing by which one could be found: a broken file by its line in
     * the list.
     */
    private String text(
            Experiment experiment,
            Manifest manifest,
            Site site,
            Listing listing,
            Anchor head,
            @Nullable Made witnessed,
            Instant now,
            KeyPair pair) {
        return """
                Dozo certificate 1
                project: %s
                experiment: %s
                manifest: %d
                sealed: %s
                site: %s
                files: %d
                bytes: %d
                folders: %d
                links: %d
                whole: %d
                suspect: %d
                broken: %d
                unknown: %d
                %sfirst-verified: %s
                last-verified: %s
                root: %s
                ledger: %s%sissued: %s
                key: %s
                """.formatted(
                experiment.project(),
                experiment.code(),
                manifest.number(),
                manifest.sealedAt(),
                site.name(),
                manifest.files(),
                manifest.bytes(),
                manifest.folders(),
                manifest.links(),
                listing.files(State.WHOLE),
                listing.files(State.SUSPECT),
                listing.files(State.BROKEN),
                listing.files(State.UNKNOWN),
                listing.broken().stream().map("broken-file: %s\n"::formatted).collect(Collectors.joining()),
                listing.firstAt(),
                listing.lastAt(),
                listing.root(),
                line(head),
                witnessed == null
                        ? ""
                        : "witnessed: "
                                + line(requireNonNull(
                                        ledger.rows(List.of(witnessed.size())).get(witnessed.size()))),
                now,
                HexFormat.of().formatHex(pair.getPublic().getEncoded()));
    }

    private static String line(Anchor row) {
        return new String(row.line(), StandardCharsets.US_ASCII);
    }

    private static byte[] signed(String text, KeyPair pair) {
        byte[] signature = SigningKey.sign(pair, text.getBytes(StandardCharsets.US_ASCII));
        return "%ssignature: %s\n"
                .formatted(text, HexFormat.of().formatHex(signature))
                .getBytes(StandardCharsets.US_ASCII);
    }
}
