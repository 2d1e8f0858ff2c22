package dozo.command;

import dozo.file.FilePath;
import dozo.file.Malformed;
import dozo.file.PathPattern;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts.Kind;
import dozo.remote.Sftp;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.TreeSet;

/** A source at a site whose names have wildcards, as a shell has them: {@code *}, {@code ?}, {@code [a-z]}, and a backslash. */
final class RemotePattern {

    private RemotePattern() {}

    /** Returns whether this is a pattern: something with exactly this name is that, and no pattern. */
    static boolean isOne(Sftp sftp, FilePath typed) throws RemoteException, InterruptedException {
        return hasWildcards(typed.bytes()) && sftp.lstat(typed).isEmpty();
    }

    /**
     * Returns what matches, in the order of names. As in a shell, a wildcard does not match a dot at the start of a name.
     *
     * @throws Failure if nothing does
     */
    static List<FilePath> matches(Sftp sftp, FilePath typed) throws RemoteException, InterruptedException {
        Deque<byte[]> names = new ArrayDeque<>();
        for (FilePath path = typed; !path.isRoot(); path = path.parent()) {
            names.push(path.name());
        }
        List<FilePath> found = List.of(FilePath.ROOT);
        while (!names.isEmpty()) {
            byte[] name = names.pop();
            List<FilePath> next = new ArrayList<>();
            for (FilePath folder : found) {
                next.addAll(in(sftp, folder, name, !names.isEmpty()));
            }
            found = next;
        }
        if (found.isEmpty()) {
            throw new Failure(Exit.REFUSED, "SRC: nothing matches /%s".formatted(typed));
        }
        return found;
    }

    private static List<FilePath> in(Sftp sftp, FilePath folder, byte[] name, boolean leadsOn)
            throws RemoteException, InterruptedException {
        FilePath literal = folder.resolve(name);
        if (!hasWildcards(name)) {
            return sftp.lstat(literal).isPresent() ? List.of(literal) : List.of();
        }
        PathPattern pattern = pattern(name);
        TreeSet<FilePath> found = new TreeSet<>();
        sftp.listToKeep(folder, (path, facts) -> {
            boolean hidden = path.name()[0] == '.' && name[0] != '.';
            if (!hidden && (!leadsOn || facts.kind() == Kind.DIRECTORY) && pattern.matches(FilePath.of(path.name()))) {
                found.add(path);
            }
        });
        return List.copyOf(found);
    }

    private static PathPattern pattern(byte[] name) {
        try {
            return PathPattern.of(name);
        } catch (Malformed e) {
            throw new Failure(Exit.USAGE, Login.visible(String.valueOf(e.getMessage())));
        }
    }

    /** Returns whether a path may be a pattern. */
    static boolean hasWildcards(byte[] text) {
        for (byte b : text) {
            if (b == '*' || b == '?' || b == '[' || b == '\\') {
                return true;
            }
        }
        return false;
    }
}
