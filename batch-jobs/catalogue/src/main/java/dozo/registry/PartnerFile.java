package dozo.registry;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import dozo.file.Digest;
import dozo.remote.HostKey;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What one of two partners gives the other: its keys, and a place for copies. A text that people can read and compare by its
 * {@linkplain #fingerprint fingerprint}; lines that begin with # do not count. Whoever sent it is not trusted: everything is
 * checked.
 *
 * @param issued when it was made, in whole seconds
 * @param keys the public keys with which the sender logs in at the receiver's machine; 1 to 4
 * @param host the sender's machine, and its SSH port
 * @param hostKeys its public host keys; 1 to 4
 * @param account the receiver's account there
 * @param root the receiver's folder there
 * @param quotaBytes what the receiver may use there: 1 MB to 1 EB
 * @param zone the time zone of the hours
 * @param hours when the receiver may use it, as {@link SiteTimetable} has them; empty: at any time
 */
public record PartnerFile(
        Instant issued,
        List<String> keys,
        String host,
        int port,
        List<String> hostKeys,
        String account,
        String root,
        long quotaBytes,
        String zone,
        List<String> hours) {

    static final int LENGTH_MAX = 65_536;
    static final int KEYS_MAX = 4;
    private static final long QUOTA_BYTES_MIN = 1_000_000;
    private static final long QUOTA_BYTES_MAX = 1_000_000_000_000_000_000L;

    private static final String FORM = "Dozo partner 1";
    private static final Pattern LINE = Pattern.compile("([a-z-]{1,20}): (\\S(?:.{0,10000}\\S)?)");
    private static final Pattern KEY =
            Pattern.compile("(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)) [A-Za-z0-9+/]{1,6000}={0,2}");
    private static final Pattern ACCOUNT = Pattern.compile("[a-z_][a-z0-9_-]{0,30}");

    /** Names that no shell and no file of keys treats in another way; none begins with a dash or a dot. */
    private static final Pattern PATH = Pattern.compile("(?:/[A-Za-z0-9_][A-Za-z0-9._-]{0,200}){1,20}");

    private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,17}|10{18}");
    private static final int FINGERPRINT_BYTES = 16;

    public PartnerFile {
        checkKeys("key", keys);
        demand(SiteTerms.isHost(host), "host", "expected a host name or an address");
        demand(SiteTerms.isPort(port), "port", "expected 1 to 65535");
        checkKeys("hostKey", hostKeys);
        demand(
                ACCOUNT.matcher(account).matches(),
                "account",
                "expected an account of a-z, digits, - and _, at most 31 characters");
        demand(isPlainPath(root), "root", "expected an absolute path of A-Z a-z, digits, . _ and -");
        demand(
                quotaBytes >= QUOTA_BYTES_MIN && quotaBytes <= QUOTA_BYTES_MAX,
                "quota",
                "expected a size from 1 MB to 1 EB, such as 20 TB");
        hours = SiteTimetable.of(hours).rules();
    }

    /** Returns whether it is an absolute path that needs no quotes anywhere, and leads to nothing above. */
    static boolean isPlainPath(String path) {
        return PATH.matcher(path).matches();
    }

    private static void checkKeys(String field, List<String> keys) {
        demand(
                !keys.isEmpty()
                        && keys.size() <= KEYS_MAX
                        && keys.stream()
                                .allMatch(key -> KEY.matcher(key).matches()
                                        && !new HostKey(key).fingerprint().isEmpty()),
                field,
                "expected 1 to %d public keys such as ssh-ed25519 AAAA…, without options and comments",
                KEYS_MAX);
    }

    /**
     * Reads a file.
     *
     * @throws Refusal if it has another version, more or less than it should, or is not as Dozo writes it
     */
    public static PartnerFile of(String text) {
        demand(text.length() <= LENGTH_MAX, "file", "expected at most 64 KiB");
        List<String> lines = text.lines().filter(line -> !line.startsWith("#")).toList();
        demand(
                !lines.isEmpty() && lines.getFirst().equals(FORM),
                "file",
                "expected a file of dozo partner offer that begins with \"%s\"",
                FORM);
        Map<String, List<String>> values = new LinkedHashMap<>();
        for (String line : lines.subList(1, lines.size())) {
            Matcher parts = LINE.matcher(line);
            demand(parts.matches(), "file", "expected lines with a name, a colon and a value");
            values.computeIfAbsent(parts.group(1), _ -> new ArrayList<>()).add(parts.group(2));
        }
        try {
            String zone = ZoneId.of(one(values, "zone")).getId();
            PartnerFile file = new PartnerFile(
                    Instant.parse(one(values, "issued")),
                    values.getOrDefault("key", List.of()),
                    one(values, "host"),
                    (int) number(values, "port"),
                    values.getOrDefault("host-key", List.of()),
                    one(values, "account"),
                    one(values, "root"),
                    number(values, "quota"),
                    zone,
                    values.getOrDefault("hours", List.of()));
            // What is neither checked nor used would be in here.
            demand(
                    file.text().equals(String.join("\n", lines) + "\n"),
                    "file",
                    "it was changed: expected exactly the lines of dozo partner offer");
            return file;
        } catch (DateTimeException e) {
            throw new Refusal("file", "expected a time and a time zone");
        }
    }

    /** Returns its text, with a newline at the end. */
    public String text() {
        return Stream.of(
                        Stream.of(FORM, "issued: " + issued),
                        keys.stream().map("key: "::concat),
                        Stream.of("host: " + host, "port: " + port),
                        hostKeys.stream().map("host-key: "::concat),
                        Stream.of("account: " + account, "root: " + root, "quota: " + quotaBytes, "zone: " + zone),
                        hours.stream().map("hours: "::concat))
                .flatMap(lines -> lines)
                .map(line -> line + "\n")
                .reduce("", String::concat);
    }

    /** Returns the beginning of the text's SHA-256, 128 bits, in groups of four hexadecimal digits, to be read out. */
    public String fingerprint() {
        return Digest.ofText(text())
                .toString()
                .substring(0, 2 * FINGERPRINT_BYTES)
                .replaceAll(".{4}(?=.)", "$0 ");
    }

    /** Returns the same with another time. */
    PartnerFile issued(Instant time) {
        return new PartnerFile(time, keys, host, port, hostKeys, account, root, quotaBytes, zone, hours);
    }

    /** Returns the fingerprints of the keys, as {@code ssh-keygen -l} prints them. */
    public List<String> keyFingerprints() {
        return keys.stream().map(key -> new HostKey(key).fingerprint()).toList();
    }

    private static String one(Map<String, List<String>> values, String name) {
        List<String> all = values.getOrDefault(name, List.of());
        demand(all.size() == 1, "file", "expected one line \"%s\"", name);
        return all.getFirst();
    }

    private static long number(Map<String, List<String>> values, String name) {
        String text = one(values, name);
        demand(NUMBER.matcher(text).matches(), "file", "expected one line \"%s\"", name);
        return Long.parseLong(text);
    }

    @FormatMethod
    private static void demand(boolean met, String field, @FormatString String expected, Object... values) {
        if (!met) {
            throw new Refusal(field, expected, values);
        }
    }
}
