package dozo.api.http;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/** Thrown if a resource has changed since the editor saw it. */
final class Stale extends ErrorResponseException {

    private static final long serialVersionUID = 1L;

    Stale(String message) {
        super(
                HttpStatus.PRECONDITION_FAILED,
                ProblemDetail.forStatusAndDetail(HttpStatus.PRECONDITION_FAILED, message),
                null);
    }
}
