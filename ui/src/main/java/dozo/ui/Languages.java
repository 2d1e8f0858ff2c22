package dozo.ui;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.LocaleResolver;

/**
 * Selects the language of a page: the stored choice; else the browser's preferred one of the available languages; else
 * English.
 */
@Component("localeResolver")
final class Languages implements LocaleResolver {

    static final List<Locale> ALL = List.of(Locale.ENGLISH, Locale.JAPANESE);

    @Override
    public Locale resolveLocale(HttpServletRequest request) {
        return Choice.LANGUAGE.of(request).flatMap(Languages::find).orElseGet(() -> asked(request));
    }

    @Override
    public void setLocale(HttpServletRequest request, @Nullable HttpServletResponse response, @Nullable Locale locale) {
        throw new UnsupportedOperationException("a language is chosen by " + Choice.LANGUAGE);
    }

    private static Locale asked(HttpServletRequest request) {
        String header = Objects.requireNonNullElse(request.getHeader("Accept-Language"), "");
        return Arrays.stream(header.replace('_', '-').split(",", -1))
                .flatMap(Languages::ranges)
                .sorted(Comparator.comparingDouble(Locale.LanguageRange::getWeight)
                        .reversed())
                .flatMap(range -> find(range.getRange().split("-", 2)[0]).stream())
                .findFirst()
                .orElse(Locale.ENGLISH);
    }

    /** Parses one language, so that an invalid one does not affect the others. */
    private static Stream<Locale.LanguageRange> ranges(String language) {
        try {
            return Locale.LanguageRange.parse(language.strip()).stream();
        } catch (IllegalArgumentException | IndexOutOfBoundsException unreadable) {
            // NB: the JDK's parser fails with this exception on "-" alone.
            return Stream.empty();
        }
    }

    static Optional<Locale> find(String language) {
        return ALL.stream()
                .filter(locale -> locale.getLanguage().equals(language))
                .findFirst();
    }
}
