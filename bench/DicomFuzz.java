import dozo.source.dicom.Damaged;
import dozo.source.dicom.Header;
import dozo.source.dicom.HeaderReader;
import dozo.source.dicom.NotDicom;
import java.io.ByteArrayInputStream;
import java.io.IOException;

/** What Jazzer calls with whatever it makes up: a header is read, used as a session would use it, and nothing is thrown. */
public final class DicomFuzz {

    private static final HeaderReader READER = new HeaderReader();

    private DicomFuzz() {}

    public static void fuzzerTestOneInput(byte[] file) throws IOException {
        switch (READER.read(new ByteArrayInputStream(file))) {
            case Header header -> use(header);
            case Damaged damaged -> use(damaged.before());
            case NotDicom none -> {}
        }
    }

    private static void use(Header header) {
        if (header.illegal().size() > header.values().size() || header.toString().isEmpty()) {
            throw new AssertionError("a header that cannot be");
        }
        header.fieldStrengthTesla();
        header.values().keySet().forEach(tag -> {
            header.day(tag);
            header.number(tag);
            if (header.texts(tag).stream().anyMatch(text -> text.chars().anyMatch(Character::isISOControl))) {
                throw new AssertionError("a control character comes through in " + tag);
            }
        });
    }
}
