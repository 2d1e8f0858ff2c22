package dozo.registry;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import dozo.file.Message;
import java.util.List;

/** A request that cannot be fulfilled: the wrong field, and what was expected. It may contain several refusals. */
public sealed class Refusal extends RuntimeException permits FileQuestion.Unanswered {

    private static final long serialVersionUID = 1L;

    private final String field;

    private final transient Message message;

    private final boolean conflict;

    /** All of them, if there are several. */
    private final transient List<Refusal> several;

    @FormatMethod
    public Refusal(String field, @FormatString String format, Object... values) {
        this(field, Message.of(format, values));
    }

    public Refusal(String field, Message message) {
        this(field, message, false, List.of());
    }

    private Refusal(String field, Message message, boolean conflict, List<Refusal> several) {
        super(message.toString());
        this.field = field;
        this.message = message;
        this.conflict = conflict;
        this.several = several;
    }

    /** Returns one refusal for all of these, with the field and the message of the first. */
    static Refusal of(List<Refusal> several) {
        Refusal first = several.getFirst();
        return several.size() == 1
                ? first
                : new Refusal(
                        first.field,
                        first.message,
                        several.stream().allMatch(Refusal::isConflict),
                        List.copyOf(several));
    }

    /** Creates a refusal due to the present state: the same request may succeed at another time. */
    @FormatMethod
    public static Refusal conflict(String field, @FormatString String format, Object... values) {
        return conflict(field, Message.of(format, values));
    }

    public static Refusal conflict(String field, Message message) {
        return new Refusal(field, message, true, List.of());
    }

    /** Returns the refusals of all wrong fields, in the order in which they were checked; usually only this one. */
    public List<Refusal> all() {
        return several.isEmpty() ? List.of(this) : several;
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
