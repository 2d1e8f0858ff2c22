package dozo.source.dicom;

import dozo.file.Digest;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The attributes of a DICOM file, without its meta header: digests of the values at the top. They do not depend on
 * padding, nor on how the lengths of sequences and the VRs are written.
 */
public record DataSet(String transferSyntax, Map<Integer, Digest> attributes) {

    private static final int SHOWN_MAX = 20;

    /** Says in which attributes another file differs, without their values. */
    public String difference(DataSet other) {
        TreeSet<Long> differing = Stream.concat(attributes.keySet().stream(), other.attributes.keySet().stream())
                .filter(tag -> !String.valueOf(attributes.get(tag)).equals(String.valueOf(other.attributes.get(tag))))
                .map(Integer::toUnsignedLong)
                .collect(Collectors.toCollection(TreeSet::new));
        String syntax = transferSyntax.equals(other.transferSyntax) ? "" : "another transfer syntax; ";
        if (differing.isEmpty()) {
            return syntax + "all attributes are equal, only their encoding differs";
        }
        String shown = differing.stream()
                .limit(SHOWN_MAX)
                .map(tag -> "(%04x,%04x)".formatted(tag >>> 16, tag & 0xffff))
                .collect(Collectors.joining(" "));
        return "%s%d attributes differ: %s%s"
                .formatted(syntax, differing.size(), shown, differing.size() > SHOWN_MAX ? " …" : "");
    }
}
