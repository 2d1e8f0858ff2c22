package dozo.web;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** What a request of REST that changes something takes away, and how it is undone; pages ask and offer accordingly. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Change {

    /** Whether it ends, removes or gives up something: its button looks so, and its form asks before. */
    boolean destroys() default false;

    /**
     * The request that undoes it, with its fields: {@code POST /experiments/{project}/{code}/labels?label={label}}. A
     * variable is one of the path, a field of the request or one of the response. None: it cannot be undone.
     */
    String undo() default "";
}
