package dozo.api.http;

import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A command that sends this request. Command line, help and reference have it from here, by the description of REST
 * ({@code openapi.json}); what its arguments mean is said there, too (ADR 0099).
 */
@Repeatable(Verb.Several.class)
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Verb {

    /**
     * The name and the arguments, as a synopsis: {@code hold add P[/E] --reason=TEXT [--until=TIME]}. An argument is the
     * field, parameter or variable of its own name in camel case, unless {@code :name} follows. A pair has two:
     * {@code P[/E]:project/experiment}. {@code [ … ]} is optional, {@code …} after a label allows several, {@code ,…} also in one word,
     * {@code FILE<name} means the file's content, {@code --flag:name=value} and {@code name=value} give a fixed value in
     * JSON, and {@code :-} gives none. Of an optional list without a name, none is an empty list. A name that ends in {@code Bytes} is the bytes of a path. Several requests with
     * the same command are told apart by the arguments that each has.
     */
    String value();

    /** What the command does, if the request's own description does not say it: one request may have several commands. */
    String about() default "";

    /** What arguments mean, if not what their fields mean: {@code --all=also those that are over}. */
    String[] arguments() default {};

    /** What is said afterwards: the first of these phrases ({@link dozo.command.Phrase}) whose fields are all there. */
    String[] says() default {};

    /** What is said line by line afterwards: those of these phrases whose fields are all there. */
    String[] lines() default {};

    /** The field with the list that {@link #columns} show below those lines; none: the response is a list. */
    String items() default "";

    /** The columns of a list, each a heading and a phrase: {@code >HOLD={id}}. The mark {@code >} is for numbers. */
    String[] columns() default {};

    /** What is said of an empty list. */
    String none() default "";

    /** Whether what is said is the result, and so also printed if no confirmation is wanted; of a GET it always is. */
    boolean result() default false;

    /** Whether it starts a run, which {@code [--wait:-]} in the synopsis follows to its end. */
    boolean follows() default false;

    /** Examples for the help. */
    String[] example();

    /** Several commands. */
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @interface Several {
        Verb[] value();
    }

    /** A group of commands, by its name: what they are about, in a few words. */
    @Target(ElementType.TYPE)
    @Retention(RetentionPolicy.RUNTIME)
    @interface Group {
        String name();

        String about();

        /** The part of the help of {@code dozo} that lists it. */
        String section();
    }
}
