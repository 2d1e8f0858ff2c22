package dozo.content;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * JSON (RFC 8259), by the name's ending {@code .json} and the first character, a brace or a bracket: one value, after which only
 * blanks follow. A byte order mark, NaN and Infinity are accepted. Whatever else differs from the standard, such as comments and
 * names in Latin-1, exists in healthy files and is suspect; an end within the value and NUL bytes are not.
 */
final class Json implements Format {

    private static final String BYTE_ORDER_MARK = "\u00EF\u00BB\u00BF";

    @Override
    public @Nullable Check check(Beginning file) {
        int start = file.has(0, BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length() : 0;
        int at = start;
        while (file.reaches(at + 1) && isBlank(file.bytes().get(at))) {
            at++;
        }
        boolean opens = file.has(at, "{") || file.has(at, "[");
        // A NUL in second place is UTF-16.
        return file.isNamed(".json") && opens && !file.has(at + 1, "\0") ? new Value(start) : null;
    }

    private static boolean isBlank(int value) {
        return value == ' ' || value == '\t' || value == '\n' || value == '\r';
    }

    /** What may come next. */
    private enum Step {
        VALUE,
        VALUE_OR_END,
        KEY,
        KEY_OR_END,
        COLON,
        COMMA_OR_END,
        STRING,
        ESCAPED,
        HEX,
        WORD,
        MINUS,
        ZERO,
        DIGITS,
        POINT,
        FRACTION,
        EXPONENT,
        EXPONENT_SIGN,
        EXPONENT_DIGITS,
        DONE
    }

    private static final class Value extends Check {

        private static final int DEPTH_MAX = 10_000;
        private static final int HEX_DIGITS = 4;
        private static final Set<Step> NUMBER = EnumSet.range(Step.MINUS, Step.EXPONENT_DIGITS);
        private static final Set<Step> FULL_NUMBER =
                EnumSet.of(Step.ZERO, Step.DIGITS, Step.FRACTION, Step.EXPONENT_DIGITS);

        private final Utf8 utf8 = new Utf8();

        /** Which of the open values are objects. */
        private final BitSet objects = new BitSet();

        private int depth;
        private Step step = Step.VALUE;
        private boolean key;
        private String word = "";

        /** How many characters of a word or an escape sequence have passed. */
        private int at;

        private long line = 1;

        Value(int start) {
            super("JSON");
            skip(start);
        }

        @Override
        void stream(ByteBuffer bytes) throws NotWhole {
            while (bytes.hasRemaining()) {
                take(bytes.get());
            }
        }

        private void take(byte value) throws NotWhole {
            if (value == '\n') {
                line++;
            }
            if (value == 0 && step != Step.DONE) {
                throw NotWhole.broken("line %,d has zeros in place of text".formatted(line));
            }
            switch (step) {
                case STRING -> string(value);
                case ESCAPED -> escaped(value);
                case HEX -> hex(value);
                case WORD -> word(value);
                default -> numberOrToken(value);
            }
        }

        private void string(byte value) throws NotWhole {
            if (!utf8.take(value)) {
                throw NotWhole.suspect("line %,d has characters that are not UTF-8".formatted(line));
            }
            if (value == '"') {
                step = key ? Step.COLON : afterValue();
            } else if (value == '\\') {
                step = Step.ESCAPED;
            } else if (value >= 0 && value < ' ') {
                throw unusual();
            }
        }

        private void escaped(byte value) throws NotWhole {
            if ("\"\\/bfnrtu".indexOf(value) < 0) {
                throw unusual();
            }
            step = value == 'u' ? Step.HEX : Step.STRING;
            at = 0;
        }

        private void hex(byte value) throws NotWhole {
            if (Character.digit(value, 16) < 0) {
                throw unusual();
            }
            at++;
            step = at == HEX_DIGITS ? Step.STRING : Step.HEX;
        }

        private Step begin(String word) {
            this.word = word;
            at = 1;
            return Step.WORD;
        }

        private void word(byte value) throws NotWhole {
            if (value != word.charAt(at)) {
                throw unusual();
            }
            at++;
            step = at == word.length() ? afterValue() : Step.WORD;
        }

        private void numberOrToken(byte value) throws NotWhole {
            if (NUMBER.contains(step)) {
                Step next = inNumber(value);
                if (next != null) {
                    step = next;
                    return;
                }
                if (!FULL_NUMBER.contains(step)) {
                    throw unusual();
                }
                step = afterValue();
            }
            if (!isBlank(value)) {
                token(value);
            }
        }

        /** Returns how a number goes on; null: this is no part of it. */
        private @Nullable Step inNumber(byte value) {
            boolean digit = isDigit(value);
            return switch (step) {
                case MINUS -> value == '0' ? Step.ZERO : digit ? Step.DIGITS : value == 'I' ? begin("Infinity") : null;
                case ZERO -> afterDigits(value);
                case DIGITS -> digit ? Step.DIGITS : afterDigits(value);
                case POINT -> digit ? Step.FRACTION : null;
                case FRACTION -> digit ? Step.FRACTION : value == '.' ? null : afterDigits(value);
                case EXPONENT ->
                    digit ? Step.EXPONENT_DIGITS : value == '+' || value == '-' ? Step.EXPONENT_SIGN : null;
                case EXPONENT_SIGN, EXPONENT_DIGITS -> digit ? Step.EXPONENT_DIGITS : null;
                default -> throw new IllegalStateException();
            };
        }

        private static @Nullable Step afterDigits(byte value) {
            return value == '.' ? Step.POINT : value == 'e' || value == 'E' ? Step.EXPONENT : null;
        }

        private static boolean isDigit(byte value) {
            return value >= '0' && value <= '9';
        }

        private void token(byte value) throws NotWhole {
            switch (step) {
                case VALUE -> value(value);
                case VALUE_OR_END -> {
                    if (value == ']') {
                        close();
                    } else {
                        value(value);
                    }
                }
                case KEY, KEY_OR_END -> keyOrEnd(value);
                case COLON -> {
                    require(value == ':');
                    step = Step.VALUE;
                }
                case COMMA_OR_END -> commaOrEnd(value);
                default -> throw NotWhole.suspect("more follows after its value, on line %,d".formatted(line));
            }
        }

        private void value(byte value) throws NotWhole {
            key = false;
            step = switch (value) {
                case '{' -> open(true);
                case '[' -> open(false);
                case '"' -> Step.STRING;
                case '-' -> Step.MINUS;
                case '0' -> Step.ZERO;
                case 't' -> begin("true");
                case 'f' -> begin("false");
                case 'n' -> begin("null");
                case 'N' -> begin("NaN");
                case 'I' -> begin("Infinity");
                default -> {
                    require(isDigit(value));
                    yield Step.DIGITS;
                }
            };
        }

        private Step open(boolean object) throws NotWhole {
            if (depth == DEPTH_MAX) {
                throw NotWhole.unknown();
            }
            depth++;
            objects.set(depth, object);
            return object ? Step.KEY_OR_END : Step.VALUE_OR_END;
        }

        private void keyOrEnd(byte value) throws NotWhole {
            if (value == '}' && step == Step.KEY_OR_END) {
                close();
            } else {
                require(value == '"');
                key = true;
                step = Step.STRING;
            }
        }

        private void commaOrEnd(byte value) throws NotWhole {
            boolean object = objects.get(depth);
            if (value == ',') {
                step = object ? Step.KEY : Step.VALUE;
            } else {
                require(value == (object ? '}' : ']'));
                close();
            }
        }

        private void close() {
            depth--;
            step = afterValue();
        }

        private Step afterValue() {
            return depth == 0 ? Step.DONE : Step.COMMA_OR_END;
        }

        private void require(boolean standard) throws NotWhole {
            if (!standard) {
                throw unusual();
            }
        }

        private NotWhole unusual() {
            return NotWhole.suspect("line %,d is not standard JSON".formatted(line));
        }

        @Override
        void end(long left) throws NotWhole {
            if (step != Step.DONE) {
                throw NotWhole.broken("it ends on line %,d, in the middle of its value".formatted(line));
            }
        }
    }
}
