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
        DUPLICATE("a study in it is in experiment %s already"),
        DUPLICATE_PROPOSED("a study in it is proposed already: %s"),
        DUPLICATE_ELSEWHERE("a study in it is registered already, elsewhere%s"),
        SEVERAL_STUDIES("it has several studies: %s"),
        SEVERAL_SUBJECTS("its files are of several subjects: %s"),
        SEVERAL_DAYS("its files are of several days: %s"),
        SEVERAL_MODALITIES("its files are of several modalities: %s"),
        SEVERAL_SCANNERS("its files are of several scanners: %s"),
        SEVERAL_PROJECTS("it could be of several projects: %s"),
        BOOKED_ELSEWHERE("its visit is booked for a project that is not yours%s"),
        UNKNOWN_STATION("no scanner has this title; the code is derived from it: %s"),
        STATION_NOT_A_CODE("the name of the station cannot be a scanner's code: %s"),
        ONLY_MODEL("its files name no station, only a model: %s"),
        DAMAGED("so many of its DICOM files are damaged: %s"),
        UNREADABLE("so many of its files and folders cannot be read: %s"),
        PART("only a part of it was looked into, so many files: %s"),
        NOT_LOOKED("it was not looked into: the time for this file was over%s"),
        NOTHING("nothing in it says what it is%s");

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
