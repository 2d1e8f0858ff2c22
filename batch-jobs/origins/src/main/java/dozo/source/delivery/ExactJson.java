package dozo.source.delivery;

import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;

/** Reads and writes JSON so that equal answers give equal bytes: keeps numbers as they are written, and sorts fields. */
public final class ExactJson {

    /** The last character that is not escaped: unpaired surrogates, which follow it, have no UTF-8. */
    private static final char PLAIN_MAX = '\uD7FF';

    public static final JsonMapper MAPPER = JsonMapper.builder(
                    JsonFactory.builder().highestNonEscapedChar(PLAIN_MAX).build())
            .enable(JsonNodeFeature.WRITE_PROPERTIES_SORTED, JsonNodeFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .build();

    private ExactJson() {}
}
