package dozo.people;

import java.util.Map;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.crypto.argon2.Argon2PasswordEncoder;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.security.crypto.password.DelegatingPasswordEncoder;
import org.springframework.security.crypto.password.PasswordEncoder;

/** Hashes passwords with Argon2id. The hash contains the method's name: earlier ones are by bcrypt (ADR 0028). */
@Configuration(proxyBeanMethods = false)
class Passwords {

    private static final String METHOD = "argon2id";

    private static final int SALT_BYTES = 16;
    private static final int HASH_BYTES = 32;

    // As OWASP recommends.
    private static final int THREADS = 1;
    private static final int MEMORY_KIB = 19_456;
    private static final int ROUNDS = 2;

    @Bean
    static PasswordEncoder passwordEncoder() {
        return new DelegatingPasswordEncoder(
                METHOD,
                Map.of(
                        METHOD,
                        new Argon2PasswordEncoder(SALT_BYTES, HASH_BYTES, THREADS, MEMORY_KIB, ROUNDS),
                        "bcrypt",
                        new BCryptPasswordEncoder()));
    }
}
