package dozo.start;

import dozo.certificate.LogKeys;
import dozo.certificate.SigningKey;
import dozo.db.ActiveService.Holder;
import dozo.db.LostDatabase;
import dozo.file.Build;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.record.RecoveryKey;
import dozo.registry.GivenPaths;
import dozo.registry.SiteKey;
import dozo.remote.Identity;
import dozo.run.Equipment;
import dozo.run.Equipment.Difference;
import dozo.run.Equipment.Kind;
import dozo.run.Services;
import dozo.source.dicom.PseudonymousCode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Reads what this process has of that which all with one database need to have in common: every key that the work of the active
 * service needs, and the settings that must agree. Creates no key (ADR 0081).
 */
@Component
final class Likeness {

    /** Of a file with a password: its digest could be guessed. */
    private static final String SET = "set";

    /** The files in the work folder that an active service generates at its first start, and no other one. */
    private static final Set<String> OWN = Set.of(
            "site-key",
            "certificate-key",
            "checkpoint-key",
            "witness-key",
            "recovery-key",
            PseudonymSettings.KEY,
            "admin-password");

    private static final Duration PAUSE = Duration.ofSeconds(1);

    /** Within this time the active service tells a key that was replaced there and copied to this machine at once. */
    private static final Duration TOLD = Duration.ofSeconds(15);

    private static final Logger LOG = LoggerFactory.getLogger(Likeness.class);

    private final Given given;
    private final Settings settings;
    private final SiteKey forSites;
    private final SigningKey forCertificates;
    private final LogKeys forCheckpoints;
    private final RecoveryKey forRecovery;

    Likeness(
            Given given,
            Settings settings,
            SiteKey forSites,
            SigningKey forCertificates,
            LogKeys forCheckpoints,
            RecoveryKey forRecovery) {
        this.given = given;
        this.settings = settings;
        this.forSites = forSites;
        this.forCertificates = forCertificates;
        this.forCheckpoints = forCheckpoints;
        this.forRecovery = forRecovery;
    }

    /** Reads everything. A worker needs only the keys of sites. */
    Equipment of(Role role, JdbcClient jdbc) {
        SortedMap<String, Equipment.Key> keys = role == Role.WORKER ? new TreeMap<>() : own();
        jdbc.sql("select name, identity_file, jump_identity_file from site where removed_at is null")
                .query(row -> {
                    String name = "of site " + row.getString("name");
                    keys.put(name, ofSite(row.getString("identity_file")));
                    String jump = row.getString("jump_identity_file");
                    if (jump != null) {
                        keys.put(name + "'s jump host", ofSite(jump));
                    }
                });
        if (role != Role.WORKER) {
            jdbc.sql("select name, secret_file from origin where secret_file is not null")
                    .query(row -> {
                        Path file = FilePath.pathOf(row.getBytes("secret_file"));
                        keys.put("of origin " + row.getString("name"), password(file));
                    });
        }
        return new Equipment(Build.VERSION, keys, given.agreed(role == Role.WORKER));
    }

    private SortedMap<String, Equipment.Key> own() {
        SortedMap<String, Equipment.Key> keys = new TreeMap<>();
        keys.put("site-key", key(forSites.file(), forSites::publicKey));
        keys.put("certificate-key", key(forCertificates.file(), forCertificates::publicText));
        keys.put("checkpoint-key", key(forCheckpoints.log().file(), forCheckpoints.log()::publicText));
        keys.put("witness-key", key(forCheckpoints.witness().file(), forCheckpoints.witness()::publicText));
        keys.put("recovery-key", key(forRecovery.file(), forRecovery::published));
        Path pseudonym = given.of(PseudonymSettings.class).file(settings);
        keys.put(PseudonymSettings.KEY, key(pseudonym, () -> fingerprint(pseudonym)));
        if (!given.secretFiles().containsKey("DOZO_ADMIN_PASSWORD_FILE")) {
            keys.put("admin-password", password(settings.workFolderOrNone().resolve("admin-password")));
        }
        return keys;
    }

    private static String fingerprint(Path pseudonym) {
        byte[] key = SecretFile.read(pseudonym.toString()).getBytes(StandardCharsets.UTF_8);
        return new PseudonymousCode(key).of("the fingerprint of this key").orElseThrow();
    }

    private static Equipment.Key ofSite(String file) {
        Path path = Path.of(file);
        return key(path, () -> String.join("\n", Identity.publicKeys(path)));
    }

    /** Reads the public part of a key, or what cannot be found without the key; empty: it cannot be used. */
    private static Equipment.Key key(Path file, Callable<String> read) {
        try {
            String text = Files.exists(file) ? read.call() : "";
            return new Equipment.Key(
                    GivenPaths.shown(file),
                    text.isEmpty() ? "" : Digest.ofText(text).toString());
        } catch (Exception unusable) {
            // Its message might contain key material.
            return new Equipment.Key(GivenPaths.shown(file), "");
        }
    }

    private static Equipment.Key password(Path file) {
        return new Equipment.Key(GivenPaths.shown(file), Files.isReadable(file) ? SET : "");
    }

    /** Returns whether no key is missing that an active service generates at its first start. */
    static boolean isComplete(Equipment equipment) {
        return missing(equipment).isEmpty();
    }

    private static List<Difference> missing(Equipment equipment) {
        return equipment.keys().entrySet().stream()
                .filter(each ->
                        OWN.contains(each.getKey()) && each.getValue().print().isEmpty())
                .map(each -> new Difference(
                        Kind.KEY_MISSING, each.getKey(), each.getValue().file(), each.getKey()))
                .toList();
    }

    /**
     * Refuses to stand by or to work without the keys of the active service, and warns of other differences. Waits up to
     * {@code dozo.db.start-wait} for an active service that has just started and has not told its keys yet; a worker only
     * 15 s, because it may start when no service runs.
     *
     * @throws StartFailure if a key is missing here or differs
     */
    void require(Role role, JdbcClient jdbc, Holder active) throws InterruptedException {
        long began = System.nanoTime();
        long wait = settings.db().startWait().toNanos();
        long toldWithin = Math.min(wait, TOLD.toNanos());
        while (true) {
            long waited = System.nanoTime() - began;
            try {
                Equipment own = of(role, jdbc);
                Optional<Equipment> theirs = new Services(jdbc).active();
                List<Difference> differences = theirs.map(own::differences).orElse(List.of());
                boolean older = differences.stream().anyMatch(each -> each.kind() == Kind.KEY_DIFFERS);
                if (theirs.isPresent() && !(older && waited < toldWithin)) {
                    require(role, active.name(), differences);
                    return;
                }
                if (theirs.isEmpty() && waited > (role == Role.WORKER ? toldWithin : wait)) {
                    require(role, active.name(), missing(own));
                    LOG.warn("cannot compare keys and settings with {}, which has not told its own", active.name());
                    return;
                }
            } catch (DataAccessException e) {
                if (!LostDatabase.isBehind(e) || waited > wait) {
                    throw e;
                }
            }
            Thread.sleep(PAUSE);
        }
    }

    private static void require(Role role, String active, List<Difference> differences) {
        String grave = differences.stream()
                .filter(Difference::grave)
                .map(each -> "%s; copy %s of %s to this file, for its user only"
                        .formatted(each.words(), each.source(), active))
                .collect(Collectors.joining("; "));
        if (!grave.isEmpty()) {
            throw new StartFailure(
                    StartFailure.CONFIGURATION,
                    "this %s lacks what the active service, %s, has: %s"
                            .formatted(role == Role.WORKER ? "worker" : "service", active, grave));
        }
        differences.forEach(each -> LOG.warn("compared with the active service, {}: {}", active, each.words()));
    }
}
