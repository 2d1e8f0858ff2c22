package dozo.doctor;

import dozo.file.Size;
import dozo.ledger.Ledger;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.AcceptedKey;
import dozo.remote.Identity;
import dozo.remote.KeyPowers.Power;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.SiteCheck;
import dozo.remote.Space;
import dozo.run.SiteAhead;
import dozo.start.SecretFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The registered sites, by the same check as {@code dozo site check}; its result is not stored. */
final class SitesCheck {

    private static final Pattern OPENSSH = Pattern.compile("OpenSSH_(\\d+)\\.\\d+");

    /** It came with copying within the server, which saves sending unchanged lines of lists again. */
    private static final int OPENSSH_GOOD = 9;

    private static final double FREE_SHARE_MIN = 0.05;

    private static final Set<Power> HARMS = Set.of(Power.CHANGE, Power.REPLACE, Power.DELETE);

    private static final Duration CLOCK_OFF_MAX = Duration.ofSeconds(60);

    private SitesCheck() {}

    static List<Result> look(JdbcClient jdbc, Installation installation) {
        Ledger ledger = new Ledger(jdbc, installation.clock());
        List<Site> sites = new Sites(jdbc, ledger, installation.clock()).all();
        if (sites.isEmpty()) {
            return List.of(none(jdbc));
        }
        return Doctor.together(
                sites.stream()
                        .map(site -> new Check("site " + site.name(), _ -> look(site, ledger, jdbc)))
                        .toList(),
                installation);
    }

    private static Result none(JdbcClient jdbc) {
        String cure = "Register a DR site: dozo site add NAME USER@HOST:/ROOT.";
        return jdbc.sql("select exists (select from experiment)")
                        .query(Boolean.class)
                        .single()
                ? Result.warning("sites", "no site is registered, so no experiment is backed up", cure)
                : Result.hint("sites", "no site is registered yet", cure);
    }

    private static List<Result> look(Site site, Ledger ledger, JdbcClient jdbc)
            throws IOException, InterruptedException {
        String about = "site " + site.name();
        List<Result> results = new ArrayList<>();
        Path key = site.address().identity();
        if (!Files.isReadable(key)) {
            return List.of(Result.broken(
                    about,
                    "the private key %s cannot be read".formatted(key),
                    "Give it to the user of the service, with mode 600; or set another: dozo site change %s --identity FILE."
                            .formatted(site.name())));
        }
        if (Identity.isOpen(key)) {
            return List.of(Result.broken(
                    about,
                    "other users can read or write the private key %s, so it is not used".formatted(key),
                    "Run chmod 600 on it."));
        }
        if (SecretFile.isReadByOthers(key)) {
            results.add(Result.warning(
                    about,
                    "every user of this machine can read the private key %s".formatted(key),
                    "Run chmod 600 on it, as its owner."));
        }
        try (Lanes lanes = Lanes.to(site.address(), 1)) {
            if (Files.exists(Identity.former(key)) && AcceptedKey.at(site.address()) == AcceptedKey.FORMER) {
                results.add(Result.warning(
                        about,
                        "the site accepts only the key before the present one",
                        "Add the present public key (dozo site key) to the authorized_keys of %s there."
                                .formatted(site.address().user())));
            }
            SiteCheck check = SiteCheck.of(lanes.next());
            results.addAll(found(site, check));
            if (check.usable()) {
                SiteAhead.at(lanes, ledger, jdbc)
                        .ifPresent(message -> results.add(Result.warning(about, message, SiteAhead.CURE)));
            }
        } catch (RemoteException e) {
            results.add(Result.broken(about, String.valueOf(e.getMessage()), cure(site, e.reason())));
        }
        return results;
    }

    private static String cure(Site site, Reason reason) {
        return switch (reason) {
            case UNREACHABLE ->
                "Start the host and its sshd, open the firewall, or correct the address: dozo site change %s."
                        .formatted(site.name());
            case HOST_KEY ->
                "Ask the site's administrators whether they changed the key, and only then: dozo site change %s --host-key-file FILE."
                        .formatted(site.name());
            case LOGIN_REFUSED ->
                "Add the public key (dozo site key) to the authorized_keys of %s there."
                        .formatted(site.address().user());
            case NO_SFTP, PROTOCOL ->
                "Enable the sftp subsystem in the site's sshd_config, and print nothing in the shell's start-up files.";
            case LOST, STUCK -> "Check the network to the site and its disks, and run dozo doctor again.";
            case NO_SUCH_FILE, EXISTS, PERMISSION_DENIED, READ_ONLY, FULL, UNSUPPORTED, REFUSED ->
                "Check the private key %s on this machine, and the root %s at the site."
                        .formatted(site.address().identity(), site.address().root());
        };
    }

    private static List<Result> found(Site site, SiteCheck check) {
        String about = "site " + site.name();
        List<Result> results = new ArrayList<>();
        check.findings()
                .forEach(finding -> results.add(
                        check.usable()
                                ? Result.warning(about, finding, cure(site, check))
                                : Result.broken(about, finding, cure(site, check))));
        if (!check.usable()) {
            return results;
        }
        if (check.digest().method().equals("read-back")) {
            results.add(Result.warning(
                    about,
                    "the site computes no digests, so every file is read back, which takes as long as sending it",
                    "Allow %s to run sha256sum or openssl there, or accept slower nights."
                            .formatted(site.address().user())));
        }
        check.space()
                .filter(SitesCheck::isScarce)
                .ifPresent(space -> results.add(Result.warning(
                        about,
                        "only %s of %s are free".formatted(Size.text(space.freeBytes()), Size.text(space.totalBytes())),
                        "Free some space at the site, or enlarge its file system.")));
        old(check.server())
                .ifPresent(version -> results.add(Result.hint(
                        about,
                        "OpenSSH %d there is old: it cannot copy within the server".formatted(version),
                        "Upgrade the site's OpenSSH to version %d or newer when you can.".formatted(OPENSSH_GOOD))));
        if (check.keyPowers().could().stream().anyMatch(HARMS::contains)) {
            results.add(Result.hint(
                    about,
                    "somebody who steals the key of Dozo could change or delete copies there",
                    "Protect the site by docs/run/hardened-site.md."));
        }
        results.add(Result.ok(
                about,
                "%s, writable, digests by %s%s"
                        .formatted(
                                check.server(),
                                check.digest().method(),
                                check.space()
                                        .map(space -> ", %s free".formatted(Size.text(space.freeBytes())))
                                        .orElse(""))));
        return results;
    }

    private static String cure(Site site, SiteCheck check) {
        if (!check.rootThere()) {
            return "Create the folder %s there, owned by %s, or mount its file system."
                    .formatted(site.address().root(), site.address().user());
        }
        if (check.space().filter(Space::full).isPresent()) {
            return "Free some space at the site, or enlarge its file system.";
        }
        if (!check.writable()) {
            return "Let %s write in %s there, or mount its file system read-write."
                    .formatted(site.address().user(), site.address().root());
        }
        if (check.clockAhead()
                .filter(ahead -> ahead.abs().compareTo(CLOCK_OFF_MAX) > 0)
                .isPresent()) {
            return "Set the clocks of both machines by NTP.";
        }
        return "Repair it at the site, or use an OpenSSH server; dozo site check %s has details."
                .formatted(site.name());
    }

    private static boolean isScarce(Space space) {
        return space.totalBytes() > 0 && space.freeBytes() < space.totalBytes() * FREE_SHARE_MIN;
    }

    /** Returns the main version of an OpenSSH server that is old. */
    static Optional<Integer> old(String server) {
        Matcher version = OPENSSH.matcher(server);
        return version.find()
                ? Optional.of(Integer.parseInt(version.group(1))).filter(found -> found < OPENSSH_GOOD)
                : Optional.empty();
    }
}
