package dozo.ui;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.LocaleResolver;

/** The language of a page: the one that was chosen here before, else the first that the browser asks for and there is, else English. */
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
        if (request.getHeader("Accept-Language") == null) {
            return Locale.ENGLISH;
        }
        return Locale.LanguageRange.parse(request.getHeader("Accept-Language")).stream()
                .flatMap(range -> find(range.getRange().split("-", 2)[0]).stream())
                .findFirst()
                .orElse(Locale.ENGLISH);
    }

    static Optional<Locale> find(String language) {
        return ALL.stream()
                .filter(locale -> locale.getLanguage().equals(language))
                .findFirst();
    }
}
