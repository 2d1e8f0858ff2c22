package dozo.source.flywheel;

import dozo.file.FilePath;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Something of which there is a word to say.
 *
 * @param name for people: the labels on the way to it, below its session, and its own name; without control characters
 * @param id the container's or file's
 */
public record Item(String name, String id, Trouble trouble, String message) {

    static Item of(Container container, Trouble trouble, String message) {
        return new Item(name(container), container.id(), trouble, message);
    }

    static Item of(Container container, FlywheelException why) {
        return of(container, why.trouble(), String.valueOf(why.getMessage()));
    }

    /** A session of which not even the label is known. */
    static Item ofUnread(String session, FlywheelException why) {
        return new Item("session " + session, session, why.trouble(), String.valueOf(why.getMessage()));
    }

    static Item of(HeldFile file, Trouble trouble, String message) {
        return new Item(name(file.container()) + "/" + shown(file.name()), file.id(), trouble, message);
    }

    private static String name(Container container) {
        return "%s %s".formatted(container.level().name().toLowerCase(Locale.ROOT), shown(container.label()));
    }

    static String shown(String text) {
        return FilePath.render(text.getBytes(StandardCharsets.UTF_8));
    }
}
