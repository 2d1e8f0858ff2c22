package dozo.command;

import dozo.file.FilePath;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One end of a copy as typed, parsed as scp does. The text has one character for each byte (ISO 8859-1), because names
 * are bytes.
 */
sealed interface Location {

    Pattern THERE = Pattern.compile("(?s)(?:([^/:\\[]*)@)?(\\[[^\\]/]+]|[^/:\\[@]+):(.*)");
    Pattern ADDRESS = Pattern.compile("(?s)scp://(?:([^/@:]*)@)?(\\[[^\\]/]+]|[^/:\\[@]+)(?::([0-9]{1,5}))?(?:/(.*))?");

    Pattern LOGIN = Pattern.compile("(?:([^@]+)@)?(\\[[^]]+]|[^@:\\[\\]]+)(?::([0-9]{1,5}))?");

    /** Returns the path as typed. */
    String text();

    /** Returns whether sources go into this location under their own names, instead of becoming it. */
    default boolean isFolder() {
        String last = text().substring(text().lastIndexOf('/') + 1);
        return last.isEmpty() || last.equals(".") || last.equals("..");
    }

    /** A location on this machine. */
    record Here(String text) implements Location {

        Path path() {
            String here = text.startsWith("/") ? "" : latin(FilePath.rawBytes(Path.of("")));
            List<String> names = new ArrayList<>();
            for (String name : names(here + "/" + text)) {
                if (!name.equals("..")) {
                    names.add(name);
                } else if (!names.isEmpty()) {
                    names.removeLast();
                }
            }
            return FilePath.pathOf(bytes("/" + String.join("/", names)));
        }
    }

    /**
     * A location at a site.
     *
     * @param port 0 if none was typed
     */
    record There(@Nullable String user, String host, int port, String text) implements Location {

        @Override
        public boolean isFolder() {
            return isHome() || Location.super.isFolder();
        }

        /** Returns whether the path is relative to the login's home folder. */
        boolean isRelative() {
            return !text.startsWith("/");
        }

        /** Returns the path below the site's {@code "/"}, given the login's home folder. */
        FilePath path(byte[] home) {
            String below = isHome() ? "" : text.startsWith("~/") ? text.substring(2) : text;
            List<String> names = names(isRelative() ? latin(home) + "/" + below : below);
            boolean ofOthers = text.startsWith("~") && !isHome() && !text.startsWith("~/");
            if (names.contains("..") || ofOthers) {
                throw new Failure(
                        Exit.REFUSED,
                        "%s: expected a path at the site without .. and without ~USER"
                                .formatted(FilePath.render(bytes(text))));
            }
            return FilePath.of(bytes(String.join("/", names)));
        }

        private boolean isHome() {
            return text.isEmpty() || text.equals("~");
        }
    }

    /** Parses {@code [USER@]HOST[:PORT]}; empty if the text has another form. */
    static Optional<There> login(String typed) {
        Matcher parts = LOGIN.matcher(typed.strip());
        if (!parts.matches()) {
            return Optional.empty();
        }
        int port = parts.group(3) == null ? 0 : Integer.parseInt(parts.group(3));
        return Optional.of(new There(parts.group(1), parts.group(2).replaceAll("[\\[\\]]", ""), port, ""));
    }

    /** Parses a typed location. */
    static Location of(byte[] typed) {
        String text = latin(typed);
        Matcher address = ADDRESS.matcher(text);
        if (address.matches()) {
            int port = address.group(3) == null ? 0 : Integer.parseInt(address.group(3));
            String path = address.group(4) == null ? "" : percentDecoded(address.group(4));
            return new There(user(address.group(1)), host(address.group(2)), port, path);
        }
        if (text.startsWith("scp://")) {
            throw new Failure(Exit.USAGE, "%s: expected scp://USER@HOST:PORT/PATH".formatted(FilePath.render(typed)));
        }
        Matcher there = THERE.matcher(text);
        if (there.matches()) {
            return new There(user(there.group(1)), host(there.group(2)), 0, there.group(3));
        }
        return new Here(text);
    }

    private static String host(String typed) {
        return utf8(typed.startsWith("[") ? typed.substring(1, typed.length() - 1) : typed);
    }

    private static @Nullable String user(@Nullable String typed) {
        return typed == null || typed.isBlank() ? null : utf8(typed);
    }

    private static String utf8(String text) {
        return new String(bytes(text), StandardCharsets.UTF_8);
    }

    private static List<String> names(String path) {
        List<String> names = new ArrayList<>(List.of(path.split("/")));
        names.removeIf(name -> name.isEmpty() || name.equals("."));
        return names;
    }

    private static String percentDecoded(String text) {
        return Pattern.compile("%([0-9A-Fa-f]{2})")
                .matcher(text)
                .replaceAll(code ->
                        Matcher.quoteReplacement(String.valueOf((char) HexFormat.fromHexDigits(code.group(1)))));
    }

    private static String latin(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
