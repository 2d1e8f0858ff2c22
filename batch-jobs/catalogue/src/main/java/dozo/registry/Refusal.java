package dozo.registry;

/** Something a person asked for and cannot have: which field, and what would be accepted. */
public sealed class Refusal extends RuntimeException permits FileQuestion.Unanswered {

    private static final long serialVersionUID = 1L;

    private final String field;

    private final boolean taken;

    public Refusal(String field, String message) {
        this(field, message, false);
    }

    private Refusal(String field, String message, boolean taken) {
        super(message);
        this.field = field;
        this.taken = taken;
    }

    /** Refused because it is there already, or another's: it may be accepted at another time. */
    public static Refusal taken(String field, String message) {
        return new Refusal(field, message, true);
    }

    /** Whether it is refused only because of what is there already. */
    public boolean isTaken() {
        return taken;
    }

    /** The field's name as in REST. */
    public String field() {
        return field;
    }
}
