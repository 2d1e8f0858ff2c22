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

    /**
     * Requires something of a value.
     *
     * @throws WrongSetting if it does not hold: the value has none of the allowed forms
     */
    public static void unless(boolean holds, String component) {
        unless(holds, component, "");
    }

    /**
     * Requires something of a value.
     *
     * @throws WrongSetting with this reason if it does not hold
     */
    public static void unless(boolean holds, String component, String why) {
        if (!holds) {
            throw new WrongSetting(component, why);
        }
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
