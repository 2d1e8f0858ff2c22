package dozo.run;

import dozo.source.dicom.PseudonymousCode;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Beans that origins need from the service. Only for nights: a service tested with this class on its path has its own.
 */
@Configuration
@ConditionalOnBean(Jobs.Wiring.class)
class OriginWiring {

    @Bean
    PseudonymousCode pseudonymousCode() {
        return new PseudonymousCode(new byte[PseudonymousCode.KEY_BYTES_MIN]);
    }
}
