package dozo.message;

import dozo.alert.Condition.Kind;
import dozo.alert.Outbox.Message;
import dozo.alert.Outbox.Occasion;
import dozo.start.Settings;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import org.springframework.context.MessageSource;
import org.springframework.stereotype.Component;

/** Writes messages in the recipients' languages. */
@Component
class Text {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm XXX", Locale.ROOT);

    private final MessageSource words;
    private final Settings settings;
    private final ZoneId zone;

    /** A message's first line, and all of it. */
    record Written(String subject, String body) {}

    Text(MessageSource words, Settings settings, ZoneId zone) {
        this.words = words;
        this.settings = settings;
        this.zone = zone;
    }

    Written of(Message message) {
        Locale locale = Locale.of(message.language());
        String sentence = message.kind() == null
                ? words.getMessage("alert.test", new Object[] {message.recipient()}, locale)
                : sentence(message, message.kind(), locale);
        StringJoiner body = new StringJoiner("\n", sentence + "\n\n", "\n");
        line(body, "alert.site", message.site(), locale);
        line(body, "alert.project", message.project(), locale);
        line(body, "alert.since", time(message.raisedAt()), locale);
        if (!settings.service().url().isEmpty()) {
            line(body, "alert.page", settings.service().url(), locale);
        }
        line(body, "alert.sender", settings.service().nameHere(), locale);
        String subject =
                words.getMessage("alert.subject." + message.occasion().name(), new Object[] {sentence}, locale);
        return new Written(subject, body.toString());
    }

    private String sentence(Message message, Kind kind, Locale locale) {
        Object[] arguments = {message.count(), message.subject(), 1};
        return words.getMessage("headline." + kind.name(), arguments, locale);
    }

    private void line(StringJoiner body, String key, @Nullable String value, Locale locale) {
        if (value != null) {
            body.add(words.getMessage(key, new Object[] {value}, locale));
        }
    }

    private @Nullable String time(@Nullable Instant at) {
        return at == null ? null : TIME.format(at.atZone(zone));
    }

    /** Returns the word of an occasion for programs. */
    static String word(Occasion occasion) {
        return occasion.name().toLowerCase(Locale.ROOT);
    }
}
