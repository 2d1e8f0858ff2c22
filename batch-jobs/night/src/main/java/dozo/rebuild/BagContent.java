package dozo.rebuild;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dozo.content.Verdict;
import dozo.content.Verdict.State;
import dozo.export.CsvLines;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Malformed;
import dozo.file.Problem;
import dozo.file.Spool;
import dozo.send.NameForm;
import dozo.transfer.ContentList;
import dozo.verify.Contents.Found;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The bag's list of what the content of its files said: whoever rebuilds the catalogue learns it without reading them again. */
record BagContent(Spool content) implements AutoCloseable {

    private static final int FIELDS = 4;

    /** With it, a name is a line of the bag's manifest, which can be read. */
    private static final String BEFORE_NAME = Digest.OF_NOTHING + "  ";

    /** Passes on each line that can be used, and reports the others. */
    void each(BagList.Unusable unusable, Consumer<Found> each) throws IOException {
        try (InputStream in = content.read()) {
            boolean ends = CsvLines.read(new InputStreamReader(in, ISO_8859_1), line -> {
                Found found = found(line);
                if (found != null) {
                    each.accept(found);
                } else if (!line.equals(ContentList.HEADING)) {
                    cannotBeUsed(unusable);
                }
            });
            if (!ends) {
                cannotBeUsed(unusable);
            }
        }
    }

    private static void cannotBeUsed(BagList.Unusable unusable) {
        unusable.line(Problem.UNPARSED, "a line of the bag's content.csv cannot be parsed; what it says is not known");
    }

    private static @Nullable Found found(List<String> fields) {
        if (fields.size() != FIELDS) {
            return null;
        }
        String format = text(fields.get(1));
        String why = text(fields.get(2));
        State state = Stream.of(State.values())
                .filter(each -> each.name().toLowerCase(Locale.ROOT).equals(fields.getFirst()))
                .findFirst()
                .orElse(null);
        boolean texts = !format.isEmpty() && (format + why).indexOf('\0') < 0;
        if (state == null || !texts || why.isEmpty() != (state == State.WHOLE)) {
            return null;
        }
        try {
            byte[] line = (BEFORE_NAME + fields.getLast()).getBytes(ISO_8859_1);
            FilePath path = BagList.pathOf(NameForm.BAG.readLine(line).name());
            return path == null ? null : new Found(path, new Verdict(state, format, why));
        } catch (Malformed e) {
            return null;
        }
    }

    private static String text(String bytes) {
        return new String(bytes.getBytes(ISO_8859_1), UTF_8);
    }

    @Override
    public void close() {
        content.close();
    }
}
