package dozo.ui;

import dozo.file.FilePath;
import dozo.registry.Refusal;
import java.util.Base64;

/** Paths in page addresses: their bytes in URL-safe base64, so that any name can be requested. */
public final class Bytes {

    private Bytes() {}

    public static String of(FilePath path) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(path.bytes());
    }

    /**
     * Decodes a path.
     *
     * @throws Refusal for this parameter if it is not a path in base64
     */
    static FilePath path(String parameter, String base64) {
        try {
            return FilePath.of(Base64.getUrlDecoder().decode(base64));
        } catch (IllegalArgumentException e) {
            throw new Refusal(parameter, "\"%s\": expected a path in base64; follow a link on the page", base64);
        }
    }
}
