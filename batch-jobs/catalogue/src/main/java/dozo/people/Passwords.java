package dozo.people;

import com.password4j.Argon2Function;
import com.password4j.types.Argon2;
import java.util.Map;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.security.crypto.password.DelegatingPasswordEncoder;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.crypto.password4j.Argon2Password4jPasswordEncoder;

/** Hashes passwords with Argon2id. The hash contains the method's name: earlier ones are by bcrypt (ADR 0028). */
@Configuration(proxyBeanMethods = false)
class Passwords {

    private static final String METHOD = "argon2id";

    /** As OWASP recommends: 19 MiB, 2 rounds, 1 thread. The hash has 32 bytes. */
    private static final Argon2Function ARGON2 = Argon2Function.getInstance(19_456, 2, 1, 32, Argon2.ID);

    @Bean
    static PasswordEncoder passwordEncoder() {
        return new DelegatingPasswordEncoder(
                METHOD,
                Map.of(METHOD, new Argon2Password4jPasswordEncoder(ARGON2), "bcrypt", new BCryptPasswordEncoder()));
    }
}
