package dozo.source.dicom;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Text that another program has passed on as JSON, and that it did not understand: the bytes are still there, each as a character.
 * What it has thrown away is gone.
 */
public final class PassedOnText {

    private static final CharacterSet JAPANESE =
            CharacterSet.of(List.of("", "ISO 2022 IR 13", "ISO 2022 IR 87", "ISO 2022 IR 159"));

    private PassedOnText() {}

    /** The text: of escape sequences and other control characters, what they stand for; all else is as it is. */
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
