package dozo.registry;

/**
 * A note to read before a folder is registered. It refuses nothing.
 *
 * @param what names, codes or numbers that the message is about; no person's name is among them
 * @param message for people, in English
 */
public record Hint(Kind kind, String what, String message) {

    public enum Kind {
        SAME_FOLDER("the folder is registered already: %s"),
        DUPLICATE("it contains a study of experiment %s"),
        DUPLICATE_PROPOSED("a study in it is proposed already: %s"),
        DUPLICATE_ELSEWHERE("a study in it is registered already, elsewhere%s"),
        SEVERAL_STUDIES("it has several studies: %s"),
        SEVERAL_SUBJECTS("its files belong to several subjects: %s"),
        SEVERAL_DAYS("its files were acquired on several days: %s"),
        SEVERAL_MODALITIES("its files have several modalities: %s"),
        SEVERAL_SCANNERS("its files come from several scanners: %s"),
        SEVERAL_PROJECTS("it could belong to several projects: %s"),
        BOOKED_ELSEWHERE("its visit is booked for a project that is not yours%s"),
        UNKNOWN_STATION("no scanner has this title; the code is derived from it: %s"),
        STATION_NOT_A_CODE("the name of the station cannot be a scanner's code: %s"),
        ONLY_MODEL("its files name no station, only a model: %s"),
        DAMAGED("number of damaged DICOM files in it: %s"),
        UNREADABLE("number of unreadable files and folders in it: %s"),
        PART("only part of it was read; files read: %s"),
        NOT_LOOKED("it was not read: the time limit for this file was reached%s"),
        NOTHING("its content does not identify it%s");

        private final String sentence;

        Kind(String sentence) {
            this.sentence = sentence;
        }
    }

    public Hint(Kind kind, String what) {
        this(kind, what, kind.sentence.formatted(what));
    }

    public static Hint of(Kind kind) {
        return new Hint(kind, "");
    }
}
