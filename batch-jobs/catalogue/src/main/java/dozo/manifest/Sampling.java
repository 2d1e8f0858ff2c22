package dozo.manifest;

import dozo.file.FilePath;
import dozo.manifest.Signs.Sample;
import dozo.registry.Experiments.Experiment;
import dozo.registry.FileQuestion;
import dozo.source.OpenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the beginnings of some files of a source, and judges whether they look encrypted. */
final class Sampling {

    private static final int READ_BYTES = 1 << 16;

    /** For all files together. A source that does not respond is unknown. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** Fewer bytes do not show whether they are random. */
    private static final int RANDOM_BYTES_MIN = 1 << 10;

    /** Random bytes have 8 bits each; text, images and volumes without compression have at most about 7.5. */
    private static final double RANDOM_BITS_MIN = 7.9;

    private static final int BYTE_VALUES = 256;

    /** Of a name, so many last suffixes are looked at: the one that encryption added, and the former one. */
    private static final int SUFFIXES_MAX = 3;

    /** How files of a type begin: suffixes, then the alternatives in hexadecimal, each with {@code offset:} if it is not 0. */
    private static final Map<String, List<String>> BEGINNINGS = beginnings("""
            dcm,ima 128:4449434d
            nii 5c010000 0000015c 1c020000 0000021c
            gz,tgz,mgz 1f8b
            bz2 425a68
            xz fd377a585a00
            zst 28b52ffd
            7z 377abcaf271c
            zip,docx,xlsx,pptx 504b
            pdf 25504446
            jpg,jpeg ffd8ff
            png 89504e47
            tif,tiff 49492a00 4d4d002a 49492b00 4d4d002b
            h5,hdf5 894844460d0a
            """);

    private Sampling() {}

    private static Map<String, List<String>> beginnings(String table) {
        Map<String, List<String>> all = new HashMap<>();
        table.lines().map(line -> List.of(line.split(" ", -1))).forEach(words -> {
            for (String suffix : words.getFirst().split(",", -1)) {
                all.put(suffix, words.subList(1, words.size()));
            }
        });
        return all;
    }

    /**
     * Reads files. Never fails: what cannot be read is counted.
     *
     * @return null if the source does not respond, or this thread is interrupted: nothing is known
     */
    static @Nullable Sample read(Experiment experiment, List<FilePath> files) {
        // NB: a new question each time. A shared one may return the answer of a neighbour, or wait without limit.
        try {
            return new FileQuestion<>(_ -> read(experiment.opened(), files))
                    .about("source", experiment.source(), PATIENCE);
        } catch (IOException | RuntimeException unknown) {
            // Whatever it is: the look has been stored, and must not fail because of its sample. People are told that
            // nothing is known.
            return null;
        }
    }

    private static Sample read(Path source, List<FilePath> files) {
        int unreadable = 0;
        int random = 0;
        int typed = 0;
        int wrong = 0;
        for (FilePath path : files) {
            ByteBuffer into = ByteBuffer.allocate(READ_BYTES);
            try (OpenFile file = OpenFile.open(source, path)) {
                file.read(into, 0);
            } catch (IOException e) {
                unreadable++;
                continue;
            }
            byte[] begins = Arrays.copyOf(into.array(), into.position());
            boolean isRandom = isRandom(begins);
            Boolean right = beginsAsNamed(path.name(), begins, isRandom);
            random += isRandom ? 1 : 0;
            typed += right == null ? 0 : 1;
            wrong += Boolean.FALSE.equals(right) ? 1 : 0;
        }
        return new Sample(files.size() - unreadable, unreadable, random, typed, wrong);
    }

    /** Returns whether these look like random bytes, by their entropy in bits per byte, which is less for few bytes. */
    static boolean isRandom(byte[] bytes) {
        if (bytes.length < RANDOM_BYTES_MIN) {
            return false;
        }
        int[] counts = new int[BYTE_VALUES];
        for (byte each : bytes) {
            counts[each & 0xff]++;
        }
        double bits = 0;
        for (int count : counts) {
            if (count > 0) {
                double share = (double) count / bytes.length;
                bits -= share * Math.log(share) / Math.log(2);
            }
        }
        double bias = (BYTE_VALUES - 1) / (2 * bytes.length * Math.log(2));
        return bits >= RANDOM_BITS_MIN - bias;
    }

    /**
     * Returns whether a file begins as its name says; null if its name names no known type. With a suffix behind that of a
     * type, as in {@code image.dcm.locked}, only random bytes count: {@code image.dcm.md5} is not an image.
     */
    static @Nullable Boolean beginsAsNamed(byte[] name, byte[] bytes, boolean random) {
        // NB: bytes are characters here, so that a name that is not UTF-8 keeps its suffixes.
        String[] parts = new String(name, StandardCharsets.ISO_8859_1)
                .toLowerCase(Locale.ROOT)
                .split("\\.", -1);
        for (int i = parts.length - 1; i > 0 && i >= parts.length - SUFFIXES_MAX; i--) {
            List<String> beginnings = BEGINNINGS.get(parts[i]);
            if (beginnings != null) {
                boolean right = beginnings.stream().anyMatch(each -> begins(bytes, each));
                return (right || random || i == parts.length - 1) ? right : null;
            }
        }
        return null;
    }

    private static boolean begins(byte[] bytes, String beginning) {
        int colon = beginning.indexOf(':');
        int offset = colon < 0 ? 0 : Integer.parseInt(beginning.substring(0, colon));
        byte[] magic = HexFormat.of().parseHex(beginning.substring(colon + 1));
        return bytes.length >= offset + magic.length
                && Arrays.equals(bytes, offset, offset + magic.length, magic, 0, magic.length);
    }
}
