package dozo.source.dicomweb;

import static java.nio.charset.StandardCharsets.UTF_8;

import dozo.file.Digest;
import dozo.source.delivery.Reread;
import dozo.source.delivery.Upload;
import java.io.IOException;
import java.security.MessageDigest;

/**
 * The file of an instance in an Orthanc.
 *
 * @param what names the instance in messages
 * @param id Orthanc's own
 */
record StoredFile(Requests requests, String what, String id) {

    static boolean isMd5(String text) {
        return text.matches("[0-9a-f]{32}");
    }

    /** Returns the MD5 that Orthanc stores, in hexadecimal digits; something else if it stores none. */
    String md5() throws IOException, InterruptedException {
        return requests.text("the MD5 of " + what, attachment("md5"), 64);
    }

    /**
     * Makes Orthanc read the file from its disk, and compare it with the MD5 that it stores. No content is transferred.
     *
     * @return whether they are equal; false also if this Orthanc, or a proxy before it, does not do that
     */
    boolean verifies() throws IOException, InterruptedException {
        String asked = "the verification of " + what;
        return requests.persist(() -> requests.once(asked, attachment("verify-md5"), "*/*", Upload.of(""), answer -> {
            switch (answer.status()) {
                case 200 -> {
                    try (var body = answer.body(Requests.JSON_BYTES_MAX)) {
                        return new String(body.readAllBytes(), UTF_8).strip().equals("{}");
                    }
                }
                case 400, 403, 404, 405 -> {
                    return false;
                }
                default -> throw requests.refusal(asked, answer);
            }
        }));
    }

    /** Returns whether the file on Orthanc's disk has this MD5. */
    boolean isOnDisk(String wantedMd5) throws IOException, InterruptedException {
        return isMd5(wantedMd5) && wantedMd5.equals(md5()) && verifies();
    }

    /**
     * Reads the file from Orthanc's disk, and digests it. NB: only the stored form is never from Orthanc's memory; a compressed one must
     * be asked for as it was.
     *
     * @param listedBytes as in {@link Reread#digest}
     * @param delivered what it was when it was delivered
     */
    Reread read(long listedBytes, Digest delivered) throws IOException, InterruptedException {
        String compressed = requests.text("the compression of " + what, attachment("is-compressed"), 8);
        String path = attachment(compressed.equals("0") ? "compressed-data" : "data");
        return requests.ask(what, path, "*/*", null, Requests.INSTANCE_BYTES_MAX, (answer, body) -> {
            MessageDigest sha256 = Digest.algorithm();
            long bytes = Reread.digest(answer, body, listedBytes, sha256);
            Digest found = Digest.of(sha256.digest());
            return new Reread(found, found.equals(delivered), bytes);
        });
    }

    private String attachment(String name) {
        return "/instances/%s/attachments/dicom/%s".formatted(id, name);
    }
}
