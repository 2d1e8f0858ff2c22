package dozo.message;

import dozo.alert.Condition.Kind;
import dozo.alert.Outbox.Message;
import dozo.alert.Outbox.Occasion;
import dozo.report.Reports;
import dozo.report.Teller;
import dozo.report.Told;
import dozo.run.Headlines;
import dozo.run.Sentence;
import dozo.start.Settings;
import java.time.Instant;
import java.time.LocalDate;
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
    private final Reports reports;
    private final Teller teller;
    private final Headlines headlines;
    private final Settings settings;
    private final ZoneId zone;

    /**
     * A message in words.
     *
     * @param subject its first line
     * @param body all of it
     * @param html the same with its form; null: it has none
     * @param report null: it is none
     */
    record Written(
            String subject,
            String body,
            @Nullable String html,
            @Nullable Told report) {}

    Text(MessageSource words, Reports reports, Teller teller, Headlines headlines, Settings settings, ZoneId zone) {
        this.words = words;
        this.reports = reports;
        this.teller = teller;
        this.headlines = headlines;
        this.settings = settings;
        this.zone = zone;
    }

    Written of(Message message) {
        return message.night() == null ? alert(message) : report(message, message.night());
    }

    /** NB: a report that was delayed tells of its own time. */
    private Written report(Message message, LocalDate night) {
        Locale locale = Locale.of(message.language());
        Told told = teller.tell(reports.of(message.sight(), night), locale);
        String url = settings.service().url().replaceAll("/+$", "");
        StringJoiner foot = new StringJoiner("\n");
        if (!url.isEmpty()) {
            line(foot, "report.see", url + "/report?date=" + night, locale);
        }
        line(foot, "report.sender", settings.service().nameHere(), locale);
        return new Written(told.subject(), told.text() + "\n" + foot + "\n", Html.of(told, url, foot.toString()), told);
    }

    private Written alert(Message message) {
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
        return new Written(subject, body.toString(), null, null);
    }

    private String sentence(Message message, Kind kind, Locale locale) {
        Sentence sentence = message.occasion() == Occasion.CLEARED
                ? Sentence.of(kind, message.count(), message.subject(), 1, null)
                : headlines.sentence(kind, message.project(), message.count(), message.subject());
        return sentence.in(words, locale);
    }

    private void line(StringJoiner body, String key, @Nullable String value, Locale locale) {
        if (value != null) {
            body.add(words.getMessage(key, new Object[] {value}, locale));
        }
    }

    private @Nullable String time(@Nullable Instant at) {
        return at == null ? null : TIME.format(at.atZone(zone));
    }
}
