package dozo.security;

import dozo.security.Users.User;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AuthenticationProvider;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.stereotype.Component;

/** Whether a name and a password are right. Of an unknown name it takes as long to say so as of a wrong password. */
@Component
class Logins implements AuthenticationProvider {

    private final Users users;
    private final PasswordEncoder encoder;

    /** Of a password that nobody has. */
    private final String hashOfNobody;

    Logins(Users users, PasswordEncoder encoder) {
        this.users = users;
        this.encoder = encoder;
        this.hashOfNobody = Objects.requireNonNull(encoder.encode("nobody"));
    }

    @Override
    public Authentication authenticate(Authentication asked) {
        String name = asked.getName().toLowerCase(Locale.ROOT);
        String password = String.valueOf(asked.getCredentials());
        User user = check(name, password).orElseThrow(() -> new BadCredentialsException("name or password is wrong"));
        Caller caller = new Caller(user.id(), user.name(), user.stamp(), null);
        UsernamePasswordAuthenticationToken known =
                UsernamePasswordAuthenticationToken.authenticated(caller, null, List.of());
        known.setDetails(asked.getDetails());
        return known;
    }

    @Override
    public boolean supports(Class<?> authentication) {
        return UsernamePasswordAuthenticationToken.class.isAssignableFrom(authentication);
    }

    private Optional<User> check(String name, String password) {
        Optional<User> user = users.find(name);
        @Nullable String hash = user.map(User::hash).orElse(null);
        boolean right = encoder.matches(password, hash == null ? hashOfNobody : hash);
        return user.filter(known -> right && hash != null && known.active());
    }
}
