package dozo.ui;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * What Dozo refuses, in the reader's language. Rooms refuse in English and know no other; here a refusal is recognised by the text that
 * it was made of, and said again with the same values in it.
 */
final class RefusalWords {

    /** What is longer stays as it is: to compare it would take too long. */
    static final int LENGTH_MAX = 4_096;

    private static final Pattern PLACE = Pattern.compile("%,?[sd]");

    private static final List<RefusalWords> JAPANESE = read("/refusals_ja.txt");

    private final String english;
    private final Pattern pattern;
    private final String translated;

    private RefusalWords(String english, String translated) {
        this.english = english;
        this.translated = translated;
        this.pattern = Pattern.compile(
                PLACE.splitAsStream(english + " ")
                        .map(Pattern::quote)
                        .reduce((before, after) -> before + "(.*?)" + after)
                        .orElseThrow(),
                Pattern.DOTALL);
    }

    /** The refusal in this language; empty where it is not known in it, as it never is in English. */
    static Optional<String> in(Locale language, String refusal) {
        if (!language.getLanguage().equals(Locale.JAPANESE.getLanguage()) || refusal.length() > LENGTH_MAX) {
            return Optional.empty();
        }
        return JAPANESE.stream()
                .flatMap(words -> words.say(language, refusal).stream())
                .findFirst();
    }

    /** The texts that are known, as they stand in the code. */
    static List<String> known() {
        return JAPANESE.stream().map(words -> words.english).toList();
    }

    private Optional<String> say(Locale language, String refusal) {
        Matcher found = pattern.matcher(refusal + " ");
        if (!found.matches()) {
            return Optional.empty();
        }
        // A value may be a text of ours, too.
        Object[] values = IntStream.rangeClosed(1, found.groupCount())
                .mapToObj(found::group)
                .map(value -> in(language, value).orElse(value))
                .toArray();
        return Optional.of(translated.formatted(values));
    }

    /** Those with the most of their own words first: they say more exactly what is meant. */
    private static List<RefusalWords> read(String file) {
        try (InputStream in = Objects.requireNonNull(RefusalWords.class.getResourceAsStream(file), file)) {
            List<String> lines = new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("# "))
                    .toList();
            List<RefusalWords> words = new ArrayList<>();
            for (int i = 0; i < lines.size(); i += 2) {
                words.add(new RefusalWords(lines.get(i), lines.get(i + 1)));
            }
            words.sort(Comparator.comparingInt((RefusalWords each) ->
                            PLACE.matcher(each.english).replaceAll("").length())
                    .reversed());
            return List.copyOf(words);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
