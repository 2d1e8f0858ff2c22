package dozo.demo;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Files with difficult names, as researchers and old machines leave them. Each file contains its own name. */
final class AwkwardNames {

    private static final int LONGEST_NAME_BYTES = 255;

    private AwkwardNames() {}

    static void write(NewTree tree) throws IOException {
        FilePath shiftJis = inFolder(tree, Charset.forName("windows-31j"));
        inFolder(tree, Charset.forName("EUC-JP"));
        inFolder(tree, StandardCharsets.UTF_8);
        for (FilePath name : plainNames()) {
            write(tree, FilePath.of("notes").resolve(name));
        }
        // Not valid text in any encoding.
        write(tree, FilePath.of(new byte[] {'r', 'u', 'n', (byte) 0xFF, (byte) 0xFE, '.', 'd', 'a', 't'}));
        tree.linkTo(FilePath.of("latest"), shiftJis);
    }

    /** Creates a folder and its files, all with names in this charset; returns the folder's name. */
    private static FilePath inFolder(NewTree tree, Charset charset) throws IOException {
        FilePath folder = FilePath.of("被験者01_予備実験".getBytes(charset));
        // ソ, 表 and 十 end in 0x5C, the backslash, in Shift-JIS.
        for (String name : List.of("ソース表示.txt", "測定 十回目.csv", "結果一覧表")) {
            write(tree, folder.resolve(name.getBytes(charset)));
        }
        return folder;
    }

    private static List<FilePath> plainNames() {
        return List.of(
                FilePath.of("two  spaces and one at the end "),
                FilePath.of("it's \"quoted\" `here`.txt"),
                FilePath.of("first line\nsecond line.txt"),
                FilePath.of("carriage\rreturn\tand tab"),
                FilePath.of("-rf"),
                FilePath.of("--help"),
                FilePath.of("back\\slash\\n.txt"),
                FilePath.of("100% $HOME *?[a]{b} #1;&|<>.txt"),
                FilePath.of("Case.txt"),
                FilePath.of("case.txt"),
                // Two names that look the same: composed, and decomposed as old Macs wrote it.
                FilePath.of("ガボール.m"),
                FilePath.of("カ\u3099ホ\u3099ール.m"),
                FilePath.of("🧠.txt"),
                FilePath.of("x".repeat(LONGEST_NAME_BYTES)));
    }

    private static void write(NewTree tree, FilePath path) throws IOException {
        tree.file(path, path.name());
    }
}
