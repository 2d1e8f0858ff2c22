package dozo.web;

import dozo.file.Digest;
import tools.jackson.databind.json.JsonMapper;

/** Strong ETags. */
public final class Etag {

    private Etag() {}

    /** Returns the ETag of a representation, in quotes. It changes whenever any part of the representation changes. */
    public static String of(JsonMapper json, Object shown) {
        return "\"%s\""
                .formatted(Digest.ofContent(json.writeValueAsBytes(shown))
                        .toString()
                        .substring(0, 32));
    }
}
