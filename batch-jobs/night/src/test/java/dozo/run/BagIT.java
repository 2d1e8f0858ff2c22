package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dozo.copy.Trees;
import dozo.db.Program;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.run.Runs.Run;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A night's result at a real sshd is a valid bag for the Library of Congress's validator, and passes
 * {@code sha256sum -c} whatever the names. For the names that the validator cannot read, see ADR 0025. Takes a minute:
 * the validator, a Python program, reads each of 14 bags.
 */
class BagIT extends NightAtSite {

    private static final List<String> TAG_FILES =
            List.of("bagit.txt", "bag-info.txt", "manifest-sha256.txt", "tagmanifest-sha256.txt");

    @Test
    void plainNamesNeedOneListThatBothProgramsRead() throws Exception {
        Night.write(
                source,
                Map.of(
                        "a",
                        "1",
                        "sub folder /b",
                        "22",
                        " lead",
                        "3",
                        "50%.txt",
                        "4",
                        "back\\slash\\n",
                        "5",
                        "~x",
                        "6"));
        register(Map.of("脳画像/ニューロ.dat", "7", "*star", "8", "#hash", "9", "%E8%84%B3", "10"));

        completeAndValid();

        assertThat(bag.resolve("sha256sums.txt")).doesNotExist();
        assertThat(bag.resolve("bagit.txt")).hasContent("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n");
        assertThat(Files.readAllLines(bag.resolve("bag-info.txt")))
                .contains(
                        "Bag-Software-Agent: Dozo",
                        "External-Identifier: p/E1",
                        "Bag-Group-Identifier: p",
                        "Bag-Size: 12 B",
                        "Payload-Oxum: 12.10",
                        "Dozo-Check: sha256sum -c --quiet manifest-sha256.txt");
    }

    @Test
    void namesWithLineEndsNeedASecondList() throws Exception {
        register(Map.of("first\nsecond", "1", "icon\r", "2", "both\r\nof\\them", "3", "plain", "4"));

        completeAndValid();

        assertThat(bag.resolve("sha256sums.txt")).exists();
        assertThat(bag.resolve("tagmanifest-sha256.txt")).content().contains("  sha256sums.txt\n");
        assertThat(bag.resolve("bag-info.txt")).content().contains("Dozo-Check: sha256sum -c --quiet sha256sums.txt\n");
    }

    @Test
    void theValidatorRefusesWhatWasDoneToABag() throws Exception {
        safe(Map.of("a", "content", "sub/b", "more", "new\nline", "x"));
        Bagit.assertValid(bag);

        byte[] flipped = Files.readAllBytes(bag.resolve("data/a"));
        flipped[3] ^= 1;
        assertThat(refused("flipped", copy -> Files.write(copy.resolve("data/a"), flipped)))
                .contains("data/a sha256 validation failed");
        // The sum of sizes stays the same, so that only the names differ.
        assertThat(refused("renamed", copy -> Files.move(copy.resolve("data/a"), copy.resolve("data/c"))))
                .contains("data/a exists in manifest but was not found", "data/c exists on filesystem but is not");
        assertThat(refused("extra", copy -> Files.writeString(copy.resolve("data/sub/extra"), "")))
                .contains("Payload-Oxum validation failed");
        assertThat(refused("removed", copy -> Files.delete(copy.resolve("data/sub/b"))))
                .contains("Payload-Oxum validation failed");
        assertThat(refused(
                        "info",
                        copy -> Files.writeString(
                                copy.resolve("bag-info.txt"),
                                Files.readString(copy.resolve("bag-info.txt")) + "Note: x\n")))
                .contains("bag-info.txt sha256 validation failed");
        assertThat(refused("sums", copy -> Files.delete(copy.resolve("sha256sums.txt"))))
                .contains("sha256sums.txt");
    }

    @Test
    void namesInShiftJisAreAcceptedWhereEachByteIsACharacter() throws Exception {
        Charset shiftJis = Charset.forName("windows-31j");
        // The second byte of the second letter is 0x85, a line end in ISO-8859-1.
        byte[] neuro = "ニューロ.dat".getBytes(shiftJis);
        Files.writeString(FilePath.ROOT.resolve(neuro).under(source), "1");
        Files.writeString(Trees.named(source, "脳", "EUC-JP"), "2");
        safe(Map.of("全脳/plain", "3", "new\nline", "4"));

        NightlyBackupIT.assertChecks(bag);
        assertThat(bag.resolve("bagit.txt")).content().contains("Tag-File-Character-Encoding: IBM437\n");
        Program accepted = Bagit.validateAsIbm437(bag, folder.resolve("as-ibm437"));
        assertThat(accepted.exitCode()).as(accepted.output()).isZero();
        Program refused = Bagit.validate(bag);
        assertThat(refused.exitCode()).isNotZero();
        assertThat(refused.output()).contains("Bag is incomplete");
    }

    /** Checks the documentation of these names against the tested release. */
    @Test
    void whatTheValidatorCannotReadPassesSha256sumAllTheSame() throws Exception {
        List<String> names = List.of(
                "trailing ",
                "wide\u3000",
                "%0A",
                "%25",
                "three\n\n\nlines",
                "tab\u000bulator",
                "next\u0085line",
                "line\u2028end");
        for (int i = 0; i < names.size(); i++) {
            Path one = Files.createDirectory(folder.resolve("source-" + i));
            Night.write(one, Map.of(names.get(i), "x"));
            night.register("N" + i, one);
        }

        night.complete();

        for (int i = 0; i < names.size(); i++) {
            Path one = root.resolve("p/N" + i);
            NightlyBackupIT.assertChecks(one);
            assertThat(Bagit.validate(one).output()).as(names.get(i)).contains("Bag is incomplete");
        }
    }

    @Test
    void linksToFilesInTheBagAreListedAndRead() throws Exception {
        annexed();
        night.register("E1", source);

        completeAndValid();

        NightlyBackupIT.assertSame(source, bag.resolve("data"));
        assertThat(bag.resolve("bag-info.txt")).content().contains("Bag-Size: 25 B\n", "Payload-Oxum: 25.4\n");
        assertThat(Files.readAllLines(bag.resolve("manifest-sha256.txt")))
                .extracting(line -> line.substring(line.indexOf(' ') + 2))
                .containsExactlyInAnyOrder(
                        "data/.git/annex/objects/7m/KEY/KEY",
                        "data/README",
                        "data/latest",
                        "data/sub-01/anat/T1w.nii.gz");
        Path object = Path.of("data/.git/annex/objects/7m/KEY/KEY");
        assertThat(refused("flipped", copy -> Files.writeString(copy.resolve(object), "Content")))
                .contains("data/sub-01/anat/T1w.nii.gz sha256 validation failed");
        assertThat(refused("elsewhere", copy -> {
                    Files.delete(copy.resolve("data/latest"));
                    Files.createSymbolicLink(copy.resolve("data/latest"), Path.of("README"));
                }))
                .contains("Payload-Oxum validation failed");
        assertThat(refused("removed", copy -> Files.delete(copy.resolve("data/latest"))))
                .contains("Payload-Oxum validation failed");
    }

    @Test
    void aLinkIsListedWithWhatTheFileHasNow() throws Exception {
        annexed();
        night.register("E1", source);
        night.run();
        Map<String, Object> before = inodes(bag);
        night.update("update protection set unsettled = true");
        night.run();
        assertThat(inodes(bag)).as("nothing is written for nothing").isEqualTo(before);

        Night.write(source, Map.of(".git/annex/objects/7m/KEY/KEY", "other content"));
        completeAndValid();

        assertThat(bag.resolve("bag-info.txt")).content().contains("Payload-Oxum: 43.4\n");
    }

    /** Checks the documented messages of the validator for these links. */
    @Test
    void linksThatLeadToNoFileOfTheBagAreRefusedAndPassSha256sum() throws Exception {
        Path outside = Files.writeString(folder.resolve("outside"), "x");
        Map<String, String> said = Map.of(
                "nowhere",
                "FileNotFoundError: [Errno 2] No such file or directory",
                "../gone",
                "FileNotFoundError: [Errno 2] No such file or directory",
                "link",
                "OSError: [Errno 40] Too many levels of symbolic links",
                "file/.",
                "NotADirectoryError: [Errno 20] Not a directory",
                "../bagit.txt",
                "Payload-Oxum validation failed",
                outside.toString(),
                "Payload-Oxum validation failed");
        List<String> targets = List.copyOf(said.keySet());
        for (int i = 0; i < targets.size(); i++) {
            Path one = Files.createDirectory(folder.resolve("source-" + i));
            Night.write(one, Map.of("file", "x"));
            Files.createSymbolicLink(one.resolve("link"), Path.of(targets.get(i)));
            night.register("N" + i, one);
        }
        Night.write(source, Map.of("file", "x", "sub/file", "y"));
        Files.createSymbolicLink(source.resolve("folder"), Path.of("sub"));
        Files.createSymbolicLink(source.resolve("out"), folder.toAbsolutePath());
        night.register("E1", source);

        night.complete();

        for (int i = 0; i < targets.size(); i++) {
            Path one = root.resolve("p/N" + i);
            NightlyBackupIT.assertChecks(one);
            assertThat(Bagit.validate(one).output()).as(targets.get(i)).contains(said.get(targets.get(i)));
        }
        NightlyBackupIT.assertChecks(bag);
        Bagit.assertValid(bag);
    }

    /** The validator reads the other one's bytes when the folder lists the composed name (NFC) first. */
    @Test
    void twinsInUnicodeAreRefusedByTheOrderOfTheirFolder() throws Exception {
        FilePath composed = FilePath.of("\u00e9");
        for (int i = 0; i < 4; i++) {
            Path one = Files.createDirectory(folder.resolve("source-" + i));
            Night.write(one, Map.of("sub-" + i + "/\u00e9", "1", "sub-" + i + "/e\u0301", "2"));
            night.register("N" + i, one);
        }

        night.complete();

        for (int i = 0; i < 4; i++) {
            Path one = root.resolve("p/N" + i);
            NightlyBackupIT.assertChecks(one);
            Path both = one.resolve("data/sub-" + i);
            Path first;
            try (Stream<Path> listed = Files.list(both)) {
                first = listed.findFirst().orElseThrow();
            }
            Program verdict = Bagit.validate(one);
            if (FilePath.between(both, first).equals(composed)) {
                assertThat(verdict.output()).contains("sha256 validation failed");
            } else {
                assertThat(verdict.exitCode()).as(verdict.output()).isZero();
            }
        }
    }

    @Test
    void aNewManifestRewritesTagFilesOnlyAndKeepsTheEarlierOnes() throws Exception {
        safe(Map.of("a", "1", "sub/b", "2"));
        Map<String, Object> data = inodes(bag.resolve("data"));
        Map<String, String> before = new TreeMap<>();
        for (String name : TAG_FILES) {
            before.put(name, Files.readString(bag.resolve(name)));
        }
        Night.write(source, Map.of("new\nline", "3"));

        completeAndValid();

        assertThat(inodes(bag.resolve("data"))).containsAllEntriesOf(data).hasSize(data.size() + 1);
        Path kept = root.resolve(".dozo/versions/p/E1/2");
        assertThat(inodes(kept).keySet())
                .as("bagit.txt says the same as before")
                .containsExactlyInAnyOrder("bag-info.txt", "manifest-sha256.txt", "tagmanifest-sha256.txt");
        for (String name : inodes(kept).keySet()) {
            assertThat(kept.resolve(name)).hasContent(before.get(name));
        }
        assertThat(root.resolve(".dozo/incoming/p/E1")).doesNotExist();
    }

    @Test
    void tagFilesThatSayTheSameAreNotWrittenAnew() throws Exception {
        safe(Map.of("a", "1", "new\nline", "2"));
        Map<String, Object> before = inodes(bag);
        assertThat(night.update("update protection set unsettled = true")).isEqualTo(1);

        night.complete();

        assertThat(night.count("select count(*) from ledger where action = 'experiment.settled'"))
                .isEqualTo(2);
        assertThat(inodes(bag)).isEqualTo(before);
        assertThat(root.resolve(".dozo/versions")).doesNotExist();
    }

    @Test
    void aSecondListThatIsNoLongerNeededIsPutAside() throws Exception {
        safe(Map.of("a", "1", "new\nline", "2"));
        Files.delete(source.resolve("new\nline"));
        Files.createDirectory(source.resolve("new\nline"));
        complete(Map.of("b", "3"));

        assertThat(bag.resolve("sha256sums.txt")).doesNotExist();
        assertThat(root.resolve(".dozo/versions/p/E1/2/sha256sums.txt")).exists();
        Bagit.assertValid(bag);
        NightlyBackupIT.assertChecks(bag);
    }

    @Test
    void hundredsOfNamesArriveToTheByteAndCheck() throws Exception {
        long seed = 20261121;
        HostileNames.write(source, 300, seed);
        night.register("E1", source);

        night.complete();

        assertThat(night.coverage().filesSafe()).isEqualTo(300);
        NightlyBackupIT.assertSame(source, bag.resolve("data"));
        NightlyBackupIT.assertChecks(bag);
        for (String list : List.of("manifest-sha256.txt", "sha256sums.txt")) {
            assertThat(Files.readString(bag.resolve(list), StandardCharsets.ISO_8859_1)
                            .lines()
                            .map(line -> line.substring(line.indexOf(' '))))
                    .as("no two names are written alike")
                    .hasSize(300)
                    .doesNotHaveDuplicates();
        }
    }

    @Test
    void realDataAreAccepted() throws Exception {
        String shared = System.getenv("DOZO_SHARED_DATA");
        assertThat(shared != null || !"true".equals(System.getenv("DOZO_DEMAND_SHARED_DATA")))
                .as("the shared data are demanded and not there")
                .isTrue();
        assumeTrue(shared != null, "no shared data beside this clone");
        night.register("E1", Path.of(shared));

        Run run = night.run();

        assertThat(night.findings(run))
                .as("some were cut on purpose")
                .isNotEmpty()
                .allMatch(finding -> finding.reason() == Problem.BROKEN);
        assertThat(night.coverage().safe()).isTrue();
        assertValid();
    }

    /** Writes a tree as git-annex does: names are links to objects, which are named by their content. */
    private void annexed() throws IOException {
        Night.write(source, Map.of(".git/annex/objects/7m/KEY/KEY", "content", "README", "read"));
        Files.createDirectories(source.resolve("sub-01/anat"));
        Files.createSymbolicLink(
                source.resolve("sub-01/anat/T1w.nii.gz"), Path.of("../../.git/annex/objects/7m/KEY/KEY"));
        Files.createSymbolicLink(source.resolve("first"), Path.of("sub-01"));
        Files.createSymbolicLink(source.resolve("latest"), Path.of("first/anat/T1w.nii.gz"));
    }

    /** Runs a night, after which both programs find the bag right. */
    private void completeAndValid() throws Exception {
        night.complete();
        assertValid();
    }

    private void assertValid() throws Exception {
        Bagit.assertValid(bag);
        NightlyBackupIT.assertChecks(bag);
    }

    /** A change to a copy of the bag. */
    private interface Change {
        void to(Path copy) throws IOException;
    }

    private String refused(String name, Change change) throws Exception {
        Path copy = folder.resolve(name);
        for (Path one : Trees.all(bag)) {
            Files.copy(one, copy.resolve(bag.relativize(one)), LinkOption.NOFOLLOW_LINKS);
        }
        change.to(copy);
        Program verdict = Bagit.validate(copy);
        assertThat(verdict.exitCode()).as(verdict.output()).isNotZero();
        return verdict.output();
    }

    /** Returns the files below a folder, with values that show whether they are still the same files. */
    private static Map<String, Object> inodes(Path top) throws IOException {
        Map<String, Object> found = new TreeMap<>();
        for (Path one : Trees.all(top)) {
            if (Files.isRegularFile(one)) {
                Object changed = Files.getAttribute(one, "unix:ctime");
                found.put(top.relativize(one).toString(), List.of(Files.getAttribute(one, "unix:ino"), changed));
            }
        }
        return found;
    }
}
