package dozo.registry;

import java.time.LocalDate;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a folder may be registered as, by what lies in it; null is what nothing says, or what is said in two ways.
 *
 * @param code opaque; of a study it is made of its StudyInstanceUID, so that the same study is proposed by the same code
 * @param title without anybody's name
 */
public record Guess(
        @Nullable String project,
        @Nullable String code,
        @Nullable String title,
        @Nullable String modality,
        @Nullable String scanner,
        @Nullable LocalDate acquired,
        List<Hint> hints) {

    /** The cells that are not in a line, by what is guessed. */
    Map<RegistrationColumn, String> filling(Map<RegistrationColumn, String> cells) {
        Map<RegistrationColumn, String> filling = new EnumMap<>(RegistrationColumn.class);
        put(filling, RegistrationColumn.PROJECT, project);
        put(filling, RegistrationColumn.CODE, code);
        put(filling, RegistrationColumn.TITLE, title);
        put(filling, RegistrationColumn.MODALITY, modality);
        put(filling, RegistrationColumn.SCANNER, scanner);
        put(filling, RegistrationColumn.ACQUIRED, Objects.toString(acquired, null));
        filling.keySet().removeAll(cells.keySet());
        return filling;
    }

    private static void put(
            Map<RegistrationColumn, String> filling, RegistrationColumn column, @Nullable String value) {
        if (value != null) {
            filling.put(column, value);
        }
    }
}
