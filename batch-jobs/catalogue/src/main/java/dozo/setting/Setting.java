package dozo.setting;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Describes a setting for whoever sets it, at its component of a settings record. The check at the start,
 * {@code dozo settings} and the table in the documentation all read it, so that they agree (ADR 0033).
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Setting {

    /** Its purpose, in one sentence without a full stop. */
    String value();

    /** The smallest allowed value, as a person would write it; empty if the values have no order. */
    String min() default "";

    /** The largest allowed value. */
    String max() default "";

    /** The allowed values, in words; empty if the type or the range says it. */
    String allowed() default "";

    /** The meaning of an empty default. */
    String empty() default "";

    /** Whether the value is secret, and how it is given. */
    Secret secret() default Secret.NONE;

    /** Who must have the same one. */
    Agree agree() default Agree.SERVICES;

    /** Which processes with one database must agree on a value. Of a secret in a file they never need more than that it is set. */
    enum Agree {
        /** Each has its own. */
        NOBODY,
        /** All services set it, or none; the value belongs to a machine. */
        SERVICES_WHETHER_SET,
        SERVICES,
        SERVICES_AND_WORKERS
    }

    /** Where the secret is. */
    enum Secret {
        /** Not secret. */
        NONE,
        /** The value is the secret. */
        ITSELF,
        /** The value names a file whose one line is the secret. */
        IN_FILE
    }
}
