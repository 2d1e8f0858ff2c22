package dozo.ui;

import dozo.file.FilePath;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.restore.FileDownloads;
import dozo.send.SiteCopy;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ContentDisposition;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Single files from a site, for people who need one of them back. */
@Controller
class DownloadPage {

    private final Experiments experiments;
    private final Sites sites;
    private final FileDownloads files;

    /** Thrown when a file has begun and cannot be finished. No other response is possible. */
    static final class BrokenOff extends RuntimeException {

        private static final long serialVersionUID = 1L;

        BrokenOff(Exception cause) {
            super("a download was interrupted", cause);
        }
    }

    DownloadPage(Experiments experiments, Sites sites, FileDownloads files) {
        this.experiments = experiments;
        this.sites = sites;
        this.files = files;
    }

    /**
     * Sends one content of a file. If it turns out not to be what was verified after it has begun, it ends before the
     * announced length, which every browser detects.
     *
     * @param entry its number in the experiment
     */
    @PostMapping("/experiments/{project}/{code}/download")
    void download(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam int entry,
            @RequestParam(name = "site") String siteName,
            Principal actor,
            HttpServletResponse response) {
        Experiment experiment = ExperimentPage.found(experiments, project, code);
        Site site = sites.find(siteName).orElseThrow(() -> new Refusal("site", "site \"%s\" does not exist", siteName));
        SiteCopy copy = files.find(experiment, site, entry);
        try (Attachment attachment = new Attachment(response, copy)) {
            files.write(experiment, site, copy, actor.getName(), attachment);
        } catch (Refusal refused) {
            throw response.isCommitted() ? new BrokenOff(refused) : refused;
        } catch (IOException clientGone) {
            throw new BrokenOff(clientGone);
        }
    }

    /** The response's body as a file. Until something is written, another response is possible. */
    private static final class Attachment extends OutputStream {

        private final HttpServletResponse response;
        private final SiteCopy copy;
        private @Nullable OutputStream out;

        Attachment(HttpServletResponse response, SiteCopy copy) {
            this.response = response;
            this.copy = copy;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            if (out == null) {
                out = begin();
            }
            out.write(bytes, from, length);
        }

        private OutputStream begin() throws IOException {
            response.setContentType(MediaType.APPLICATION_OCTET_STREAM_VALUE);
            response.setContentLengthLong(copy.sizeBytes());
            response.setHeader(
                    HttpHeaders.CONTENT_DISPOSITION,
                    ContentDisposition.attachment()
                            .filename(FilePath.render(copy.name().name()), StandardCharsets.UTF_8)
                            .build()
                            .toString());
            return response.getOutputStream();
        }
    }
}
