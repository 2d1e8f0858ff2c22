package dozo.doctor;

import dozo.start.SecretFile;
import dozo.start.WorklistSettings;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;

/** The worklist: whether Orthanc answers, knows the worklist server, and reaches it (C-ECHO). No booking is read. */
final class WorklistCheck {

    private static final String ABOUT = "worklist";
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(20);

    private static final int UNAUTHORIZED = 401;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int OK = 200;

    private WorklistCheck() {}

    static List<Result> look(WorklistSettings settings, Installation installation) throws InterruptedException {
        return settings.url().isEmpty() ? List.of() : List.of(look(settings));
    }

    private static Result look(WorklistSettings settings) throws InterruptedException {
        try {
            String password = settings.passwordFile().isEmpty() ? "" : SecretFile.read(settings.passwordFile());
            return result(settings, echo(settings, password));
        } catch (IllegalArgumentException e) {
            return Result.broken(
                    ABOUT,
                    "the password for Orthanc %s".formatted(e.getMessage()),
                    "Correct DOZO_WORKLIST_PASSWORD_FILE, or the file's owner and mode.");
        } catch (IOException e) {
            return Result.broken(
                    ABOUT,
                    "Orthanc at %s does not answer, so no bookings are read: %s"
                            .formatted(
                                    settings.url(),
                                    e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage()),
                    "Start Orthanc, open its port to this machine, or correct DOZO_WORKLIST_URL.");
        }
    }

    /** Has Orthanc ask the worklist server for a sign of life. Returns the status of Orthanc's answer. */
    private static int echo(WorklistSettings settings, String password) throws IOException, InterruptedException {
        URI address = URI.create(
                "%s/modalities/%s/echo".formatted(settings.url().replaceFirst("/+$", ""), settings.server()));
        HttpRequest.Builder request = HttpRequest.newBuilder(address)
                .timeout(ANSWER_LIMIT)
                .POST(BodyPublishers.ofString("{\"Timeout\": 10}"));
        if (!settings.user().isEmpty()) {
            byte[] login = (settings.user() + ":" + password).getBytes(StandardCharsets.UTF_8);
            request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(login));
        }
        try (HttpClient http = HttpClient.newBuilder()
                .connectTimeout(ANSWER_LIMIT)
                .followRedirects(HttpClient.Redirect.NEVER)
                .build()) {
            return http.send(request.build(), BodyHandlers.discarding()).statusCode();
        }
    }

    private static Result result(WorklistSettings settings, int status) {
        return switch (status) {
            case OK -> Result.ok(ABOUT, "%s answers through %s".formatted(settings.server(), settings.url()));
            case UNAUTHORIZED, FORBIDDEN ->
                Result.broken(
                        ABOUT,
                        "Orthanc at %s refuses the login".formatted(settings.url()),
                        "Correct DOZO_WORKLIST_USER and the password in DOZO_WORKLIST_PASSWORD_FILE; the user must be in Orthanc's RegisteredUsers.");
            case NOT_FOUND ->
                Result.broken(
                        ABOUT,
                        "%s has no modality named %s".formatted(settings.url(), settings.server()),
                        "Add the worklist server to DicomModalities of Orthanc, or correct DOZO_WORKLIST_SERVER and DOZO_WORKLIST_URL.");
            default ->
                Result.broken(
                        ABOUT,
                        "Orthanc at %s does not reach the worklist server %s (HTTP %d)"
                                .formatted(settings.url(), settings.server(), status),
                        "Start the worklist server (RIS), admit Orthanc's AE title and address there, and check both in DicomModalities of Orthanc.");
        };
    }
}
