package dozo.source.dicomweb;

/**
 * Something of which there is a word to say.
 *
 * @param name what it is: "instance" and its UID, for example; nothing of a patient
 */
public record Item(String name, Trouble trouble, String message) {

    static Item of(String name, DicomwebException why) {
        return new Item(name, why.trouble(), String.valueOf(why.getMessage()));
    }
}
