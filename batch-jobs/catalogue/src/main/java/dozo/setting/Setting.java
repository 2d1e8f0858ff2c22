package dozo.setting;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Says of a component of a settings record what whoever sets it has to know. The check at the start, {@code dozo settings} and the
 * table in the documentation are made of it, so none of them can say something else (ADR 0033).
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Setting {

    /** What it is for, in one sentence without its full stop. */
    String value();

    /** The smallest that is allowed, written as a person would; empty for what has no order. */
    String min() default "";

    /** The largest. */
    String max() default "";

    /** What is allowed, in words; empty where the type or the range says it. */
    String allowed() default "";

    /** What an empty default means. */
    String empty() default "";

    /** What must not be shown, and how it is given. */
    Secret secret() default Secret.NONE;

    /** Whether there is a secret in it. */
    enum Secret {
        /** There is none. */
        NONE,
        /** It is the secret itself. */
        ITSELF,
        /** It names a file whose one line is the secret. */
        IN_FILE
    }
}
