package dozo.registry;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import dozo.file.Message;

/** A request that cannot be fulfilled: the wrong field, and what was expected. */
public sealed class Refusal extends RuntimeException permits FileQuestion.Unanswered {

    private static final long serialVersionUID = 1L;

    private final String field;

    private final transient Message message;

    private final boolean conflict;

    @FormatMethod
    public Refusal(String field, @FormatString String format, Object... values) {
        this(field, Message.of(format, values));
    }

    public Refusal(String field, Message message) {
        this(field, message, false);
    }

    private Refusal(String field, Message message, boolean conflict) {
        super(message.toString());
        this.field = field;
        this.message = message;
        this.conflict = conflict;
    }

    /** Creates a refusal due to the present state: the same request may succeed at another time. */
    @FormatMethod
    public static Refusal conflict(String field, @FormatString String format, Object... values) {
        return conflict(field, Message.of(format, values));
    }

    public static Refusal conflict(String field, Message message) {
        return new Refusal(field, message, true);
    }

    /** Returns whether the present state is the only reason; REST then answers 409, otherwise 422. */
    public boolean isConflict() {
        return conflict;
    }

    /** Returns the field's name as in REST. */
    public String field() {
        return field;
    }

    public Message message() {
        return message;
    }
}
