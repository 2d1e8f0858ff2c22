package dozo.registry;

/** Something a person asked for and cannot have: which field, and what would be accepted. */
public final class Refusal extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String field;

    public Refusal(String field, String message) {
        super(message);
        this.field = field;
    }

    /** The field's name as in REST. */
    public String field() {
        return field;
    }
}
