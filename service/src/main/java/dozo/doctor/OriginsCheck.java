package dozo.doctor;

import dozo.collect.OriginKind;
import dozo.collect.OriginProbe;
import dozo.collect.Origins.Origin;
import dozo.registry.FileQuestion;
import dozo.registry.Refusal;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Trouble;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Origins with a server: whether it answers and accepts the key, and whether the spool can be written. */
final class OriginsCheck {

    private static final FileQuestion<Boolean> CAN_WRITE =
            new FileQuestion<>(spool -> Files.isDirectory(spool) && Files.isWritable(spool));

    private OriginsCheck() {}

    static List<Result> look(JdbcClient catalogue, Installation installation) {
        return Doctor.together(
                OriginProbe.active(catalogue).stream()
                        .filter(origin -> origin.terms().kind() != OriginKind.TREE)
                        .map(origin -> new Check(about(origin), with -> look(origin, with.clock())))
                        .toList(),
                installation);
    }

    private static String about(Origin origin) {
        return "origin " + origin.name();
    }

    private static List<Result> look(Origin origin, InstantSource clock) throws IOException, InterruptedException {
        List<Result> results = new ArrayList<>();
        results.add(server(origin, clock));
        spool(origin).ifPresent(results::add);
        return results;
    }

    private static Result server(Origin origin, InstantSource clock) throws IOException, InterruptedException {
        String about = about(origin);
        try {
            OriginProbe.ask(origin.terms(), clock);
            return Result.ok(about, "%s answers".formatted(origin.terms().address()));
        } catch (Refusal e) {
            return Result.broken(
                    about,
                    String.valueOf(e.getMessage()),
                    "Correct the file, its owner and mode, or name another: dozo origin save %s --secret-file FILE."
                            .formatted(origin.name()));
        } catch (DeliveryException e) {
            return Result.broken(
                    about,
                    "%s cannot be read, so nights collect nothing from it: %s"
                            .formatted(origin.terms().address(), e.getMessage()),
                    cure(origin, e.trouble()));
        }
    }

    private static String cure(Origin origin, Trouble trouble) {
        return switch (trouble) {
            case KEY_REFUSED, REFUSED, DENIED -> "Put a valid key or login into the file that dozo origin list names.";
            case GONE ->
                origin.terms().kind() == OriginKind.DICOMWEB
                        ? "Enable Orthanc's DICOMweb plugin, or correct the address: dozo origin save %s."
                                .formatted(origin.name())
                        : "Correct the address: dozo origin save %s.".formatted(origin.name());
            default ->
                "Start the server, open its port to this machine, let Java trust its certificate, or correct the address: dozo origin save %s."
                        .formatted(origin.name());
        };
    }

    private static Optional<Result> spool(Origin origin) throws IOException {
        Path spool = origin.terms().spool();
        try {
            if (CAN_WRITE.about("spool", spool, FileQuestion.PERSON)) {
                return Optional.empty();
            }
        } catch (Refusal silent) {
            return Optional.of(Result.broken(
                    about(origin), String.valueOf(silent.getMessage()), "Check the file server of the spool."));
        }
        return Optional.of(Result.broken(
                about(origin),
                "the spool %s is not a folder that this user can write"
                        .formatted(origin.terms().folder()),
                "Create or mount it, and give it to the user of the service."));
    }
}
