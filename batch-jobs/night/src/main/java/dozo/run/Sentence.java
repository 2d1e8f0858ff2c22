package dozo.run;

import dozo.manifest.Freezes.Swept;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.context.MessageSource;

/**
 * The sentence that says how the data stands, or what needs a person: the same on pages, in REST, on the command line, in mail and in
 * reports.
 *
 * @param key of the words
 */
public record Sentence(String key, List<Object> arguments) {

    /**
     * Returns the sentence of a headline, or of a condition with the name of a headline's kind.
     *
     * @param count how many things it is about
     * @param subject the first of them
     * @param experiments more than 1: there are others besides the subject
     * @param frozen what vanished or changed at once, if the sentence is about that and it is still so
     */
    public static Sentence of(Enum<?> kind, long count, String subject, long experiments, @Nullable Swept frozen) {
        if (!kind.name().equals(Headlines.Kind.FROZEN.name()) || frozen == null) {
            return new Sentence("headline." + kind.name(), List.of(count, subject, experiments));
        }
        return new Sentence(
                "headline.FROZEN.files",
                List.of(
                        frozen.experiments(),
                        frozen.first(),
                        frozen.experiments(),
                        frozen.entriesLost(),
                        frozen.entries(),
                        frozen.entries() - frozen.entriesLost(),
                        frozen.sites().size(),
                        String.join(", ", frozen.sites())));
    }

    /** Returns it in the words of a language. */
    public String in(MessageSource words, Locale language) {
        return words.getMessage(key, arguments.toArray(), language);
    }
}
