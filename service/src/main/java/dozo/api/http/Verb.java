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
     * The name and the arguments, as a synopsis: {@code hold add P[/E]:project/experiment --reason=TEXT [--until=TIME]}.
     *
     * <ul>
     *   <li>An argument is for the field, parameter or variable with its own name in camel case, or with the name after
     *       {@code :}; {@code :-} is for none. {@code P[/E]:project/experiment} is for two, {@code P[/E]:project|experiment}
     *       for the second if there is a {@code /}, otherwise for the first. Of a variable of the path, {@code ID…} sends
     *       a request for each.
     *   <li>{@code [ … ]} is optional. {@code …} after a label allows several, {@code ,…} also several in one word. An
     *       optional list without an option is sent empty if nothing is typed.
     *   <li>{@code FILE<name} means the file's content. A name that ends in {@code Bytes} means the bytes of a path.
     *   <li>{@code --flag:name=value} and {@code name=value} give a fixed value in JSON. With a {@code limit} a list has only
     *       its first page.
     *   <li>{@code [--csv:-]} prints a list as CSV instead. {@code [--wait:-]} follows what was started to its end.
     * </ul>
     *
     * Several requests may have the same command. The typed arguments then decide which one is sent.
     */
    String value();

    /** What the command does, if the request's own description does not say it: one request may have several commands. */
    String about() default "";

    /** What help says below the options: lines of one paragraph. */
    String[] footer() default {};

    /** What arguments mean, if not what their fields mean: {@code --all=also those that are over}. */
    String[] arguments() default {};

    /** What is said afterwards: the first of these phrases ({@link dozo.command.Phrase}) whose fields are all there. */
    String[] says() default {};

    /** What is said line by line afterwards: those of these phrases whose fields are all there. */
    String[] lines() default {};

    /** The field with the list that {@link #columns} show below those lines; none: the response is a list. */
    String items() default "";

    /**
     * The columns of a list, each a heading and a phrase: {@code >HOLD={id}}. The mark {@code >} is for numbers, {@code ~}
     * for states. A request that says nothing, line by line or in columns, says what the first one of the same command says.
     */
    String[] columns() default {};

    /** The phrases with the lines of each item, instead of {@link #columns}. */
    String[] each() default {};

    /** The condition of the items that are shown, as a phrase; none: all. */
    String which() default "";

    /** The field that items have which are not the sum of those before. */
    String sum() default "";

    /**
     * What is said below the items. Of a list, only {@code count} is known: the number of items with an exit code other than
     * 0.
     */
    String total() default "";

    /** What is said of an empty list. */
    String none() default "";

    /** Whether {@code --json} prints each item of a list on a line of its own. */
    boolean lineByLine() default false;

    /** The exit code, as a phrase, such as {@code {refused?}3|0}; of a list, the highest of its items. None: 0. */
    String exit() default "";

    /** Whether what is said is the result, and so also printed if no confirmation is wanted; of a GET it always is. */
    boolean result() default false;

    /** What {@code [--wait:-]} in the synopsis waits for. */
    Follow follows() default Follow.NOTHING;

    /** What a command can wait for. */
    enum Follow {
        NOTHING,
        /** The end of a run. The exit code is that of the run. */
        RUN,
        /** The end of a run, whatever its result. */
        STOP,
        /** The end of the units that are under way. */
        PAUSE,
        /** The end of a drill. */
        DRILL,
        /** The end of a move of sources. */
        MOVE
    }

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
