package dozo.worklist;

import dozo.registry.CsvFile;
import java.util.List;

/** A column of a booking system's export, with the headings that it may have. */
enum BookingColumn implements CsvFile.Column {
    ACCESSION("受付番号", "予約番号", "オーダー番号", "オーダ番号", "accession number", "accession_number"),
    DATE("予約日", "検査日", "撮像日", "日付", "day", "scheduled"),
    TIME("予約時刻", "開始時刻", "検査時刻", "時刻"),
    STATION("aeタイトル", "装置", "ae", "ae title", "ae_title", "aetitle"),
    MODALITY("モダリティ", "モダリティー"),
    PROCEDURE("検査内容", "検査項目", "プロトコル"),
    SERIES("シリーズ数", "series expected"),
    PATIENT("患者id", "患者番号", "被験者id", "被験者番号", "patient id", "patient_id"),
    PROJECT("プロジェクト", "課題"),
    STUDY("検査uid", "study uid", "studyinstanceuid", "study instance uid"),

    /** Personal data in exports. It is never read. */
    PERSON(
            "患者氏名",
            "患者名",
            "被験者氏名",
            "氏名",
            "漢字氏名",
            "カナ氏名",
            "患者カナ氏名",
            "フリガナ",
            "生年月日",
            "性別",
            "年齢",
            "patient name",
            "patient_name",
            "name",
            "birth date",
            "birthdate",
            "sex",
            "age");

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> others;

    BookingColumn(String... others) {
        this.others = List.of(others);
    }

    @Override
    public List<String> others() {
        return others;
    }

    @Override
    public boolean required() {
        return this == ACCESSION || this == DATE;
    }

    @Override
    public boolean ofLines() {
        return this == PROCEDURE;
    }

    @Override
    public boolean passedOver() {
        return this == PERSON;
    }
}
