package dozo.ui;

import dozo.file.FilePath;
import dozo.registry.Refusal;
import java.util.Base64;

/** Paths in addresses of pages: their bytes in base64 that needs no escapes, so that any name can be asked for. */
public final class Bytes {

    private Bytes() {}

    public static String of(FilePath path) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(path.bytes());
    }

    /**
     * The path that this stands for.
     *
     * @throws Refusal of the parameter when it stands for none
     */
    static FilePath path(String parameter, String base64) {
        try {
            return FilePath.of(Base64.getUrlDecoder().decode(base64));
        } catch (IllegalArgumentException e) {
            throw new Refusal(parameter, "\"%s\": expected a path in base64; follow a link on the page", base64);
        }
    }
}
