package dozo.registry;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A column of a file of experiments to register, by the names that its heading may have. */
enum RegistrationColumn {
    PROJECT("プロジェクト", "課題"),
    CODE("コード", "実験コード", "experiment"),
    SOURCE("フォルダ", "フォルダー", "パス", "folder", "path"),
    TITLE("題名", "タイトル", "名称"),
    MODALITY("モダリティ", "モダリティー"),
    SCANNER("装置", "スキャナ", "スキャナー"),
    ACQUIRED("取得日", "撮像日", "測定日", "date");

    /** What has to be said; all else may be unknown. */
    static final List<RegistrationColumn> REQUIRED = List.of(PROJECT, CODE, SOURCE);

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> others;

    RegistrationColumn(String... others) {
        this.others = List.of(others);
    }

    /** The field's name as in REST. */
    String field() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The column with this heading, in any case and with space around it. */
    static Optional<RegistrationColumn> of(String heading) {
        String name = heading.strip().toLowerCase(Locale.ROOT);
        return Arrays.stream(values())
                .filter(column -> column.field().equals(name) || column.others.contains(name))
                .findFirst();
    }

    /** All names that are accepted, for people. */
    static String accepted() {
        return String.join(
                ", ",
                Arrays.stream(values())
                        .map(column -> column.field() + " (" + String.join(", ", column.others) + ")")
                        .toList());
    }
}
