package dozo.setting;

/** A component of a settings record violates its {@link Setting}, or contradicts another component. */
public final class WrongSetting extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final String component;
    private final String why;

    /** The value has none of the allowed forms. */
    public WrongSetting(String component) {
        this(component, "");
    }

    /** @param why completes a sentence that begins with the setting's name; without the value, which may be a secret */
    public WrongSetting(String component, String why) {
        super(component + (why.isEmpty() ? " is not allowed" : " " + why));
        this.component = component;
        this.why = why;
    }

    /** Returns the record's component. */
    public String component() {
        return component;
    }

    /** Returns the reason; empty: the value has the wrong form. */
    public String why() {
        return why;
    }
}
