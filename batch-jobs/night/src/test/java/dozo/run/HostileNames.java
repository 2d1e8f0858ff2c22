package dozo.run;

import dozo.file.FilePath;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.Normalizer;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;

/** Generated names that a file system allows and a program may not expect; the same seed gives the same names. */
final class HostileNames {

    private static final int NAME_MAX_BYTES = 255;
    private static final int PIECES_MAX = 6;
    private static final int FOLDERS = 20;

    private static final String[] PIECES = {
        "a",
        "A",
        "scan",
        "\n",
        "\r",
        "\r\n",
        "\\",
        "\\n",
        "%",
        "%0A",
        "%0a",
        "%0D",
        "%25",
        "%2",
        " ",
        "\t",
        "*",
        "~",
        "-",
        "#",
        "'",
        "\"",
        "$(x)",
        "`",
        ";",
        "|",
        "&",
        "<",
        "?",
        "[",
        "\u000b",
        "\f",
        "\u001b[31m",
        "\u001c",
        "\u007f",
        "é",
        "脳画像",
        "ニューロ",
        "\u3000",
        "\u00a0",
        "\u0085",
        "\u2028",
        "\u202e",
        "\ufeff",
        "😀",
        "data",
        "..",
        ".dozo"
    };

    private static final String[] WHOLE = {
        "-rf",
        "--",
        "~root",
        "*star",
        " leading",
        "trailing ",
        " ",
        "\n",
        "\r",
        "\\",
        "%",
        "%0A",
        "bagit.txt",
        "manifest-sha256.txt",
        "sha256sums.txt",
        "tagmanifest-sha256.txt",
        "1",
        "tag-0123456789abcdef",
        "data",
        ".dozo",
        "Case",
        "case",
        "CASE",
        "...",
        "..data",
        "x~2",
        "x"
    };

    private HostileNames() {}

    /** Writes this number of files, each with its own name as content, all in folders with similar names. */
    static void write(Path root, int files, long seed) throws IOException {
        Random random = new Random(seed);
        List<FilePath> folders = paths(random, List.of(FilePath.ROOT), FOLDERS);
        for (FilePath folder : folders) {
            Files.createDirectory(folder.under(root));
        }
        Set<FilePath> taken = new LinkedHashSet<>(folders);
        for (String whole : WHOLE) {
            add(root, FilePath.ROOT.resolve(whole.getBytes(StandardCharsets.UTF_8)), taken, files + FOLDERS);
        }
        while (taken.size() < files + FOLDERS) {
            FilePath folder = random.nextInt(4) == 0 ? FilePath.ROOT : folders.get(random.nextInt(FOLDERS));
            byte[] name = name(random);
            add(root, folder.resolve(name), taken, files + FOLDERS);
            add(root, folder.resolve(twin(name)), taken, files + FOLDERS);
        }
    }

    private static List<FilePath> paths(Random random, List<FilePath> above, int count) {
        Set<FilePath> paths = new LinkedHashSet<>();
        while (paths.size() < count) {
            paths.add(above.get(random.nextInt(above.size())).resolve(name(random)));
        }
        return List.copyOf(paths);
    }

    private static void add(Path root, FilePath path, Set<FilePath> taken, int limit) throws IOException {
        if (taken.size() < limit && taken.add(path)) {
            Files.write(path.under(root), path.bytes());
        }
    }

    private static byte[] name(Random random) {
        byte[] name = switch (random.nextInt(6)) {
            case 0 -> random(random, 1 + random.nextInt(12));
            case 1 -> random(random, NAME_MAX_BYTES);
            case 2 -> pieces(random).getBytes(Charset.forName("windows-31j"));
            case 3 -> pieces(random).getBytes(Charset.forName("EUC-JP"));
            default -> pieces(random).getBytes(StandardCharsets.UTF_8);
        };
        return isName(name) ? name : name(random);
    }

    private static String pieces(Random random) {
        StringBuilder name = new StringBuilder();
        for (int i = 1 + random.nextInt(PIECES_MAX); i > 0; i--) {
            name.append(PIECES[random.nextInt(PIECES.length)]);
        }
        return name.toString();
    }

    private static byte[] random(Random random, int length) {
        ByteArrayOutputStream name = new ByteArrayOutputStream(length);
        while (name.size() < length) {
            int b = 1 + random.nextInt(255);
            if (b != '/') {
                name.write(b);
            }
        }
        return name.toByteArray();
    }

    /**
     * Returns a name that looks the same but has other bytes: decomposed if that differs, otherwise in the other case.
     */
    private static byte[] twin(byte[] name) {
        String text = new String(name, StandardCharsets.UTF_8);
        String decomposed = Normalizer.normalize(text, Normalizer.Form.NFD);
        String other = decomposed.equals(text) ? text.toUpperCase(Locale.ROOT) : decomposed;
        byte[] twin = other.getBytes(StandardCharsets.UTF_8);
        return isName(twin) ? twin : name;
    }

    private static boolean isName(byte[] name) {
        boolean dots = name.length <= 2
                && Arrays.equals(name, "..".substring(0, name.length).getBytes(StandardCharsets.US_ASCII));
        return name.length > 0 && name.length <= NAME_MAX_BYTES && !dots;
    }
}
