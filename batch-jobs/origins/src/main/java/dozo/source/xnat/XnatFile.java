package dozo.source.xnat;

import dozo.file.Digest;
import dozo.source.delivery.Item;
import dozo.source.delivery.ListedFile;
import dozo.source.delivery.Trouble;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A file as XNAT lists it.
 *
 * @param session the id of its session
 * @param path its path in the resource, with slashes
 * @param sizeBytes -1 if not stated
 * @param md5 in hexadecimal digits; null if XNAT computes none. It may be out of date
 */
record XnatFile(
        String session,
        Resource resource,
        String path,
        long sizeBytes,
        @Nullable String md5,
        JsonNode row) implements ListedFile {

    private static final int ID_LENGTH = 32;
    private static final Pattern MD5 = Pattern.compile("[0-9a-f]{32}");
    private static final Pattern SIZE = Pattern.compile("[0-9]{1,18}");

    static XnatFile of(String session, Resource resource, String path, JsonNode row) {
        String size = Resource.text(row, "Size");
        String digest = Resource.text(row, "digest").toLowerCase(Locale.ROOT);
        return new XnatFile(
                session,
                resource,
                path,
                SIZE.matcher(size).matches() ? Long.parseLong(size) : -1,
                MD5.matcher(digest).matches() ? digest : null,
                row);
    }

    /** Returns the path in the resource that a row of a list states; empty if it is not in this resource. */
    static String path(String resource, JsonNode row) {
        String uri = Resource.text(row, "URI");
        String before = "/resources/%s/files/".formatted(resource);
        int at = uri.indexOf(before);
        return at < 0 ? "" : uri.substring(at + before.length());
    }

    /**
     * Returns why a file with this path cannot be requested; null if it can. NB: a remote file has its address as path if
     * its entry in the catalogue has no id.
     */
    static @Nullable String refusal(String path) {
        if (path.contains("://")) {
            return "the catalogue refers to a remote address";
        }
        boolean isPlain = segments(path).stream()
                .noneMatch(segment -> segment.isEmpty() || segment.equals(".") || segment.equals(".."));
        return isPlain ? null : "the catalogue states no path in the resource";
    }

    static List<String> segments(String path) {
        return List.of(path.split("/", -1));
    }

    @Override
    public String id() {
        return resource.id() + "-" + Digest.ofText(path).toString().substring(0, ID_LENGTH);
    }

    /** NB: without a digest, nothing in the list changes if other bytes have the same size. */
    @Override
    public String mark() {
        return md5 == null ? "size-" + sizeBytes : md5;
    }

    @Override
    public Item item(Trouble trouble, String message) {
        return new Item("%s, file %s".formatted(resource.shown(), Xnat.shown(path)), id(), trouble, message);
    }

    /** Returns the address of its bytes. */
    String address() {
        List<String> all = new ArrayList<>(List.of("experiments", session, "resources", resource.id(), "files"));
        all.addAll(segments(path));
        return Xnat.path(all.toArray(String[]::new));
    }

    /** Returns what describes it. */
    ObjectNode described() {
        ObjectNode described = ((ObjectNode) row).deepCopy();
        described.remove(Arrays.asList("URI", "cat_ID", "collection", "Name"));
        return described.put("name", path);
    }
}
