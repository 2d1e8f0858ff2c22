package dozo.report;

import dozo.report.Report.Verdict;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A report in words. Mails, the page and the command line differ only in how they show them.
 *
 * @param language of the words, as {@code en}
 * @param title with the day
 * @param sentence the verdict
 * @param subject for a mail: the day and the verdict
 * @param asOf the moment of which it tells
 */
public record Told(
        String language,
        String title,
        Verdict verdict,
        String sentence,
        String subject,
        String asOf,
        List<Section> sections) {

    /** How a line is shown. Its words say the same. */
    public enum Tone {
        SAFE,
        GAP,
        BUSY,
        QUIET;

        /** Returns its word in style sheets. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** A part of the report under its own title. */
    public record Section(String title, List<Item> items) {}

    /**
     * A line.
     *
     * @param address of the page about it, without the host; null: none
     * @param details shorter lines below it
     */
    public record Item(Tone tone, String text, @Nullable String address, List<Detail> details) {}

    /**
     * A line below another one.
     *
     * @param address of the page about it, without the host; null: none
     * @param english whether it is in the original words of a site or the system
     */
    public record Detail(String text, @Nullable String address, boolean english) {}

    /** Returns all as plain text. */
    public String text() {
        Stream<String> head = Stream.of(title, sentence, asOf);
        return String.join(
                        "\n",
                        Stream.concat(head, sections.stream().flatMap(Told::lines))
                                .toList())
                + "\n";
    }

    private static Stream<String> lines(Section section) {
        return Stream.concat(
                Stream.of("", section.title), section.items.stream().flatMap(Told::lines));
    }

    private static Stream<String> lines(Item item) {
        return Stream.concat(Stream.of("- " + item.text), item.details.stream().map(detail -> "  " + detail.text));
    }
}
