package dozo.broker;

import dozo.run.Notices;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The notices of this process: by the configured broker, or none. */
@Configuration
class Broker {

    @Bean
    Notices notices(BrokerSettings settings) {
        return settings.isSet() ? new RabbitNotices(settings) : Notices.NONE;
    }
}
