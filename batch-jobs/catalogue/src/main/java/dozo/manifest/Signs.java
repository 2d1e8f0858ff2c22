package dozo.manifest;

import dozo.file.FilePath;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a look saw when it froze an experiment. It counts files and links.
 *
 * @param before how many the manifest had
 * @param vanished how many of them are gone, and did not move; {@code changed} have other content
 * @param added how many names are new
 * @param unreadable how many files and folders could not be read: nothing is known of them, nor of what is below them
 * @param suffixes the most frequent suffixes of new files that no file of the manifest had
 * @param repeated new names that several folders have, with the same size: ransom notes are left like this
 * @param sample what some of the changed and new files contain; missing: they were not read, or did not respond in time
 */
public record Signs(
        long before,
        long vanished,
        long changed,
        long added,
        long unreadable,
        List<Repeated> suffixes,
        List<Repeated> repeated,
        @Nullable Sample sample) {

    /**
     * A suffix with its dot, or a name, of several new files.
     *
     * @param bytes as in the file system; {@code name} is a rendering for people
     * @param count how many files have the suffix, or how many folders have the name
     */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; written once
    public record Repeated(String name, byte[] bytes, long count) {

        static Repeated of(byte[] bytes, long count) {
            return new Repeated(FilePath.render(bytes), bytes, count);
        }
    }

    /**
     * What the beginnings of some files contain.
     *
     * @param files how many were read, and {@code unreadable} how many could not be
     * @param random those that look like random bytes: encrypted or compressed
     * @param typed those whose name names a type that Dozo knows, such as {@code .dcm} or {@code .gz}
     * @param wrong those of {@code typed} that do not begin as files of their type do
     */
    public record Sample(int files, int unreadable, int random, int typed, int wrong) {}

    /** What most probably happened. */
    public enum Guess {
        /** Files look random, and do not begin as their names say. */
        ENCRYPTED,
        /** Files look random, and their names name no known type: encrypted or compressed. */
        RANDOM,
        /** Files begin as their names say: a conversion, or other work. */
        AS_NAMED,
        /** Nothing is new or changed. */
        DELETED,
        /** At the last look, nothing differed from the manifest any more. */
        AS_BEFORE,
        UNKNOWN
    }

    /** Returns what most probably happened; a person has to look. */
    public Guess guess() {
        if (changed + added == 0 && unreadable == 0) {
            return vanished == 0 ? Guess.AS_BEFORE : Guess.DELETED;
        }
        if (sample == null || sample.files == 0) {
            return Guess.UNKNOWN;
        }
        if (sample.wrong > 0) {
            // Some devices write files without the usual beginning. Only many of them that also look random count.
            return sample.wrong * 4 >= sample.typed && sample.random >= sample.wrong ? Guess.ENCRYPTED : Guess.UNKNOWN;
        }
        if (sample.typed > 0) {
            return sample.typed * 2 >= sample.files ? Guess.AS_NAMED : Guess.UNKNOWN;
        }
        return sample.random * 2 >= sample.files ? Guess.RANDOM : Guess.UNKNOWN;
    }
}
