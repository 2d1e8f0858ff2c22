package dozo.ui;

import dozo.file.Message;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Dozo's messages in the reader's language. The code contains the English ones, so only other languages need a table.
 */
final class Translations {

    private static final Map<String, String> JAPANESE = read("/room_messages_ja.txt");

    private Translations() {}

    /** Returns the message in this language; empty if it must be shown in English. */
    static Optional<String> in(Locale language, Message message) {
        if (!language.getLanguage().equals(Locale.JAPANESE.getLanguage())) {
            return Optional.empty();
        }
        Object[] values = message.values().stream()
                .map(value -> value instanceof Message part ? in(language, part).orElse(part.toString()) : value)
                .toArray();
        return Optional.ofNullable(JAPANESE.get(message.format()))
                .map(format -> String.format(language, format, values));
    }

    /** Returns the English formats, as in the code, with their Japanese ones. */
    static Map<String, String> japanese() {
        return JAPANESE;
    }

    private static Map<String, String> read(String file) {
        try (InputStream in = Objects.requireNonNull(Translations.class.getResourceAsStream(file), file)) {
            List<String> lines = new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("# "))
                    .toList();
            Map<String, String> formats = new HashMap<>();
            for (int i = 0; i < lines.size(); i += 2) {
                if (formats.put(lines.get(i), lines.get(i + 1)) != null) {
                    throw new IllegalStateException("twice in " + file + ": " + lines.get(i));
                }
            }
            return Map.copyOf(formats);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
