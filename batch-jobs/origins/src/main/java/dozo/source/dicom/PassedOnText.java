package dozo.source.dicom;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Text that another program passed on as JSON without decoding it, so that each byte is a character. Bytes that the
 * program discarded are lost.
 */
public final class PassedOnText {

    private static final CharacterSet JAPANESE =
            CharacterSet.of(List.of("", "ISO 2022 IR 13", "ISO 2022 IR 87", "ISO 2022 IR 159"));

    private PassedOnText() {}

    /**
     * Returns the text. Text with control characters, such as escape sequences, is decoded as Japanese; other text
     * stays as it is.
     */
    public static String of(String passedOn) {
        boolean bytes = passedOn.chars().allMatch(c -> c <= 0xFF);
        boolean misunderstood = passedOn.chars().anyMatch(Character::isISOControl);
        if (!bytes || !misunderstood) {
            return Plain.visible(passedOn);
        }
        Value value = JAPANESE.value(passedOn.getBytes(StandardCharsets.ISO_8859_1));
        return String.join("\\", value.texts());
    }
}
