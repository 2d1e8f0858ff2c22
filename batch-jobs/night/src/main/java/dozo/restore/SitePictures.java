package dozo.restore;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dozo.file.FilePath;
import dozo.file.Message;
import dozo.manifest.Manifests;
import dozo.picture.Drawing;
import dozo.picture.NoPicture;
import dozo.registry.Refusal;
import dozo.restore.SiteDownloads.FoundFile;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.stereotype.Component;

/** Small pictures of files, drawn from the copies at a site. Nothing is kept. */
@Component
@EnableConfigurationProperties(PictureSettings.class)
public class SitePictures {

    /** Each has a process of its own. */
    private static final int AT_ONCE_MAX = 2;

    private final SiteDownloads downloads;
    private final Manifests manifests;
    private final Inventories inventories;
    private final PictureSettings settings;
    private final Semaphore atOnce = new Semaphore(AT_ONCE_MAX);

    public SitePictures(
            SiteDownloads downloads, Manifests manifests, Inventories inventories, PictureSettings settings) {
        this.downloads = downloads;
        this.manifests = manifests;
        this.inventories = inventories;
        this.settings = settings;
    }

    /** Returns whether there may be a picture of a file of this size. */
    public boolean isOffered(long sizeBytes) {
        return settings.allowed() && sizeBytes <= Drawing.FILE_BYTES_MAX;
    }

    /**
     * Returns a picture as PNG, after all of the copy was read and has the digest of its receipt.
     *
     * @throws Refusal if there is none, or if the copy cannot be read now or differs from what was verified
     */
    public byte[] draw(FoundFile file, String actor) throws IOException {
        if (!settings.allowed()) {
            throw Refusal.conflict("path", "pictures are turned off (DOZO_PICTURES_ALLOWED)");
        }
        Optional<FoundFile> header = header(file);
        if (!atOnce.tryAcquire()) {
            throw Refusal.conflict("path", "%d pictures are being drawn; try again in a moment", AT_ONCE_MAX);
        }
        try (Drawing drawing = Drawing.begin(header.map(FoundFile::sizeBytes).orElse(0L), file.sizeBytes())) {
            if (header.isPresent()) {
                downloads.show(header.get(), actor, drawing.content());
            }
            downloads.show(file, actor, drawing.content());
            return drawing.png();
        } catch (NoPicture none) {
            throw Refusal.conflict("path", message(none.why()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("the service ends");
        } finally {
            atOnce.release();
        }
    }

    /** Finds the file that says what the samples of a CTF recording are. Both must be current, so that they belong together. */
    private Optional<FoundFile> header(FoundFile file) {
        String name = new String(file.name(), ISO_8859_1);
        FilePath path = file.copy().name();
        if (!name.endsWith(".meg4")) {
            return Optional.empty();
        }
        FilePath header =
                path.parent().resolve(name.replaceFirst("meg4$", "res4").getBytes(ISO_8859_1));
        return manifests
                .current(file.experiment().id())
                .map(manifest -> inventories.of(manifest, file.site().id()))
                .filter(current -> current.find(path)
                        .filter(entry -> entry.number() == file.copy().entryNumber())
                        .isPresent())
                .flatMap(current -> current.find(header))
                .map(entry -> downloads.find(file.experiment(), file.site(), entry.number()));
    }

    private static Message message(NoPicture.Why why) {
        return switch (why) {
            case UNKNOWN_FORMAT ->
                Message.of("no picture: only DICOM, NIfTI in one file, FIFF, KIT, and .meg4 beside a .res4 are drawn");
            case COMPRESSED -> Message.of("no picture: the images of this file are compressed");
            case NOT_GREY -> Message.of("no picture: only grey images of whole bytes are drawn");
            case NO_IMAGE -> Message.of("no picture: this file has no image");
            case TOO_LARGE ->
                Message.of(
                        "no picture: only files up to %d GiB, with images up to %d points a side in the first %d MiB, are drawn",
                        Drawing.FILE_BYTES_MAX >> 30, Drawing.SIDE_MAX, Drawing.CONTENT_BYTES_MAX >> 20);
            case DAMAGED -> Message.of("no picture: the content does not follow the rules of its format");
            case UNFINISHED ->
                Message.of("no picture: drawing it was stopped, because it took too long or too much memory");
        };
    }
}
