package dozo.run;

import java.io.IOException;
import java.util.regex.Pattern;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.core.type.filter.TypeFilter;

/**
 * Leaves the components of other modules out of a test's jobs: the whole suite runs on one class path, which has the service.
 * Origins are in only where a test asks for them by {@link #ORIGINS}: the core works without them.
 */
final class OwnModules implements TypeFilter, EnvironmentAware {

    /** The property of a night with origins. */
    static final String ORIGINS = "test.origins=on";

    private static final Pattern SERVICE = module("service|ui");
    private static final Pattern SERVICE_AND_ORIGINS = module("service|ui|origins");

    private Pattern others = SERVICE_AND_ORIGINS;

    private static Pattern module(String names) {
        return Pattern.compile("/(%1$s)(-[^/!]*)?\\.jar!|/(%1$s)/target/".formatted(names));
    }

    @Override
    public void setEnvironment(Environment environment) {
        others = environment.getProperty("test.origins", "off").equals("on") ? SERVICE : SERVICE_AND_ORIGINS;
    }

    /** Returns whether a component is of another module. */
    @Override
    public boolean match(MetadataReader component, MetadataReaderFactory factory) throws IOException {
        return others.matcher(component.getResource().getURL().toString()).find();
    }
}
