package dozo.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.manifest.Catalogue.Tree;
import dozo.manifest.FreezeSigns.FrozenChange;
import dozo.manifest.Manifests.ChangeKind;
import dozo.manifest.Signs.Guess;
import dozo.manifest.Signs.Repeated;
import dozo.manifest.Signs.Sample;
import dozo.manifest.SourceLook.Ingested;
import dozo.registry.Refusal;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A freeze says what happened to the files: from their names, their number, and what some of them contain now. */
class FreezeSignsTest {

    private static final int FILES = 60;
    private static final int FOLDERS = 4;

    @TempDir
    Path source;

    private Catalogue catalogue;
    private FreezeSigns signs;
    private final Map<Path, FileTime> times = new HashMap<>();

    private interface Change {
        void to(Path file) throws Exception;
    }

    @BeforeEach
    void sealSixtyImages() throws Exception {
        for (int i = 0; i < FILES; i++) {
            Path folder = Files.createDirectories(source.resolve("sub-%d".formatted(i % FOLDERS)));
            Path file = Files.write(folder.resolve("IM%04d.dcm".formatted(i)), dicom(i));
            times.put(file, Files.getLastModifiedTime(file));
        }
        catalogue = new Catalogue(source);
        signs = new FreezeSigns(catalogue.jdbc);
        catalogue.night();
    }

    @Test
    void filesThatWereEncryptedAndRenamedLookEncrypted() throws Exception {
        each(file -> {
            Files.write(file.resolveSibling(file.getFileName() + ".locked"), encrypted(Files.readAllBytes(file)));
            Files.delete(file);
        });
        for (int i = 0; i < FOLDERS; i++) {
            Files.writeString(source.resolve("sub-%d/READ_ME_NOW.txt".formatted(i)), "Pay.");
        }

        Signs seen = frozen();

        assertThat(seen)
                .usingRecursiveComparison()
                .isEqualTo(new Signs(
                        FILES,
                        FILES,
                        0,
                        FILES + FOLDERS,
                        0,
                        List.of(
                                new Repeated(".locked", bytes(".locked"), FILES),
                                new Repeated(".txt", bytes(".txt"), FOLDERS)),
                        List.of(new Repeated("READ_ME_NOW.txt", bytes("READ_ME_NOW.txt"), FOLDERS)),
                        seen.sample()));
        Sample sample = seen.sample();
        assertThat(sample.files() + sample.unreadable()).isEqualTo(40);
        assertThat(sample.wrong())
                .isEqualTo(sample.typed())
                .isEqualTo(sample.random())
                .isGreaterThan(30);
        assertThat(seen.guess()).isEqualTo(Guess.ENCRYPTED);
    }

    @Test
    void filesThatWereEncryptedInPlaceLookEncrypted() throws Exception {
        each(file -> Files.write(file, encrypted(Files.readAllBytes(file))));

        Signs seen = frozen();

        assertThat(seen.suffixes()).isEmpty();
        assertThat(seen.changed()).isEqualTo(FILES);
        assertThat(seen.sample()).isEqualTo(new Sample(40, 0, 40, 40, 40));
        assertThat(seen.guess()).isEqualTo(Guess.ENCRYPTED);
        assertThat(signs.changes(1, 0, 100)).extracting(FrozenChange::kind).containsOnly(ChangeKind.CHANGED);
    }

    @Test
    void deletedFilesAreOnlyDeleted() throws Exception {
        each(Files::delete);
        Files.writeString(Files.createDirectory(source.resolve("empty")).resolve("kept"), "");

        Ingested night = catalogue.night();
        assertThat(night.findings()).extracting(finding -> finding.reason()).containsExactly(Problem.FROZEN);
        Files.delete(source.resolve("empty/kept"));
        Signs seen = frozen();

        assertThat(seen.guess()).isEqualTo(Guess.DELETED);
        assertThat(seen.sample()).isEqualTo(new Sample(0, 0, 0, 0, 0));
        assertThat(signs.changes(1, 0, 100))
                .hasSize(FILES)
                .extracting(FrozenChange::kind)
                .containsOnly(ChangeKind.GONE);
    }

    @Test
    void aConversionIsNoEncryptionAlthoughItsBytesLookRandom() throws Exception {
        each(file -> {
            Files.write(file.resolveSibling(file.getFileName() + ".gz"), compressed(Files.readAllBytes(file)));
            Files.delete(file);
        });

        Signs seen = frozen();

        assertThat(seen.suffixes()).extracting(Repeated::name).containsExactly(".gz");
        assertThat(seen.sample()).isEqualTo(new Sample(40, 0, 40, 40, 0));
        assertThat(seen.guess()).isEqualTo(Guess.AS_NAMED);
    }

    @Test
    void imagesWithoutTheUsualBeginningAreNotTakenForEncrypted() throws Exception {
        each(file -> Files.write(file, new byte[20_000]));

        Signs seen = frozen();

        assertThat(seen.sample()).isEqualTo(new Sample(40, 0, 0, 40, 40));
        assertThat(seen.guess()).isEqualTo(Guess.UNKNOWN);
    }

    @Test
    void whatFilesContainIsNotAddedToWhatAnotherLookSawMeanwhile() throws Exception {
        each(file -> Files.write(file, encrypted(Files.readAllBytes(file))));
        catalogue.night();
        Thread first = Thread.ofPlatform().unstarted(() -> signs.examine(catalogue.experiment));

        catalogue.transaction.executeWithoutResult(_ -> {
            catalogue
                    .jdbc
                    .sql("update frozen_experiment set signs = jsonb_set(signs, '{added}', '7')")
                    .update();
            first.start();
            await().until(() -> catalogue.count(
                            "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()")
                    > 0);
        });
        first.join();

        assertThat(seen().added()).isEqualTo(7);
        assertThat(seen().sample()).isNull();
    }

    @Test
    void randomBytesUnderUnknownNamesAreEncryptedOrCompressed() throws Exception {
        each(file -> {
            Files.write(file.resolveSibling(file.getFileName().toString().replace("dcm", "dat")), encrypted(dicom(1)));
            Files.delete(file);
        });

        Signs seen = frozen();

        assertThat(seen.sample()).isEqualTo(new Sample(40, 0, 40, 0, 0));
        assertThat(seen.guess()).isEqualTo(Guess.RANDOM);
    }

    @Test
    void textsBesideImagesAreNotTakenForImages() throws Exception {
        each(file -> {
            Files.writeString(file.resolveSibling(file.getFileName() + ".md5"), "d41d8cd98f00b204e9800998ecf8427e");
            Files.delete(file);
        });

        Signs seen = frozen();

        assertThat(seen.sample()).isEqualTo(new Sample(40, 0, 0, 0, 0));
        assertThat(seen.guess()).isEqualTo(Guess.UNKNOWN);
    }

    @Test
    void namesAreBytes() throws Exception {
        byte[] suffix = {'.', (byte) 0xff, '\\', (byte) 0x80};
        each(file -> {
            FilePath name = FilePath.of(join(bytes(file.getFileName().toString()), suffix));
            Files.write(name.under(file.getParent()), encrypted(Files.readAllBytes(file)));
            Files.delete(file);
        });

        Signs seen = frozen();

        assertThat(seen.suffixes())
                .usingRecursiveFieldByFieldElementComparator()
                .containsExactly(new Repeated(".\\xFF\\\\x80", suffix, FILES));
        assertThat(seen.sample()).isEqualTo(new Sample(40, 0, 40, 40, 40));
        FrozenChange added = signs.changes(1, FILES, 1).getFirst();
        assertThat(added.kind()).isEqualTo(ChangeKind.NEW);
        assertThat(added.pathBytes()).isEqualTo(join(bytes("sub-0/IM0000.dcm"), suffix));
        assertThat(added.bytesBefore()).isNull();
        assertThat(added.bytesAfter()).isPositive();
    }

    @Test
    void aSourceThatIsAwayMeansThatNothingIsKnown() throws Exception {
        each(file -> Files.write(file, encrypted(Files.readAllBytes(file))));
        catalogue.night();
        Path away = source.resolveSibling("away-" + System.nanoTime());
        Files.move(source, away);

        signs.examine(catalogue.experiment);
        Signs seen = seen();
        Files.move(away, source);

        assertThat(seen.guess()).isEqualTo(Guess.UNKNOWN);
        assertThat(seen.sample()).isNotNull();
    }

    @Test
    void beforeFilesAreReadTheirContentIsUnknown() throws Exception {
        each(file -> Files.write(file, encrypted(Files.readAllBytes(file))));

        catalogue.night();

        assertThat(seen().sample()).isNull();
        assertThat(seen().guess()).isEqualTo(Guess.UNKNOWN);
    }

    @Test
    void everyLookReplacesWhatTheOneBeforeSaw() throws Exception {
        each(file -> Files.write(file, encrypted(Files.readAllBytes(file))));
        frozen();
        each(Files::delete);
        Files.writeString(source.resolve("note.txt"), "x");

        Signs seen = frozen();

        assertThat(seen.vanished()).isEqualTo(FILES);
        assertThat(seen.changed()).isZero();
        assertThat(signs.changes(1, 0, 1_000)).hasSize(FILES + 1);
    }

    @Test
    void aSourceThatIsBackIsAsBefore() throws Exception {
        Path kept = source.resolveSibling("kept-" + System.nanoTime());
        Files.move(source.resolve("sub-0"), kept);
        each(Files::delete);
        frozen();
        for (int i = 0; i < FILES; i++) {
            if (i % FOLDERS != 0) {
                Path file = source.resolve("sub-%d/IM%04d.dcm".formatted(i % FOLDERS, i));
                Files.write(file, dicom(i));
                Files.setLastModifiedTime(file, times.get(file));
            }
        }
        Files.move(kept, source.resolve("sub-0"));

        assertThat(frozen().guess()).isEqualTo(Guess.AS_BEFORE);
        assertThat(signs.changes(1, 0, 10)).isEmpty();
    }

    @Test
    void whatCannotBeReadIsNotAsBefore() {
        Catalogue made = new Catalogue(source);
        Tree before = new Tree();
        Tree partly = new Tree();
        for (int i = 0; i < 200; i++) {
            before.put("a/%d".formatted(i), 10, 1);
            if (i > 0) {
                partly.put("a/%d".formatted(i), 10, 1);
            }
        }
        partly.first(listings -> listings.problem(FilePath.of("a/0"), Problem.UNREADABLE, "no"));
        Tree left = new Tree();
        left.put("a/0", 10, 1);
        made.night(before);
        made.night(left);
        assertThat(made.freezes.find(1).orElseThrow().signs().guess()).isEqualTo(Guess.DELETED);

        made.night(partly);

        Signs seen = made.freezes.find(1).orElseThrow().signs();
        assertThat(seen.vanished()).isZero();
        assertThat(seen.unreadable()).isEqualTo(1);
        assertThat(seen.guess()).isEqualTo(Guess.UNKNOWN);
    }

    @Test
    void theListEndsWithTheFreeze() throws Exception {
        each(file -> Files.write(file, encrypted(Files.readAllBytes(file))));
        frozen();

        catalogue.freezes.release(catalogue.experiment, "operator", null);
        assertThat(signs.changes(1, 0, 1_000)).hasSize(FILES);
        catalogue.night();

        assertThat(catalogue.count("select count(*) from frozen_change")).isZero();
        assertThat(catalogue.count("select count(*) from frozen_experiment where signs is not null"))
                .isEqualTo(1);
    }

    @Test
    void nobodyReleasesWhatALookHasFoundAnewSince() throws Exception {
        each(file -> Files.write(file, encrypted(Files.readAllBytes(file))));
        catalogue.night();
        Instant seen = catalogue.freezes.find(1).orElseThrow().lookedAt();
        each(Files::delete);
        Files.writeString(source.resolve("left"), "");
        catalogue.night();

        assertThatThrownBy(() -> catalogue.freezes.release(catalogue.experiment, "operator", seen))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("was looked at again since");

        assertThat(catalogue.freezes.frozen(1)).isTrue();
        Instant latest = catalogue.freezes.find(1).orElseThrow().lookedAt();
        catalogue.freezes.release(catalogue.experiment, "operator", latest);
        assertThat(catalogue.freezes.frozen(1)).isFalse();
    }

    @Test
    void whatCannotBeKeptDoesNotKeepTheExperimentFromBeingFrozen() throws Exception {
        each(Files::delete);
        Files.writeString(source.resolve("left"), "");
        frozen();
        catalogue.jdbc.sql("alter table frozen_change rename to away").update();

        assertThat(catalogue.night().findings()).singleElement().satisfies(finding -> {
            assertThat(finding.reason()).isEqualTo(Problem.FROZEN);
            assertThat(finding.message()).contains("dozo release p/E. What the look saw could not be kept: ");
        });

        assertThat(catalogue.freezes.frozen(1)).isTrue();
        assertThat(seen())
                .as("nothing is known, and nothing of an earlier look is told")
                .isNull();
    }

    @Test
    void whatMovedHasNotVanished() throws Exception {
        Files.move(source.resolve("sub-0"), source.resolve("sub-9"));
        for (Path file : files(source)) {
            if (!file.startsWith(source.resolve("sub-9"))) {
                Files.delete(file);
            }
        }

        assertThat(frozen().vanished()).isEqualTo(FILES - FILES / FOLDERS);
    }

    @Test
    void ofManyChangesTheFirstOfEachKindAreKept() {
        Catalogue large = new Catalogue(source);
        int many = FreezeSigns.CHANGES_MAX + 10;
        Tree before = new Tree();
        Tree after = new Tree();
        for (int i = 0; i < many; i++) {
            before.put("a/%05d".formatted(i), 10, 1);
            after.put("b/%05d.x".formatted(i), 11, 2);
        }
        large.night(before);
        large.night(after);

        List<FrozenChange> kept = new FreezeSigns(large.jdbc).changes(1, 0, 1_000_000);

        assertThat(kept).hasSize(2 * FreezeSigns.CHANGES_MAX);
        assertThat(kept.get(FreezeSigns.CHANGES_MAX - 1).path()).isEqualTo("a/04999");
        assertThat(kept.get(FreezeSigns.CHANGES_MAX).path()).isEqualTo("b/00000.x");
        assertThat(large.freezes.find(1).orElseThrow().signs().vanished()).isEqualTo(many);
    }

    private Signs frozen() {
        assertThat(catalogue.night().findings())
                .extracting(finding -> finding.reason())
                .containsExactly(Problem.FROZEN);
        signs.examine(catalogue.experiment);
        return seen();
    }

    private Signs seen() {
        return catalogue.freezes.find(1).orElseThrow().signs();
    }

    private void each(Change change) throws Exception {
        for (Path file : files(source)) {
            change.to(file);
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private static byte[] dicom(int seed) {
        byte[] bytes = new byte[20_000];
        Random random = new Random(seed);
        for (int i = 132; i < bytes.length; i++) {
            bytes[i] = (byte) (random.nextGaussian() * 6);
        }
        System.arraycopy(bytes("DICM"), 0, bytes, 128, 4);
        return bytes;
    }

    private static byte[] encrypted(byte[] plain) throws Exception {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(
                Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[16], "AES"), new GCMParameterSpec(128, new byte[12]));
        return cipher.doFinal(plain);
    }

    private static byte[] compressed(byte[] plain) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
            out.write(plain);
        }
        return bytes.toByteArray();
    }

    private static byte[] join(byte[] first, byte[] second) {
        byte[] joined = java.util.Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, joined, first.length, second.length);
        return joined;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
