package dozo.api.http;

import java.util.function.Supplier;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/** Thrown if a named resource does not exist. */
public final class Missing extends ErrorResponseException {

    private static final long serialVersionUID = 1L;

    private Missing(String message) {
        super(HttpStatus.NOT_FOUND, ProblemDetail.forStatusAndDetail(HttpStatus.NOT_FOUND, message), null);
    }

    /** Returns a supplier of the exception for one resource. */
    public static Supplier<Missing> thing(String kind, Object name) {
        return () -> new Missing("%s \"%s\" does not exist".formatted(kind, name));
    }
}
