package dozo.file;

/**
 * The user and group that a file, folder or link belongs to, as the numbers of its file system. The names behind the
 * numbers are people, and differ between machines, so they are not recorded.
 *
 * @param user 0 to 2³² − 2
 * @param group the same
 */
public record Owner(long user, long group) {

    private static final long NUMBER_MAX = 0xFFFF_FFFEL;

    /** The numbers are unsigned: an {@code int} of Java has the same bits. */
    public static Owner of(int user, int group) {
        return new Owner(Integer.toUnsignedLong(user), Integer.toUnsignedLong(group));
    }

    public Owner {
        if (user < 0 || user > NUMBER_MAX || group < 0 || group > NUMBER_MAX) {
            throw new IllegalArgumentException(
                    "expected numbers from 0 to %d, not %d and %d".formatted(NUMBER_MAX, user, group));
        }
    }
}
