package dozo.setting;

import dozo.file.Size;
import org.springframework.boot.context.properties.ConfigurationPropertiesBinding;
import org.springframework.core.convert.converter.Converter;
import org.springframework.stereotype.Component;
import org.springframework.util.unit.DataSize;

/**
 * Parses sizes in settings like sizes in commands: {@code MB} is 1,000,000 bytes. Spring's own converter takes
 * 1,048,576.
 */
@Component
@ConfigurationPropertiesBinding
public class SizeOfSetting implements Converter<String, DataSize> {

    @Override
    public DataSize convert(String typed) {
        return parse(typed);
    }

    /**
     * Parses a size with its unit.
     *
     * @throws IllegalArgumentException if it is not one
     */
    public static DataSize parse(String typed) {
        return Size.typed(typed)
                .map(DataSize::ofBytes)
                .orElseThrow(() -> new IllegalArgumentException("expected a size with a unit, not " + typed));
    }
}
