package dozo.content;

import dozo.content.Verdict.State;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Inspects one file while its bytes pass: {@link #take} all of them in order, then ask for the {@link #verdict}. Keeps a few
 * kilobytes, whatever the file contains. What goes wrong in a check is logged, and its file is unknown.
 */
public final class Inspection {

    /** The formats. The first that knows a file checks it. */
    private static final List<Format> FORMATS = List.of(
            new Gzip(),
            new Nifti(),
            new Dicom(),
            new Zip(),
            // Its first entry may begin with the signature of HDF5, where a block for the user would end.
            new Tar(),
            new Hdf5(),
            new Matlab(),
            new Fiff(),
            new Twix(),
            new Ctf(),
            new Edf(),
            new Mgh(),
            new PairHeader(),
            new Par(),
            new Kit(),
            new Json(),
            new Tsv(),
            new Zeros());

    private static final Logger LOG = LoggerFactory.getLogger(Inspection.class);

    private final String name;
    private final long sizeBytes;
    private ByteBuffer beginning;
    private @Nullable Check check;
    private @Nullable Verdict verdict;
    private @Nullable RuntimeException defect;

    /**
     * Begins.
     *
     * @param name the last part of the file's path, for people
     * @param sizeBytes how long it should be, from 0
     */
    public Inspection(String name, long sizeBytes) {
        this.name = name;
        this.sizeBytes = sizeBytes;
        this.beginning = ByteBuffer.allocate(
                (int) (sizeBytes < 0 ? Beginning.BYTES : Math.min(Beginning.BYTES, Math.max(1, sizeBytes))));
    }

    /** Takes the next bytes; the buffer's position does not change. */
    public void take(ByteBuffer bytes) {
        if (verdict != null) {
            return;
        }
        ByteBuffer left = bytes.duplicate();
        try {
            if (check == null) {
                collect(left);
            }
            if (check != null) {
                check.take(left);
            }
        } catch (NotWhole why) {
            verdict = why.verdict(Objects.requireNonNull(check).format());
        } catch (RuntimeException e) {
            fail(e);
        }
    }

    /** Returns the verdict after the last byte. */
    public Verdict verdict() {
        if (verdict == null) {
            try {
                if (check == null) {
                    begin();
                }
                verdict = check == null ? Verdict.UNKNOWN : check.judge();
            } catch (NotWhole why) {
                verdict = why.verdict(Objects.requireNonNull(check).format());
            } catch (RuntimeException e) {
                fail(e);
            }
        }
        return Objects.requireNonNull(verdict);
    }

    /** Returns what the file says of others, after the last byte; empty: nothing. */
    public Optional<Relation> relation() {
        return check == null
                ? Optional.empty()
                : check.relation().filter(each -> !(each instanceof Companions those) || those.areNamed());
    }

    /** Returns the format that was recognised; empty before enough bytes came, or if it is not known. */
    Optional<String> format() {
        return Optional.ofNullable(check).map(Check::format);
    }

    private void collect(ByteBuffer bytes) throws NotWhole {
        int count = Math.min(beginning.remaining(), bytes.remaining());
        beginning.put(beginning.position(), bytes, bytes.position(), count);
        beginning.position(beginning.position() + count);
        bytes.position(bytes.position() + count);
        if (!beginning.hasRemaining()) {
            begin();
        }
    }

    /** Chooses the check, and gives it the beginning. */
    private void begin() throws NotWhole {
        ByteBuffer first = beginning.flip();
        beginning = ByteBuffer.allocate(0);
        Beginning file = new Beginning(first.asReadOnlyBuffer(), sizeBytes, name);
        check = FORMATS.stream()
                .map(format -> format.check(file))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
        if (check == null) {
            verdict = Verdict.UNKNOWN;
        } else {
            check.take(first);
        }
    }

    /** Returns what went wrong in the check itself; null: nothing. */
    @Nullable
    RuntimeException defect() {
        return defect;
    }

    private void fail(RuntimeException e) {
        LOG.warn("the content of a file could not be checked", e);
        defect = e;
        verdict = new Verdict(State.UNKNOWN, format().orElse(""), "");
    }
}
