package dozo.run;

import dozo.source.dicom.PseudonymousCode;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What origins need of the service, in nights that have origins. */
@Configuration
class OriginWiring {

    @Bean
    PseudonymousCode pseudonymousCode() {
        return new PseudonymousCode(new byte[PseudonymousCode.KEY_BYTES_MIN]);
    }
}
