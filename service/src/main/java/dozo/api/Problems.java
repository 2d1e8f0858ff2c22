package dozo.api;

import dozo.api.Download.BrokenOff;
import dozo.registry.Refusal;
import dozo.remote.RemoteException;
import io.swagger.v3.oas.annotations.OpenAPIDefinition;
import io.swagger.v3.oas.annotations.info.Info;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.web.bind.MethodArgumentNotValidException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.method.annotation.MethodArgumentTypeMismatchException;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/** Errors as problem details (RFC 9457), those of a person's making with the field and what is accepted. */
@RestControllerAdvice
@OpenAPIDefinition(
        info = @Info(title = "Dozo", version = "1", description = "Backs up experiments to a DR site, and proves it."))
class Problems extends ResponseEntityExceptionHandler {

    private static final Logger LOG = LoggerFactory.getLogger(Problems.class);

    /** One field that is not accepted, and what would be. */
    record FieldError(String field, String message) {}

    @ExceptionHandler
    ProblemDetail refused(Refusal refusal) {
        return refused(HttpStatus.UNPROCESSABLE_CONTENT, refusal);
    }

    @ExceptionHandler
    ProblemDetail conflicting(Conflict conflict) {
        return refused(HttpStatus.CONFLICT, conflict.refusal());
    }

    @ExceptionHandler
    ProblemDetail missing(Missing missing) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.NOT_FOUND, String.valueOf(missing.getMessage()));
    }

    @ExceptionHandler
    ProblemDetail siteFailed(RemoteException failure) {
        ProblemDetail problem =
                ProblemDetail.forStatusAndDetail(HttpStatus.BAD_GATEWAY, String.valueOf(failure.getMessage()));
        problem.setProperty("reason", failure.reason());
        return problem;
    }

    @ExceptionHandler({DataAccessResourceFailureException.class, CannotCreateTransactionException.class})
    ProblemDetail databaseGone(RuntimeException failure) {
        LOG.error("the database does not answer: {}", failure.getMessage());
        return ProblemDetail.forStatusAndDetail(
                HttpStatus.SERVICE_UNAVAILABLE, "the database does not answer; try again later");
    }

    /** Thrown on, as it is, it cuts the connection: whatever was written here would look like a part of the file. */
    @ExceptionHandler
    void brokenOff(BrokenOff failure) {
        throw failure;
    }

    @ExceptionHandler
    ProblemDetail defect(Exception defect) {
        LOG.error("a request failed", defect);
        return ProblemDetail.forStatusAndDetail(
                HttpStatus.INTERNAL_SERVER_ERROR, "this is a defect of Dozo; its log says more");
    }

    @Override
    protected @Nullable ResponseEntity<Object> handleMethodArgumentNotValid(
            MethodArgumentNotValidException invalid, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        List<FieldError> errors = invalid.getFieldErrors().stream()
                .map(error -> new FieldError(error.getField(), String.valueOf(error.getDefaultMessage())))
                .toList();
        return handleExceptionInternal(
                invalid,
                refused(HttpStatus.UNPROCESSABLE_CONTENT, errors),
                headers,
                HttpStatus.UNPROCESSABLE_CONTENT,
                request);
    }

    @Override
    protected @Nullable ResponseEntity<Object> handleHttpMessageNotReadable(
            HttpMessageNotReadableException unreadable,
            HttpHeaders headers,
            HttpStatusCode status,
            WebRequest request) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(
                status, "the body is no JSON of the form that is accepted here; /api/v1/openapi describes it");
        return handleExceptionInternal(unreadable, problem, headers, status, request);
    }

    @ExceptionHandler
    ProblemDetail mistyped(MethodArgumentTypeMismatchException mistyped) {
        Class<?> wanted = mistyped.getRequiredType();
        boolean number = wanted != null && (wanted.isPrimitive() || Number.class.isAssignableFrom(wanted));
        return refused(
                HttpStatus.UNPROCESSABLE_CONTENT,
                new Refusal(
                        mistyped.getName(),
                        number ? "a whole number is accepted" : "this has not the form that is accepted"));
    }

    private static ProblemDetail refused(HttpStatus status, Refusal refusal) {
        return refused(status, List.of(new FieldError(refusal.field(), String.valueOf(refusal.getMessage()))));
    }

    private static ProblemDetail refused(HttpStatus status, List<FieldError> errors) {
        ProblemDetail problem =
                ProblemDetail.forStatusAndDetail(status, errors.getFirst().message());
        problem.setProperty("errors", errors);
        return problem;
    }
}
