package dozo;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream;

/** A library of others that the embedded PostgreSQL brings. Its version is in the name of its file or in the file. */
enum PostgresLibrary {
    OPENSSL("lib(crypto|ssl)", "OpenSSL", "OpenSSL", "openssl:openssl", "OpenSSL (\\d\\.\\d\\.\\d[a-z]?) "),
    ICU(
            "libicu(data|i18n|uc)",
            "ICU",
            "ICU",
            "icu-project:international_components_for_unicode",
            "libicu.*\\.so\\.(\\d+\\.\\d+)"),
    LIBXML("libxml2", "libxml2", "MIT", "xmlsoft:libxml2", "\\W(2[01]\\d{3})\0"),
    LIBXSLT("libxslt", "libxslt", "MIT", "xmlsoft:libxslt", "\\W(10\\d{3})\0"),
    ZLIB("libz", "zlib", "Zlib", "zlib:zlib", "inflate (\\d[.\\d]+) Copyright"),
    XZ("liblzma", "liblzma", "Public domain", "tukaani:xz", "\\W(5\\.\\d\\.\\d+)\0"),
    UUID("libossp-uuid", "OSSP uuid", "MIT", "ossp:uuid", "OSSP uuid (\\d[.\\d]+) ");

    private static final Pattern FILE = Pattern.compile("(?:\\./)?lib/([^/]+?)\\.so[.0-9]*");
    private static final Pattern OWN = Pattern.compile("lib(pq|pg.*|ecpg.*)");

    private final Pattern file;
    final String title;
    final String licence;

    /** Vendor and product in lists of vulnerabilities. */
    final String cpe;

    private final Pattern version;

    PostgresLibrary(String file, String title, String licence, String cpe, String version) {
        this.file = Pattern.compile(file);
        this.title = title;
        this.licence = licence;
        this.cpe = cpe;
        this.version = Pattern.compile(version);
    }

    /** Returns the libraries in a jar with an archive of PostgreSQL, and their versions. Adds what it cannot name to the problems. */
    static Map<PostgresLibrary, String> in(Path jar, List<String> problems) throws IOException {
        Map<PostgresLibrary, String> found = new EnumMap<>(PostgresLibrary.class);
        try (JarFile opened = new JarFile(jar.toFile())) {
            for (JarEntry entry : Collections.list(opened.entries())) {
                if (entry.getName().endsWith(".txz")) {
                    try (TarArchiveInputStream archive =
                            new TarArchiveInputStream(new XZCompressorInputStream(opened.getInputStream(entry)))) {
                        find(archive, found, problems);
                    }
                }
            }
        }
        found.forEach((library, version) -> {
            if (version.isEmpty()) {
                problems.add("%s of PostgreSQL: expected a version in its files, found none".formatted(library.title));
            }
        });
        return found;
    }

    private static void find(TarArchiveInputStream archive, Map<PostgresLibrary, String> found, List<String> problems)
            throws IOException {
        for (TarArchiveEntry entry = archive.getNextEntry(); entry != null; entry = archive.getNextEntry()) {
            Matcher name = FILE.matcher(entry.getName());
            if (entry.isFile() && name.matches() && !OWN.matcher(name.group(1)).matches()) {
                Optional<PostgresLibrary> library = Stream.of(values())
                        .filter(each -> each.file.matcher(name.group(1)).matches())
                        .findFirst();
                if (library.isPresent()) {
                    String content = entry.getName() + new String(archive.readAllBytes(), StandardCharsets.ISO_8859_1);
                    found.merge(
                            library.get(), library.get().version(content), (one, other) -> one.isEmpty() ? other : one);
                } else {
                    problems.add("PostgreSQL: expected known libraries, found %s".formatted(name.group(1)));
                }
            }
        }
    }

    /** Returns the version; empty if it is not in this file. */
    private String version(String content) {
        Matcher found = version.matcher(content);
        if (!found.find()) {
            return "";
        }
        String number = found.group(1);
        if (!number.matches("\\d{5}")) {
            return number;
        }
        // 20904 is 2.9.4.
        int digits = Integer.parseInt(number);
        return "%d.%d.%d".formatted(digits / 10_000, digits / 100 % 100, digits % 100);
    }
}
