package dozo.registry;

import java.util.List;

/** A column of a file of experiments to register, with the names that its heading may have. */
enum RegistrationColumn implements CsvFile.Column {
    PROJECT("プロジェクト", "課題"),
    CODE("コード", "実験コード", "experiment"),
    SOURCE("フォルダ", "フォルダー", "パス", "folder", "path"),
    TITLE("題名", "タイトル", "名称"),
    MODALITY("モダリティ", "モダリティー"),
    SCANNER("装置", "スキャナ", "スキャナー"),
    ACQUIRED("取得日", "撮像日", "測定日", "date");

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> others;

    RegistrationColumn(String... others) {
        this.others = List.of(others);
    }

    @Override
    public List<String> others() {
        return others;
    }

    /** All other values may be unknown. */
    @Override
    public boolean required() {
        return this == PROJECT || this == CODE || this == SOURCE;
    }

    @Override
    public boolean ofLines() {
        return this == TITLE;
    }
}
