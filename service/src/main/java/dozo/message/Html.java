package dozo.message;

import dozo.report.Told;
import dozo.report.Told.Item;
import dozo.report.Told.Section;
import dozo.report.Told.Tone;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.web.util.HtmlUtils;

/**
 * Shows a report as HTML that mail programs show as it is, on phones too: styles in the elements, nothing that has to be loaded,
 * and colours of text and ground that the reader's program chooses.
 */
final class Html {

    private static final String SMALL = "font-size:14px";

    private Html() {}

    /**
     * Returns a whole document.
     *
     * @param url of the service, for links; empty: there are none
     * @param foot the last lines
     */
    static String of(Told told, String url, String foot) {
        return """
                <!DOCTYPE html>
                <html lang="%s"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
                <meta name="color-scheme" content="light dark"><title>%s</title></head>
                <body style="margin:0;padding:16px;font-family:sans-serif;font-size:16px;line-height:1.5;overflow-wrap:anywhere">
                <div style="max-width:42em;margin:0 auto">
                <p style="margin:0;%s">%s</p>
                <h1 style="margin:8px 0;padding-left:12px;border-left:6px solid %s;font-size:20px;line-height:1.35">%s</h1>
                <p style="margin:0;%s">%s</p>
                %s
                <p style="margin:24px 0 0;%s">%s</p>
                </div></body></html>
                """.formatted(
                told.language(),
                escaped(told.title()),
                SMALL,
                escaped(told.title()),
                colour(tone(told)),
                escaped(told.sentence()),
                SMALL,
                escaped(told.asOf()),
                told.sections().stream().map(section -> of(section, url)).collect(Collectors.joining("\n")),
                SMALL,
                escaped(foot).replace("\n", "<br>"));
    }

    private static Tone tone(Told told) {
        return switch (told.verdict()) {
            case SAFE -> Tone.SAFE;
            case NONE -> Tone.QUIET;
            case SAFE_BUT, UNKNOWN, NOT_SAFE -> Tone.GAP;
        };
    }

    private static String of(Section section, String url) {
        return """
                <h2 style="margin:24px 0 8px;font-size:16px">%s</h2>
                <ul style="margin:0;padding:0;list-style:none">
                %s
                </ul>""".formatted(
                        escaped(section.title()),
                        section.items().stream().map(item -> of(item, url)).collect(Collectors.joining("\n")));
    }

    private static String of(Item item, String url) {
        return "<li style=\"margin:8px 0;padding-left:12px;border-left:4px solid %s\">%s%s</li>"
                .formatted(
                        colour(item.tone()),
                        linked(item.text(), item.address(), url),
                        item.details().stream()
                                .map(detail -> "<div style=\"%s\">%s</div>"
                                        .formatted(SMALL, linked(detail.text(), detail.address(), url)))
                                .collect(Collectors.joining()));
    }

    private static String linked(String text, @Nullable String address, String url) {
        return address == null || url.isEmpty()
                ? escaped(text)
                : "<a href=\"%s\">%s</a>".formatted(escaped(url + address), escaped(text));
    }

    /** Returns a colour that can be told from a white ground and from a black one. */
    private static String colour(Tone tone) {
        return switch (tone) {
            case SAFE -> "#2e9e5b";
            case GAP -> "#d9482b";
            case BUSY -> "#3b82d0";
            case QUIET -> "#8a8f98";
        };
    }

    private static String escaped(String text) {
        return HtmlUtils.htmlEscape(text, "UTF-8");
    }
}
