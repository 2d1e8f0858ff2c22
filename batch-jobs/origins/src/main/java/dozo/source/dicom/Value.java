package dozo.source.dicom;

import java.util.List;

/**
 * A value as the file has it and as people can read it. Printing it shows none of it, as a value may be somebody's name.
 *
 * @param bytes as they stand in the file, padding too
 * @param texts one for each value of many, without padding; none where there is nothing. Control characters are made visible
 * @param asDeclared whether the bytes are text of the character set that the file names; if not, the texts are a guess
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Value(byte[] bytes, List<String> texts, boolean asDeclared) {

    @Override
    public String toString() {
        return bytes.length + " bytes";
    }
}
