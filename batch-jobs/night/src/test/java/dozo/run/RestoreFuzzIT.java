package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Copy.Options;
import dozo.copy.Trees;
import dozo.db.Campaign;
import dozo.db.Program;
import dozo.file.Attributes;
import dozo.file.Attributes.Attribute;
import dozo.source.ExtendedAttributes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random trees come back from a real sshd without any difference: names of any bytes, links, groups of hard links,
 * sparse files, empty folders, modes and times; as root also owners, setuid and setgid, ACLs and extended attributes. Our own
 * comparison and rsync's judge.
 */
@Tag(Campaign.TAG)
class RestoreFuzzIT extends NightAtSite {

    private static final int NAMES = 1_000;

    /** {@code cap_net_raw=ep} in the form of the kernel. */
    private static final byte[] CAPABILITY = HexFormat.of().parseHex("0100000200200000000000000000000000000000");

    private final List<Path> capable = new ArrayList<>();

    private static final int[] FILE_MODES = {0644, 0600, 0444, 0400, 0755, 0777, 0640, 01644};
    private static final int[] FOLDER_MODES = {0755, 0700, 0555, 02775, 01777, 0750, 0500};

    @Test
    void aTreeOfAnyKindComesBackWithoutDifferences() throws Exception {
        long seed = System.nanoTime();
        System.out.println("restore fuzz: seed " + seed);
        fill(new Random(seed), Campaign.times(NAMES), seed);
        night.register("E1", source);
        night.complete();
        Path target = folder.resolve("restored");
        night.restore(night.experiment(), 1, site.address(), target, new Options(2, 0, false).withOwners());

        assertThat(Snapshot.withRights(target)).isEqualTo(Snapshot.withRights(source));
        assertThat(rsync(source, target)).as("itemized differences").isEmpty();
        assertThat(rsync(target, source))
                .as("itemized differences, the other way")
                .isEmpty();
    }

    private void fill(Random random, int names, long seed) throws IOException {
        HostileNames.write(source, names, seed);
        List<Path> found = Trees.all(source).stream().skip(1).toList();
        List<Path> files = found.stream().filter(Files::isRegularFile).toList();
        List<Path> folders = found.stream().filter(Files::isDirectory).toList();
        for (int i = 0; i < names / 10; i++) {
            Path into = folders.get(random.nextInt(folders.size()));
            Files.createLink(into.resolve("hard-" + i), files.get(random.nextInt(Math.max(1, files.size() / 8))));
            Files.createSymbolicLink(
                    into.resolve("link-" + i), Path.of(random.nextBoolean() ? "/nowhere" : "../hard-" + i));
            Files.createDirectories(into.resolve("empty-" + i % 7));
            if (i % 10 == 0) {
                sparse(into.resolve("sparse-" + i), random);
            }
        }
        boolean isRoot = System.getProperty("user.name").equals("root");
        if (isRoot) {
            for (Path path : files) {
                giveRights(path, random, false);
            }
            for (Path path : folders) {
                giveRights(path, random, true);
            }
            own(random);
        }
        for (Path file : files) {
            // NB: names of a group share mode and time, so the last one counts.
            int special = isRoot && random.nextInt(4) == 0 ? random.nextInt(010) << 9 : 0;
            Files.setAttribute(file, "unix:mode", FILE_MODES[random.nextInt(FILE_MODES.length)] | special);
            Files.setLastModifiedTime(file, time(random));
        }
        for (Path folder : folders.reversed()) {
            Files.setLastModifiedTime(folder, time(random));
            Files.setAttribute(folder, "unix:mode", FOLDER_MODES[random.nextInt(FOLDER_MODES.length)]);
        }
    }

    /** Gives everything an owner, links too; all before the modes, of which a change of the owner clears bits. */
    private void own(Random random) throws IOException {
        for (Path path : Trees.all(source)) {
            int user = random.nextInt(3) == 0 ? random.nextInt(Integer.MIN_VALUE, -1) : random.nextInt(1_000, 1_003);
            Files.setAttribute(path, "unix:uid", user, LinkOption.NOFOLLOW_LINKS);
            Files.setAttribute(path, "unix:gid", random.nextInt(100, 103), LinkOption.NOFOLLOW_LINKS);
        }
        for (Path path : capable) {
            ExtendedAttributes.set(path, new Attribute("security.capability", CAPABILITY));
        }
    }

    private void giveRights(Path path, Random random, boolean isFolder) throws IOException {
        if (random.nextInt(4) == 0) {
            ExtendedAttributes.set(path, new Attribute(Attributes.ACL, acl(random)));
        }
        if (isFolder && random.nextInt(4) == 0) {
            ExtendedAttributes.set(path, new Attribute(Attributes.DEFAULT_ACL, acl(random)));
        }
        for (String name : List.of("user.comment", "user.\u0080\u00ff", "trusted.dozo")) {
            if (random.nextInt(5) == 0) {
                byte[] value = new byte[random.nextInt(200)];
                random.nextBytes(value);
                ExtendedAttributes.set(path, new Attribute(name, value));
            }
        }
        if (!isFolder && random.nextInt(20) == 0) {
            capable.add(path);
        }
    }

    /** Returns an ACL in the form of the kernel: version 2; for each entry its tag, permissions and number. */
    private static byte[] acl(Random random) {
        ByteBuffer acl =
                ByteBuffer.allocate(4 + 6 * 8).order(ByteOrder.LITTLE_ENDIAN).putInt(2);
        int[] tags = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20};
        for (int tag : tags) {
            boolean isNamed = tag == 0x02 || tag == 0x08;
            acl.putShort((short) tag)
                    .putShort((short) random.nextInt(8))
                    .putInt(isNamed ? 1_000 + random.nextInt(9) : -1);
        }
        return acl.array();
    }

    /** Returns a time between 1901 and 2106, to the nanosecond. */
    private static FileTime time(Random random) {
        return FileTime.from(
                random.nextLong(Integer.MIN_VALUE, 0xffffffffL) * 1_000_000_000L + random.nextInt(1_000_000_000),
                TimeUnit.NANOSECONDS);
    }

    private static void sparse(Path file, Random random) throws IOException {
        long bytes = 1 + random.nextInt(3 << 20);
        try (FileChannel content = FileChannel.open(
                file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, StandardOpenOption.SPARSE)) {
            content.write(ByteBuffer.allocate(1), bytes - 1);
            content.write(ByteBuffer.wrap(new byte[] {1}), random.nextLong(bytes));
        }
    }

    /** Returns what rsync would change to make the copy equal: kinds, bytes, modes, owners, times, groups, ACLs. */
    private static String rsync(Path source, Path copy) throws IOException, InterruptedException {
        String[] command = {
            "rsync", "-aHSAX", "--checksum", "--dry-run", "--itemize-changes", "--delete", source + "/", copy + "/"
        };
        String said;
        try {
            said = Program.succeed(command);
        } catch (IOException e) {
            throw new AssertionError("rsync is missing: install Debian's package rsync", e);
        }
        // The source's own folder is not part of a manifest.
        return said.lines().filter(line -> !line.endsWith(" ./")).reduce("", (one, other) -> one + other + "\n");
    }
}
