package dozo.copy;

import static java.util.Objects.requireNonNull;

import dozo.file.Attributes;
import dozo.file.Attributes.Attribute;
import dozo.file.Owner;
import dozo.remote.RemoteFacts.Kind;
import dozo.source.DirectoryTree;
import dozo.source.ExtendedAttributes;
import dozo.source.OpenFolder;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * Gives what was restored its owner, ACLs and extended attributes, as far as this process and the file system can, and
 * counts what could not be given. An entry that does not get its owner belongs to the restoring user. It gets nothing
 * that would lend that user's rights to others: no setuid, setgid or capability.
 *
 * <p>Paths may end in links, which are not followed.
 */
final class Rights {

    /** setuid and setgid. */
    private static final int PRIVILEGES = 06000;

    private final boolean owners;
    private final LongAdder ownersUnknown = new LongAdder();
    private final LongAdder ownersLost = new LongAdder();
    private final LongAdder privileged = new LongAdder();
    private final LongAdder rootOnly = new LongAdder();
    private final LongAdder aclsLost = new LongAdder();
    private final LongAdder attributesLost = new LongAdder();

    /** A number of entries. The format of its message has one number. */
    record Lost(long entries, String format) {}

    /** @param owners whether entries get their owners, on Linux; false: all belong to the restoring user */
    Rights(boolean owners) {
        // Without open folders somebody could redirect what root gives away.
        this.owners = owners && OpenFolder.isPossible();
    }

    boolean withOwners() {
        return owners;
    }

    /**
     * Sets owner, ACLs and attributes. The mode is set after that, because a change of the owner clears some of its
     * bits.
     *
     * @return the same entry, with the mode that it may have here
     */
    Found give(Path path, Found found) throws IOException {
        boolean original = owners && giveOwner(path, found);
        if (!found.attributes().isEmpty()) {
            giveAttributes(path, found.attributes(), original);
        }
        boolean keeps = original || found.facts().kind() != Kind.FILE || (found.mode() & PRIVILEGES) == 0;
        if (!keeps) {
            privileged.increment();
        }
        return keeps ? found : found.with(found.mode() & ~PRIVILEGES);
    }

    /** Takes back a folder that an earlier run finished: until it is finished again, nobody else may change what is in it. */
    void takeBack(Path folder, long ourUser) throws IOException {
        if (user(folder) != ourUser) {
            Files.setAttribute(folder, "unix:uid", (int) ourUser, LinkOption.NOFOLLOW_LINKS);
        }
        LocalFile.setMode(folder, 0700);
        dropInherited(folder);
    }

    /** Removes the ACLs that a folder got from the one above it: it gets its own. */
    void dropInherited(Path folder) throws IOException {
        ExtendedAttributes.remove(folder, Attributes.ACL);
        ExtendedAttributes.remove(folder, Attributes.DEFAULT_ACL);
    }

    /** Returns what could not be given. */
    List<Lost> lost() {
        return List.of(
                new Lost(
                        ownersUnknown.sum(),
                        "the owners of %d entries were never recorded: they belong to the user who restores"),
                new Lost(
                        ownersLost.sum(),
                        "owner and group could not be set on %d entries: only root may do that; --no-owners restores without"),
                new Lost(
                        privileged.sum(),
                        "setuid or setgid was not set on %d files: they would run with the rights of the user who restores"),
                new Lost(
                        rootOnly.sum(),
                        "capabilities or trusted attributes were not set on %d entries, because their owner was not"),
                new Lost(aclsLost.sum(), "ACLs could not be set on %d entries"),
                new Lost(attributesLost.sum(), "extended attributes could not be set on %d entries"));
    }

    static long user(Path path) throws IOException {
        return requireNonNull(DirectoryTree.facts(path).owner()).user();
    }

    private boolean giveOwner(Path path, Found found) throws IOException {
        Owner owner = found.owner();
        if (owner == null) {
            ownersUnknown.increment();
            return false;
        }
        if (owner.equals(DirectoryTree.facts(path).owner())) {
            return true;
        }
        try {
            // The group first: it may be one of ours, even if the user is not.
            Files.setAttribute(path, "unix:gid", (int) owner.group(), LinkOption.NOFOLLOW_LINKS);
            Files.setAttribute(path, "unix:uid", (int) owner.user(), LinkOption.NOFOLLOW_LINKS);
            return true;
        } catch (FileSystemException e) {
            ownersLost.increment();
            return false;
        }
    }

    private void giveAttributes(Path path, Attributes attributes, boolean original) {
        boolean acl = true;
        boolean other = true;
        boolean root = true;
        List<Attribute> there = existing(path);
        for (Attribute attribute : attributes.all()) {
            if (attribute.isPrivileged() && !original) {
                root = false;
            } else if (!there.contains(attribute) && !isSet(path, attribute)) {
                acl &= !attribute.isAcl();
                other &= attribute.isAcl();
            }
        }
        rootOnly.add(root ? 0 : 1);
        aclsLost.add(acl ? 0 : 1);
        attributesLost.add(other ? 0 : 1);
    }

    /** Returns those that an earlier run has set. */
    private static List<Attribute> existing(Path path) {
        try {
            return ExtendedAttributes.of(path).all();
        } catch (IOException e) {
            // Then setting them fails, too, and is counted.
            return List.of();
        }
    }

    private static boolean isSet(Path path, Attribute attribute) {
        try {
            ExtendedAttributes.set(path, attribute);
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
