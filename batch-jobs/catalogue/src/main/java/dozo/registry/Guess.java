package dozo.registry;

import java.time.LocalDate;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A suggested registration of a folder, from its content. Values that are unknown or contradictory are null.
 *
 * @param code opaque; for a study it is derived from its StudyInstanceUID, so that the same study always gets the same
 * code
 * @param title without any person's name; the folder's name if nothing better is known, and {@link RegistrationSettings} allow it
 */
public record Guess(
        @Nullable String project,
        @Nullable String code,
        @Nullable String title,
        @Nullable String modality,
        @Nullable String scanner,
        @Nullable LocalDate acquired,
        List<Hint> hints) {

    /** Returns the suggested values for cells that are missing in a line. */
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
