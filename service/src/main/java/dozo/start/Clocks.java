package dozo.start;

import java.time.InstantSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The one place that asks the machine what time it is. */
@Configuration
class Clocks {

    @Bean
    InstantSource clock() {
        return InstantSource.system();
    }
}
