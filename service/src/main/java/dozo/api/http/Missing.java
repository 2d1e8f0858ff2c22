package dozo.api.http;

import dozo.file.Message;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/** Thrown if a named resource does not exist. */
public final class Missing extends ErrorResponseException {

    private static final long serialVersionUID = 1L;

    // NB: forms show the argument, which has a translation if the kind is a constant.
    private Missing(Message message) {
        super(
                HttpStatus.NOT_FOUND,
                ProblemDetail.forStatusAndDetail(HttpStatus.NOT_FOUND, message.toString()),
                null,
                null,
                new Object[] {message});
    }

    /** Returns a supplier of the exception for one resource. */
    public static Supplier<Missing> thing(String kind, Object name) {
        return () -> new Missing(new Message(kind.replace("%", "%%") + " \"%s\" does not exist", List.of(name)));
    }
}
