package dozo.source.dicom;

import java.util.List;

/**
 * A value, as raw bytes and as readable text. {@link #toString} shows neither, because a value may be a person's name.
 *
 * @param bytes as in the file, including padding
 * @param texts one for each value, without padding; empty if there is none. Control characters are made visible
 * @param asDeclared whether the bytes are valid in the character set that the file declares; if not, the texts are a
 * guess
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Value(byte[] bytes, List<String> texts, boolean asDeclared) {

    @Override
    public String toString() {
        return bytes.length + " bytes";
    }
}
