package dozo.file;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The extended attributes of a file, folder or link, as far as they are recorded; ACLs are two of them. */
public final class Attributes {

    /** Nothing is recorded. */
    public static final Attributes NONE = new Attributes(List.of());

    /** The ACL of an entry. */
    public static final String ACL = "system.posix_acl_access";

    /** The ACL that new entries of a folder get. */
    public static final String DEFAULT_ACL = "system.posix_acl_default";

    private static final String CAPABILITY = "security.capability";

    private final List<Attribute> all;

    /**
     * One extended attribute.
     *
     * @param name such as {@code user.comment}, or {@code system.posix_acl_access}; each character is a byte, in no particular
     *     encoding
     * @param value in JSON in base64
     */
    @SuppressWarnings("ArrayRecordComponent") // equals and hashCode below compare the content
    public record Attribute(String name, byte[] value) {

        public Attribute {
            if (name.isEmpty() || name.indexOf(0) >= 0) {
                throw new IllegalArgumentException("expected a name without NUL bytes");
            }
        }

        /** Returns whether this kind of attribute is recorded; others belong to the machine, such as SELinux's. */
        public static boolean isRecorded(String name) {
            return isAcl(name) || isPrivileged(name) || name.startsWith("user.");
        }

        @JsonIgnore
        public boolean isAcl() {
            return isAcl(name);
        }

        /** Returns whether it gives a program rights, or only root may see it. */
        @JsonIgnore
        public boolean isPrivileged() {
            return isPrivileged(name);
        }

        private static boolean isAcl(String name) {
            return name.equals(ACL) || name.equals(DEFAULT_ACL);
        }

        private static boolean isPrivileged(String name) {
            return name.equals(CAPABILITY) || name.startsWith("trusted.");
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Attribute that && name.equals(that.name) && Arrays.equals(value, that.value);
        }

        @Override
        public int hashCode() {
            return 31 * name.hashCode() + Arrays.hashCode(value);
        }
    }

    private Attributes(List<Attribute> all) {
        this.all = List.copyOf(all);
    }

    public static Attributes of(List<Attribute> all) {
        return all.isEmpty() ? NONE : new Attributes(all);
    }

    /** Returns the attributes of {@link #namesAndValues}. */
    public static Attributes of(byte[][] namesAndValues) {
        List<Attribute> all = new ArrayList<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            all.add(new Attribute(new String(namesAndValues[i], StandardCharsets.ISO_8859_1), namesAndValues[i + 1]));
        }
        return of(all);
    }

    public List<Attribute> all() {
        return all;
    }

    public boolean isEmpty() {
        return all.isEmpty();
    }

    /** Returns each name, followed by its value. */
    public byte[][] namesAndValues() {
        byte[][] array = new byte[2 * all.size()][];
        for (int i = 0; i < all.size(); i++) {
            array[2 * i] = all.get(i).name().getBytes(StandardCharsets.ISO_8859_1);
            array[2 * i + 1] = all.get(i).value();
        }
        return array;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Attributes that && all.equals(that.all);
    }

    @Override
    public int hashCode() {
        return all.hashCode();
    }

    /** Returns the names; values may be personal. */
    @Override
    public String toString() {
        return all.stream().map(Attribute::name).toList().toString();
    }
}
