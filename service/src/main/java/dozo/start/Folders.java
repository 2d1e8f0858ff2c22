package dozo.start;

import dozo.registry.OwnFolders;
import java.util.List;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Lists the folders on this machine that belong to Dozo. */
@Configuration
class Folders {

    @Bean
    OwnFolders ownFolders(Settings settings) {
        return new OwnFolders(List.of(settings.workFolder()));
    }
}
