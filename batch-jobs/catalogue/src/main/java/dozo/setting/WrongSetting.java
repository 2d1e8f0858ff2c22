package dozo.setting;

/** A component of a settings record is not what its {@link Setting} allows, or does not go with another one. */
public final class WrongSetting extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final String component;
    private final String why;

    /** The component is in none of the allowed forms. */
    public WrongSetting(String component) {
        this(component, "");
    }

    /** @param why completes a sentence that begins with the setting's name; without the value, which may be a secret */
    public WrongSetting(String component, String why) {
        super(component + (why.isEmpty() ? " is not allowed" : " " + why));
        this.component = component;
        this.why = why;
    }

    /** The record's component. */
    public String component() {
        return component;
    }

    /** Empty: its form is wrong. */
    public String why() {
        return why;
    }
}
