package dozo.source.tree;

import dozo.file.Malformed;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A pattern for the folders below a root that are experiments, and for the fields in their names:
 * {@code {project}/{date:yyyyMMdd}_{label}}. It has one step per folder level, so a capture never contains {@code /}.
 * Names are bytes: text in a pattern stands for its UTF-8, and a capture matches any bytes.
 *
 * <p>Matching takes time in proportion to the name's length. A capture ends at the first occurrence of the text after
 * it; if that text ends the name, at the last one. Names that begin with a dot are matched only by patterns that begin
 * with a dot.
 */
public final class FolderPattern {

    static final int LENGTH_MAX = 500;
    static final int STEPS_MAX = 10;
    private static final int PARTS_MAX = 20;
    private static final Pattern PART = Pattern.compile("\\{([^{}]*)}|\\*|([^{}*]+)");

    private final String text;
    private final List<List<Part>> steps;

    /** The meaning of a part of a name. */
    public enum Field {
        /** The origin's own project. */
        PROJECT,
        /** The day of the acquisition. */
        DATE,
        /** A name given by people; becomes the proposed title. */
        LABEL,
        /** The visit; becomes part of the proposed title. */
        SESSION,
        /** The subject: matched, but never stored. */
        SUBJECT,
        /** A scanner's code. */
        SCANNER,
        /** As a DICOM code. */
        MODALITY;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private sealed interface Part {
        /** @param latin one character per byte */
        record Text(String latin) implements Part {}

        /** @param field null if the matched bytes, possibly none, are ignored */
        record Capture(@Nullable Field field) implements Part {}

        record Day(DayForm form) implements Part {}
    }

    /** The format of a day; its length is fixed. */
    private enum DayForm {
        PLAIN("yyyyMMdd", "(?<y>[0-9]{4})(?<m>[0-9]{2})(?<d>[0-9]{2})", 0),
        DASHES("yyyy-MM-dd", "(?<y>[0-9]{4})-(?<m>[0-9]{2})-(?<d>[0-9]{2})", 0),
        DOTS("yyyy.MM.dd", "(?<y>[0-9]{4})[.](?<m>[0-9]{2})[.](?<d>[0-9]{2})", 0),
        LOW_LINES("yyyy_MM_dd", "(?<y>[0-9]{4})_(?<m>[0-9]{2})_(?<d>[0-9]{2})", 0),
        SHORT("yyMMdd", "(?<y>[0-9]{2})(?<m>[0-9]{2})(?<d>[0-9]{2})", 2_000);

        private final String form;
        private final Pattern written;
        private final int century;

        DayForm(String form, String written, int century) {
            this.form = form;
            this.written = Pattern.compile(written);
            this.century = century;
        }

        static DayForm of(String form) {
            return Arrays.stream(values())
                    .filter(each -> each.form.equals(form))
                    .findFirst()
                    .orElseThrow(() -> new Malformed(
                            "{date:%s}: expected one of yyyyMMdd, yyyy-MM-dd, yyyy.MM.dd, yyyy_MM_dd and yyMMdd",
                            form));
        }

        int length() {
            return form.length();
        }

        Optional<LocalDate> day(String text) {
            Matcher matcher = written.matcher(text);
            if (!matcher.matches()) {
                return Optional.empty();
            }
            try {
                return Optional.of(LocalDate.of(
                        century + Integer.parseInt(matcher.group("y")),
                        Integer.parseInt(matcher.group("m")),
                        Integer.parseInt(matcher.group("d"))));
            } catch (DateTimeException noSuchDay) {
                return Optional.empty();
            }
        }
    }

    /** The values captured from a path, as raw bytes. */
    public record Captured(
            Map<Field, byte[]> values, @Nullable LocalDate day) {

        static final Captured NOTHING = new Captured(Map.of(), null);

        public Captured {
            values = Map.copyOf(values);
        }

        public Optional<byte[]> value(Field field) {
            return Optional.ofNullable(values.get(field));
        }

        private Captured and(Captured more) {
            Map<Field, byte[]> both = new EnumMap<>(Field.class);
            both.putAll(values);
            both.putAll(more.values);
            return new Captured(both, more.day == null ? day : more.day);
        }
    }

    private FolderPattern(String text, List<List<Part>> steps) {
        this.text = text;
        this.steps = steps;
    }

    /**
     * Parses a pattern.
     *
     * @throws Malformed if the text is not a pattern; the message says what was expected
     */
    public static FolderPattern of(String text) {
        if (text.isEmpty() || text.length() > LENGTH_MAX) {
            throw new Malformed("expected a pattern of 1 to %d characters", LENGTH_MAX);
        }
        String[] names = text.split("/", -1);
        if (names.length > STEPS_MAX) {
            throw new Malformed("expected at most %d folder levels", STEPS_MAX);
        }
        Set<Field> said = EnumSet.noneOf(Field.class);
        List<List<Part>> steps = new ArrayList<>();
        for (String name : names) {
            steps.add(step(name, said));
        }
        return new FolderPattern(text, List.copyOf(steps));
    }

    private static List<Part> step(String name, Set<Field> said) {
        if (name.isEmpty() || name.equals(".") || name.equals("..")) {
            throw new Malformed(
                    "expected a path below the root, such as {project}/{date}_{label}, without empty names, . and ..");
        }
        List<Part> parts = new ArrayList<>();
        Matcher matcher = PART.matcher(name);
        int end = 0;
        while (matcher.lookingAt()) {
            add(parts, matcher, said);
            end = matcher.end();
            matcher.region(end, name.length());
        }
        if (end < name.length()) {
            throw new Malformed("\"%s\": unbalanced { or }", name);
        }
        if (parts.size() > PARTS_MAX) {
            throw new Malformed("expected at most %d parts in a name", PARTS_MAX);
        }
        return List.copyOf(parts);
    }

    private static void add(List<Part> parts, Matcher matcher, Set<Field> said) {
        String plain = matcher.group(2);
        Part part = plain == null ? capture(matcher.group(1), said) : new Part.Text(latin(plain));
        boolean behindOne = !parts.isEmpty() && parts.getLast() instanceof Part.Capture;
        if (behindOne && !(part instanceof Part.Text)) {
            throw new Malformed(
                    "expected text such as _ or - between two placeholders; otherwise the end of the first is unknown");
        }
        parts.add(part);
    }

    private static String latin(String plain) {
        if (plain.indexOf('\0') >= 0) {
            throw new Malformed("a name must not contain NUL");
        }
        return new String(plain.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    private static Part capture(@Nullable String said, Set<Field> before) {
        if (said == null) {
            return new Part.Capture(null);
        }
        String[] words = said.split(":", 2);
        Field field = Arrays.stream(Field.values())
                .filter(each -> each.word().equals(words[0]))
                .findFirst()
                .orElseThrow(() -> new Malformed(
                        "{%s}: expected {project}, {date}, {label}, {session}, {subject}, {scanner}, {modality} or *",
                        said));
        if (!before.add(field)) {
            throw new Malformed("{%s} occurs twice", field.word());
        }
        if (field == Field.DATE) {
            return new Part.Day(words.length == 1 ? DayForm.PLAIN : DayForm.of(words[1]));
        }
        if (words.length > 1) {
            throw new Malformed("{%s}: only {date} can have a format", said);
        }
        return new Part.Capture(field);
    }

    /** Returns how many levels below the root the pattern's folders are. */
    int depth() {
        return steps.size();
    }

    /**
     * Matches a name at a step; returns the known values with those captured from the name, or empty if it does not
     * match.
     */
    Optional<Captured> match(int step, byte[] bytes, Captured known) {
        List<Part> parts = steps.get(step);
        String name = new String(bytes, StandardCharsets.ISO_8859_1);
        boolean saysDot = parts.getFirst() instanceof Part.Text(String latin) && latin.startsWith(".");
        if (name.startsWith(".") && !saysDot) {
            return Optional.empty();
        }
        Map<Field, byte[]> values = new EnumMap<>(Field.class);
        LocalDate day = null;
        int at = 0;
        for (int i = 0; i < parts.size(); i++) {
            int end = end(parts, i, name, at);
            if (end < 0) {
                return Optional.empty();
            }
            String part = name.substring(at, end);
            switch (parts.get(i)) {
                case Part.Text text -> {}
                case Part.Capture(Field field) -> {
                    if (field != null) {
                        values.put(field, part.getBytes(StandardCharsets.ISO_8859_1));
                    }
                }
                case Part.Day(DayForm form) -> {
                    Optional<LocalDate> written = form.day(part);
                    if (written.isEmpty()) {
                        return Optional.empty();
                    }
                    day = written.get();
                }
            }
            at = end;
        }
        return at == name.length() ? Optional.of(known.and(new Captured(values, day))) : Optional.empty();
    }

    /** Returns where a part that starts here ends; negative if it does not match. */
    private static int end(List<Part> parts, int i, String name, int at) {
        return switch (parts.get(i)) {
            case Part.Text(String latin) -> name.startsWith(latin, at) ? at + latin.length() : -1;
            case Part.Day(DayForm form) -> at + form.length() <= name.length() ? at + form.length() : -1;
            case Part.Capture(Field field) -> captureEnd(parts, i, name, at, field == null ? 0 : 1);
        };
    }

    private static int captureEnd(List<Part> parts, int i, String name, int at, int min) {
        if (i == parts.size() - 1) {
            return name.length() - at >= min ? name.length() : -1;
        }
        if (!(parts.get(i + 1) instanceof Part.Text(String next))) {
            throw new IllegalStateException("a capture with no text behind it");
        }
        if (i == parts.size() - 2) {
            int end = name.length() - next.length();
            return end >= at + min && name.endsWith(next) ? end : -1;
        }
        return name.indexOf(next, at + min);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FolderPattern pattern && pattern.text.equals(text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }
}
