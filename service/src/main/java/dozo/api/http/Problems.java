package dozo.api.http;

import dozo.db.LostDatabase;
import dozo.file.Message;
import dozo.registry.Refusal;
import dozo.remote.RemoteException;
import dozo.web.Download.BrokenOff;
import dozo.worklist.WorklistException;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.coyote.BadRequestException;
import org.apache.tomcat.util.http.InvalidParameterException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.security.web.firewall.RequestRejectedException;
import org.springframework.web.bind.MethodArgumentNotValidException;
import org.springframework.web.bind.MissingServletRequestParameterException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.method.annotation.MethodArgumentTypeMismatchException;
import org.springframework.web.multipart.MultipartException;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;
import org.springframework.web.servlet.resource.NoResourceFoundException;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.exc.InvalidNullException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;

/** Reports errors as problem details (RFC 9457). Errors of a request name the field and the expected value. */
@RestControllerAdvice
class Problems extends ResponseEntityExceptionHandler {

    private static final Logger LOG = LoggerFactory.getLogger(Problems.class);

    /** A field with an invalid value, and what was expected. */
    record FieldError(String field, String message) {}

    @ExceptionHandler
    ResponseEntity<ProblemDetail> refused(Refusal refusal) {
        return answer(refused(refusal.isConflict() ? HttpStatus.CONFLICT : HttpStatus.UNPROCESSABLE_CONTENT, refusal));
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> underWay(Idempotency.UnderWay first) {
        return ResponseEntity.status(HttpStatus.CONFLICT)
                .header(HttpHeaders.RETRY_AFTER, "5")
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .body(ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, String.valueOf(first.getMessage())));
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> tooLong(TooLong body) {
        return answer(
                ProblemDetail.forStatusAndDetail(HttpStatus.CONTENT_TOO_LARGE, String.valueOf(body.getMessage())));
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> siteFailed(RemoteException failure) {
        ProblemDetail problem =
                ProblemDetail.forStatusAndDetail(HttpStatus.BAD_GATEWAY, String.valueOf(failure.getMessage()));
        problem.setProperty("reason", failure.reason());
        return answer(problem);
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> worklistFailed(WorklistException failure) {
        return answer(ProblemDetail.forStatusAndDetail(HttpStatus.BAD_GATEWAY, String.valueOf(failure.getMessage())));
    }

    /**
     * Handles a query that Tomcat or the firewall refuses. NB: they read the query only when the first parameter is
     * requested.
     */
    @ExceptionHandler({InvalidParameterException.class, RequestRejectedException.class})
    @Nullable
    ResponseEntity<Object> unreadableQuery(RuntimeException unreadable, WebRequest request) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(
                HttpStatus.BAD_REQUEST,
                "The query cannot be read: expected name=value&…, in UTF-8, with % for special characters.");
        return handleExceptionInternal(unreadable, problem, new HttpHeaders(), HttpStatus.BAD_REQUEST, request);
    }

    /** Handles a body that Tomcat could not read to its end. Tomcat reports that when a part is read. */
    @ExceptionHandler
    @Nullable
    ResponseEntity<Object> brokenOff(BadRequestException body, WebRequest request) {
        ProblemDetail problem =
                ProblemDetail.forStatusAndDetail(HttpStatus.BAD_REQUEST, "The request body is incomplete.");
        return handleExceptionInternal(body, problem, new HttpHeaders(), HttpStatus.BAD_REQUEST, request);
    }

    /** Rethrows the failure, which cuts the connection: a response here would look like part of the file. */
    @ExceptionHandler
    void brokenOff(BrokenOff failure) {
        throw failure;
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> unreadableForm(MultipartException unreadable) {
        return answer(ProblemDetail.forStatusAndDetail(
                HttpStatus.UNSUPPORTED_MEDIA_TYPE, "the multipart form cannot be read"));
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> defect(Exception defect) {
        if (LostDatabase.isBehind(defect)) {
            return databaseGone(defect);
        }
        LOG.error("a request failed", defect);
        return answer(ProblemDetail.forStatusAndDetail(
                HttpStatus.INTERNAL_SERVER_ERROR, "internal error; see the service's log"));
    }

    /** Reports a lost database. NB: does not log, because the log already says once that the database is away. */
    private static ResponseEntity<ProblemDetail> databaseGone(Exception defect) {
        return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE)
                .header(HttpHeaders.RETRY_AFTER, String.valueOf(LostDatabase.RETRY_AFTER_SECONDS))
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .body(ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, LostDatabase.said(defect)));
    }

    @Override
    protected @Nullable ResponseEntity<Object> handleMissingServletRequestParameter(
            MissingServletRequestParameterException missing,
            HttpHeaders headers,
            HttpStatusCode status,
            WebRequest request) {
        ProblemDetail problem = refused(
                HttpStatus.UNPROCESSABLE_CONTENT, new Refusal(missing.getParameterName(), "a value is required"));
        return handleExceptionInternal(missing, problem, headers, HttpStatus.UNPROCESSABLE_CONTENT, request);
    }

    @Override
    protected @Nullable ResponseEntity<Object> handleNoResourceFoundException(
            NoResourceFoundException nothing, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, "there is nothing at this address");
        return handleExceptionInternal(nothing, problem, headers, status, request);
    }

    /** Requests without a handler may come from pages, too: a browser gets the error page. */
    @Override
    protected @Nullable ResponseEntity<Object> handleExceptionInternal(
            Exception failure, @Nullable Object body, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        if (request instanceof ServletWebRequest servlet
                && servlet.getResponse() != null
                && servlet.getResponse().isCommitted()) {
            // Tomcat itself responds if a body ends too early.
            return null;
        }
        HttpServletResponse page = ofPages(request);
        if (page != null) {
            headers.forEach((name, values) -> values.forEach(value -> page.addHeader(name, value)));
            try {
                page.sendError(status.value());
                return null;
            } catch (IOException gone) {
                throw new UncheckedIOException(gone);
            }
        }
        return super.handleExceptionInternal(failure, body, headers, status, request);
    }

    private static @Nullable HttpServletResponse ofPages(WebRequest request) {
        return request instanceof ServletWebRequest servlet
                        && !servlet.getRequest().getRequestURI().startsWith("/api/")
                ? servlet.getResponse()
                : null;
    }

    /**
     * NB: sets the type here; otherwise the response would be empty for clients whose Accept header excludes problems
     * or is invalid.
     */
    @Override
    protected ResponseEntity<Object> createResponseEntity(
            @Nullable Object body, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        HttpHeaders typed = new HttpHeaders();
        typed.putAll(headers);
        typed.setContentType(MediaType.APPLICATION_PROBLEM_JSON);
        return new ResponseEntity<>(body, typed, status);
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
        // NB: it is wrapped if it was thrown while a field was read.
        if (NestedExceptionUtils.getRootCause(unreadable) instanceof TooLong tooLong) {
            ResponseEntity<ProblemDetail> answer = tooLong(tooLong);
            return handleExceptionInternal(unreadable, answer.getBody(), headers, answer.getStatusCode(), request);
        }
        Optional<FieldError> field = field(unreadable);
        if ((unreadable.getCause() instanceof NoText || unreadable.getCause() instanceof InvalidNullException)
                && field.isPresent()) {
            return handleExceptionInternal(
                    unreadable,
                    refused(HttpStatus.UNPROCESSABLE_CONTENT, List.of(field.get())),
                    headers,
                    HttpStatus.UNPROCESSABLE_CONTENT,
                    request);
        }
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(
                status, "the body is not valid JSON for this request; see /api/v1/openapi");
        field.ifPresent(named -> problem.setProperty("errors", List.of(named)));
        return handleExceptionInternal(unreadable, problem, headers, status, request);
    }

    /** Returns the invalid field of the body; empty if the body is not JSON. */
    private static Optional<FieldError> field(HttpMessageNotReadableException unreadable) {
        if (!(unreadable.getCause() instanceof DatabindException failure)) {
            return Optional.empty();
        }
        if (failure instanceof InvalidNullException) {
            return Optional.of(new FieldError(
                    failure.getPath().getFirst().getPropertyName(), "expected a list or map without null"));
        }
        String path = failure.getPath().stream()
                .map(step -> step.getPropertyName() == null ? "[" + step.getIndex() + "]" : step.getPropertyName())
                .collect(Collectors.joining("."));
        String message = failure instanceof UnrecognizedPropertyException unknown
                ? "unknown field: expected %s".formatted(known(unknown))
                : failure instanceof NoText ? NoText.EXPECTED : "has the wrong format";
        return path.isEmpty() ? Optional.empty() : Optional.of(new FieldError(path, message));
    }

    private static String known(UnrecognizedPropertyException unknown) {
        return unknown.getKnownPropertyIds().stream().map(String::valueOf).collect(Collectors.joining(", "));
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> mistyped(MethodArgumentTypeMismatchException mistyped) {
        if (NestedExceptionUtils.getRootCause(mistyped) instanceof Refusal refusal) {
            return answer(refused(
                    HttpStatus.UNPROCESSABLE_CONTENT,
                    List.of(new FieldError(mistyped.getName(), String.valueOf(refusal.getMessage())))));
        }
        Class<?> wanted = mistyped.getRequiredType();
        boolean number = wanted != null && (wanted.isPrimitive() || Number.class.isAssignableFrom(wanted));
        return answer(refused(
                HttpStatus.UNPROCESSABLE_CONTENT,
                new Refusal(
                        mistyped.getName(),
                        number ? Message.of("expected a whole number") : Message.of("has the wrong format"))));
    }

    private static ResponseEntity<ProblemDetail> answer(ProblemDetail problem) {
        return ResponseEntity.status(problem.getStatus())
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .body(problem);
    }

    private static ProblemDetail refused(HttpStatus status, Refusal refusal) {
        return refused(
                status,
                refusal.all().stream()
                        .map(each -> new FieldError(each.field(), String.valueOf(each.getMessage())))
                        .toList());
    }

    private static ProblemDetail refused(HttpStatus status, List<FieldError> errors) {
        ProblemDetail problem =
                ProblemDetail.forStatusAndDetail(status, errors.getFirst().message());
        problem.setProperty("errors", errors);
        return problem;
    }
}
