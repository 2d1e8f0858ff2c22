package dozo.file;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

/** A text written by a person has the wrong form. The message says which form is expected. */
public final class Malformed extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final transient Message message;

    @FormatMethod
    public Malformed(@FormatString String format, Object... values) {
        this(Message.of(format, values));
    }

    private Malformed(Message message) {
        super(message.toString());
        this.message = message;
    }

    public Message message() {
        return message;
    }
}
