package dozo;

import static java.util.Objects.requireNonNull;

import dozo.command.Exit;
import dozo.command.Failure;
import dozo.command.RunReport;
import dozo.command.SiteCommand;
import dozo.file.Digest;
import dozo.file.Size;
import dozo.people.Users;
import dozo.rebuild.Rebuild;
import dozo.rebuild.Rebuild.Progress;
import dozo.rebuild.Rebuild.RecordKey;
import dozo.record.Loading.Loaded;
import dozo.registry.Refusal;
import dozo.registry.SiteKey;
import dozo.registry.SiteTerms;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.run.Notices;
import dozo.run.Runs.Run;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Rebuilds the catalogue from a site, in the database of a service that is not running. */
@Command(
        name = "rebuild-catalogue",
        mixinStandardHelpOptions = true,
        description = {
            "Rebuilds the catalogue in an empty database from what is at a DR site, and verifies every copy there.",
            "For a new machine after a disaster. It takes the settings of the service; start the service only after the end.",
            "Nothing is written at the site. After an interruption the same command continues."
        },
        footer = {"", "Exit code 0: everything at the site was verified; 1: there are findings, or it was --lists-only."
        })
final class RebuildCommand implements Callable<Integer> {

    private static final Duration SHOWN_EVERY = Duration.ofSeconds(2);
    private static final int KEY_BYTES_MAX = 64 << 10;

    @Spec
    private @Nullable CommandSpec spec;

    @Parameters(index = "0", paramLabel = "NAME", description = "The site's name in Dozo, as it was.")
    private String name = "";

    @Parameters(index = "1", paramLabel = "USER@HOST:/ROOT", description = "The site's address.")
    private String where = "";

    @Option(
            names = "--recovery-key",
            paramLabel = "FILE",
            description = {
                "A file with the private key for the records of the catalogue at the site. With it titles, sources, users, the ledger and",
                "earlier manifests come back. Without it only the contents of the bags come back."
            })
    private @Nullable Path recoveryKey;

    @Option(
            names = "--signed-by",
            paramLabel = "FINGERPRINT",
            description = "Only records signed with this key, as dozo certificate-key prints it. Repeatable.")
    private List<String> signedBy = List.of();

    @Option(
            names = "--lists-only",
            description = {
                "Ends before the copies are verified. Start the service and restore what is urgent: a restore verifies what it gets.",
                "Then stop the service and repeat the command without this option. No night starts before that."
            })
    private boolean listsOnly;

    @Mixin
    private SiteCommand.Access access = new SiteCommand.Access();

    @EngineRooms(and = {Users.class, Rebuild.class})
    static class Rooms {

        @Bean
        Notices notices() {
            return Notices.NONE;
        }
    }

    @Override
    public Integer call() throws InterruptedException {
        SiteTerms terms = access.terms(where, requireNonNull(spec).commandLine());
        Optional<RecordKey> key = recordKey();
        SpringApplication application = new SpringApplication(Rooms.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        try (ConfigurableApplicationContext rooms = Application.start(application, Map.of())) {
            SiteKey own = rooms.getBean(SiteKey.class);
            try {
                return rebuild(rooms.getBean(Rebuild.class), terms, own, key);
            } catch (RemoteException e) {
                throw failed(e, terms, own);
            } catch (IOException e) {
                throw new Failure(Exit.UNAVAILABLE, "%s; the same command continues".formatted(e.getMessage()));
            } catch (Refusal e) {
                throw new Failure(Exit.REFUSED, "%s: %s".formatted(e.field(), e.getMessage()));
            }
        }
    }

    private Optional<RecordKey> recordKey() {
        if (recoveryKey == null) {
            return Optional.empty();
        }
        try {
            if (Files.size(recoveryKey) > KEY_BYTES_MAX) {
                throw new IOException("it is too large for a key");
            }
            return Optional.of(new RecordKey(
                    Files.readString(recoveryKey, StandardCharsets.ISO_8859_1),
                    signedBy.stream().map(Digest::ofHex).collect(Collectors.toSet())));
        } catch (IOException e) {
            throw wrong("--recovery-key: %s cannot be read: %s".formatted(recoveryKey, e.getMessage()));
        } catch (IllegalArgumentException e) {
            throw wrong("--signed-by: expected 64 hexadecimal digits");
        }
    }

    private ParameterException wrong(String message) {
        return new ParameterException(requireNonNull(spec).commandLine(), message);
    }

    private int rebuild(Rebuild rebuild, SiteTerms terms, SiteKey own, Optional<RecordKey> key)
            throws IOException, InterruptedException {
        Thread shown = Thread.ofVirtual().start(() -> show(rebuild));
        Run run;
        try {
            run = rebuild.run(name, terms.address(own), key.orElse(null), listsOnly);
        } finally {
            shown.interrupt();
            shown.join();
            sayWhoSigned(rebuild.progress().records());
        }
        PrintWriter out = requireNonNull(spec).commandLine().getOut();
        Progress done = rebuild.progress();
        out.println("lists: %,d files, folders and links of %,d experiments in %.1f s"
                .formatted(done.entries(), done.done(), seconds(done.lists())));
        if (listsOnly) {
            out.println(
                    "nothing is verified yet: start the service and restore what is urgent; then stop it, and repeat"
                            + " the command without --lists-only");
            out.flush();
            return Exit.NOT_SAFE;
        }
        out.println("digests: %,d files, folders and links, %s in %.1f s"
                .formatted(done.verified(), Size.text(done.bytesVerified()), seconds(done.digests())));
        out.println(
                run.findings() == 0
                        ? "the catalogue is rebuilt and everything is verified; start the service"
                        : "the catalogue is rebuilt, with %d findings; start the service and look at them: dozo status %d"
                                .formatted(run.findings(), run.id()));
        out.flush();
        return RunReport.exitCode(run.state());
    }

    /** Prints whose records were loaded, also if the rebuild has failed since: the same command does not load them again. */
    private void sayWhoSigned(@Nullable Loaded records) {
        if (records == null) {
            return;
        }
        PrintWriter out = requireNonNull(spec).commandLine().getOut();
        out.println("records of %s: %,d experiments, signed with %s; %s"
                .formatted(
                        records.writtenAt(),
                        records.experiments(),
                        records.signedWith(),
                        signedBy.isEmpty()
                                ? "not checked, because --signed-by was not given: if you have written down another fingerprint,"
                                        + " somebody else made these records"
                                : "as --signed-by demands"));
        out.flush();
    }

    private static double seconds(Duration duration) {
        return duration.toMillis() / 1e3;
    }

    private void show(Rebuild rebuild) {
        PrintWriter err = requireNonNull(spec).commandLine().getErr();
        String last = "";
        try {
            while (true) {
                Thread.sleep(SHOWN_EVERY);
                String line = line(rebuild.progress()).orElse("looking for experiments at the site");
                if (!line.equals(last)) {
                    err.println(line);
                    err.flush();
                }
                last = line;
            }
        } catch (InterruptedException ended) {
            // The rebuild has ended.
        }
    }

    private static Optional<String> line(Progress progress) {
        if (progress.toVerify() > 0) {
            return Optional.of("verified %,d of %,d files, folders and links, %s"
                    .formatted(progress.verified(), progress.toVerify(), Size.text(progress.bytesVerified())));
        }
        return progress.found() == 0
                ? Optional.empty()
                : Optional.of("loaded the lists of %,d of %,d experiments, %,d files, folders and links"
                        .formatted(progress.done(), progress.found(), progress.entries()));
    }

    private static Failure failed(RemoteException e, SiteTerms terms, SiteKey own) {
        String identity = terms.site().identity();
        String key = e.reason() == Reason.LOGIN_REFUSED && (identity == null || identity.isEmpty())
                ? "%nThis machine logs in with a key of its own. Let the site's administrators add this line to the authorized_keys of %s:%n%s"
                        .formatted(terms.site().user(), own.publicKey())
                : "";
        return new Failure(Exit.UNAVAILABLE, "%s; the same command continues%s".formatted(e.getMessage(), key));
    }
}
