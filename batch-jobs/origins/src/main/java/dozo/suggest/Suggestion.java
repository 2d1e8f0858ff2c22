package dozo.suggest;

import dozo.registry.Guess;
import dozo.registry.Hint;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a folder may be registered as, and what is to be known before.
 *
 * @param source the folder, as it would be registered
 * @param guess what the experiment would be, as far as the folder says it
 * @param subject the pseudonymous code of the one subject that its files are of
 * @param studies the StudyInstanceUIDs in it; of one that is none, a code that stands for it
 * @param filesSeen names of files that were seen, of which {@code filesRead} were read
 * @param whole whether all of it was looked into
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
