package dozo.api.http;

import tools.jackson.core.JsonParser;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.jdk.StringDeserializer;
import tools.jackson.databind.deser.std.StdScalarDeserializer;
import tools.jackson.databind.module.SimpleModule;

/** A text in a body that the database cannot store: it contains NUL or an unpaired surrogate. */
final class NoText extends DatabindException {

    static final String EXPECTED = "expected text without NUL and without unpaired surrogates";

    private static final long serialVersionUID = 1L;

    private NoText(JsonParser parser) {
        super(parser, EXPECTED);
    }

    /** Returns whether the database can store a text. */
    static boolean isKept(String text) {
        return text.codePoints()
                .noneMatch(c -> c == 0 || (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE));
    }

    /** Returns a module that checks every text of a body while it is read. */
    static SimpleModule module() {
        return new SimpleModule("text").addDeserializer(String.class, new Checked());
    }

    private static final class Checked extends StdScalarDeserializer<String> {

        private static final long serialVersionUID = 1L;

        Checked() {
            super(String.class);
        }

        @Override
        public String deserialize(JsonParser parser, DeserializationContext context) {
            String text = StringDeserializer.instance.deserialize(parser, context);
            if (text != null && !isKept(text)) {
                throw new NoText(parser);
            }
            return text;
        }
    }
}
