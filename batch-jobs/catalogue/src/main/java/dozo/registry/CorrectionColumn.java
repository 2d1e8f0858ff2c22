package dozo.registry;

import java.util.List;

/** A column of a file of corrections. A sheet that Dozo has exported is such a file, too. */
enum CorrectionColumn implements CsvFile.Column {
    PROJECT(RegistrationColumn.PROJECT.others()),
    CODE(RegistrationColumn.CODE.others()),
    TITLE(RegistrationColumn.TITLE.others()),
    MODALITY(RegistrationColumn.MODALITY.others()),
    SCANNER(RegistrationColumn.SCANNER.others()),
    ACQUIRED(RegistrationColumn.ACQUIRED.others()),
    SUBJECT(List.of("被験者", "被験者コード")),
    NOTE(List.of("備考", "メモ")),
    /** What else an exported sheet has: it cannot be corrected. */
    EXPORTED(List.of(
            "id",
            "kind",
            "source",
            "registeredat",
            "registeredby",
            "frozenat",
            "state",
            "files",
            "bytes",
            "bytessafe"));

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> others;

    CorrectionColumn(List<String> others) {
        this.others = others;
    }

    @Override
    public List<String> others() {
        return others;
    }

    @Override
    public boolean required() {
        return this == CODE;
    }

    @Override
    public boolean ofLines() {
        return this == TITLE || this == NOTE;
    }

    @Override
    public boolean passedOver() {
        return this == EXPORTED;
    }
}
