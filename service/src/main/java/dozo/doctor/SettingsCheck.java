package dozo.doctor;

import dozo.start.SecretFile;
import dozo.start.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The settings, by the same rules as at the start, and the files with secrets. */
final class SettingsCheck {

    private SettingsCheck() {}

    static List<Result> look(Installation installation) {
        List<Result> wrong = installation.given().failures().stream()
                .map(failure -> Result.broken(
                        "settings",
                        failure.message(),
                        "Correct it where the service is started; dozo settings lists all."))
                .toList();
        return wrong.isEmpty()
                ? List.of(Result.ok(
                        "settings",
                        "%d set, all valid"
                                .formatted(installation.given().inForce().stream()
                                        .filter(each -> !each.from().equals("default"))
                                        .count())))
                : wrong;
    }

    /** Checks that other users of this machine cannot read a secret. */
    static List<Result> secrets(Installation installation) throws IOException {
        Map<String, Path> files = new LinkedHashMap<>(installation.given().secretFiles());
        Optional<Path> work = installation.settings(Settings.class).map(Settings::workFolderOrNone);
        if (work.filter(Files::isReadable).isPresent()) {
            try (Stream<Path> own = Files.list(work.get())) {
                own.filter(Files::isRegularFile).forEach(file -> files.put(file.toString(), file));
            }
        }
        List<Result> open = new ArrayList<>();
        for (Map.Entry<String, Path> each : files.entrySet()) {
            Path file = each.getValue();
            if (Files.exists(file) && SecretFile.isReadByOthers(file)) {
                open.add(Result.warning(
                        "secrets",
                        "every user of this machine can read %s".formatted(file),
                        "Run chmod 600 on it, as its owner."));
            }
        }
        return open;
    }
}
