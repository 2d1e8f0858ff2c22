package dozo.transfer;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dozo.content.Verdict;
import dozo.export.CsvLines;
import dozo.file.FilePath;
import dozo.file.SiteNames;
import dozo.send.NameForm;
import dozo.verify.Contents.Judged;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes the tag file {@link TagFiles#CONTENT}: CSV (RFC 4180), a line for each file that was judged, in the order of the
 * bag's manifest and with names as that one writes them. Nothing is written if there is no such file.
 */
public final class ContentList implements AutoCloseable {

    /** The first line. */
    public static final List<String> HEADING = List.of("state", "format", "why", "path");

    /** In ISO 8859-1 each byte is a character: names are bytes. */
    private final CsvLines lines;

    private final SiteNames names;
    private final Stream<Judged> judged;
    private final Iterator<Judged> left;
    private @Nullable Judged next;
    private boolean begun;

    /** @param judged in the order of entry numbers; closed with this list */
    ContentList(OutputStream out, Stream<Judged> judged, SiteNames names) {
        this.lines = CsvLines.ofTerminal(new OutputStreamWriter(out, ISO_8859_1));
        this.names = names;
        this.judged = judged;
        this.left = judged.iterator();
        this.next = next();
    }

    /** Adds a file. Entry numbers increase from call to call. */
    void add(int entryNumber, FilePath path) {
        while (next != null && next.entryNumber() < entryNumber) {
            next = next();
        }
        if (next == null || next.entryNumber() != entryNumber) {
            return;
        }
        if (!begun) {
            lines.line(HEADING);
            begun = true;
        }
        Verdict verdict = next.verdict();
        lines.line(
                verdict.state().name().toLowerCase(Locale.ROOT),
                text(verdict.format().getBytes(UTF_8)),
                text(verdict.why().getBytes(UTF_8)),
                text(NameForm.encoded(TagFiles.DATA.resolve(names.of(path)).bytes())));
    }

    private @Nullable Judged next() {
        return left.hasNext() ? left.next() : null;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, ISO_8859_1);
    }

    @Override
    public void close() throws IOException {
        judged.close();
        lines.flush();
    }
}
