package dozo.command;

import dozo.file.FilePath;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Downloads a certificate and its list into a folder. */
@Command(
        name = "certificate",
        mixinStandardHelpOptions = true,
        description =
                "Downloads a signed certificate that a whole manifest is verified at a site, and the list of its entries.",
        footer = {
            "",
            "Writes two new files into FOLDER, the certificate and the list. Both can be checked without Dozo:",
            "docs/check_certificate.py KEY CERTIFICATE [LIST [COPY]], with the key that dozo certificate-key printed.",
            "",
            "Exit code 3: not everything is verified at the site, so there is no certificate. 69: download interrupted."
        })
final class CertificateCommand implements Callable<Integer> {

    @Mixin
    private final Connection service = new Connection();

    @Option(
            names = "--manifest",
            paramLabel = "N",
            description = "The manifest with this number; by default the latest.")
    private @Nullable Integer manifest;

    @Option(names = "--site", paramLabel = "S", description = "The site; optional if there is only one.")
    private @Nullable String site;

    @Parameters(index = "0", paramLabel = "PROJECT/EXPERIMENT", description = "The experiment.")
    private String experiment = "";

    @Parameters(index = "1", paramLabel = "FOLDER", description = "An existing folder.")
    private String folder = "";

    private final List<Path> written = new ArrayList<>();

    @Override
    public Integer call() {
        Path into = FilePath.pathOf(RawArgument.path(folder));
        if (!Files.isDirectory(into)) {
            throw new Failure(Exit.USAGE, "\"%s\" is not an existing folder".formatted(Connection.visible(folder)));
        }
        Query order = new Query(Dozo.experimentAddress(service.commandLine(), experiment) + "/certificate")
                .with("manifest", manifest)
                .with("site", site);
        boolean whole = false;
        try {
            service.order(order.toString(), in -> unpack(in, into));
            whole = true;
        } finally {
            if (!whole) {
                written.forEach(CertificateCommand::remove);
            }
        }
        if (!service.quiet()) {
            written.forEach(file -> service.out().println(FilePath.render(FilePath.rawBytes(file))));
            service.out().flush();
        }
        return Exit.WELL;
    }

    private void unpack(InputStream in, Path into) throws IOException {
        ZipInputStream zip = new ZipInputStream(in);
        for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
            // A single name, whatever the service says.
            Path file = into.resolve(Path.of(entry.getName()).getFileName());
            try {
                Files.createFile(file);
            } catch (FileAlreadyExistsException e) {
                throw new Failure(
                        Exit.REFUSED,
                        "\"%s\" exists already; nothing is overwritten"
                                .formatted(FilePath.render(FilePath.rawBytes(file))));
            }
            written.add(file);
            try (var out = Files.newOutputStream(file)) {
                zip.transferTo(out);
            }
        }
    }

    private static void remove(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException left) {
            // The failure of the download is reported; the incomplete file has no certificate beside it.
        }
    }
}
