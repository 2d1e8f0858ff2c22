package dozo.start;

import java.time.InstantSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Provides the clock. This is the only place that asks the machine for the time. */
@Configuration
class Clocks {

    @Bean
    InstantSource clock() {
        return InstantSource.system();
    }
}
