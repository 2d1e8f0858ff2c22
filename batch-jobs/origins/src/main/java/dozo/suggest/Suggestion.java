package dozo.suggest;

import dozo.registry.Guess;
import dozo.registry.Hint;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A suggestion for the registration of a folder.
 *
 * @param source the folder, as it would be registered
 * @param guess the values for the experiment that the folder's files give
 * @param subject the pseudonymous code of the subject, if all files are of one
 * @param studies the StudyInstanceUIDs in it; a code instead of an invalid one
 * @param filesSeen how many file names were seen; {@code filesRead} of these files were read
 * @param whole whether the whole folder was looked at
 */
public record Suggestion(
        Path source,
        Guess guess,
        @Nullable String subject,
        List<String> studies,
        int filesSeen,
        int filesRead,
        boolean whole) {

    public List<Hint> hints() {
        return guess.hints();
    }
}
