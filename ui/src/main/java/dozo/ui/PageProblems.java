package dozo.ui;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import dozo.db.LostDatabase;
import dozo.file.Message;
import dozo.registry.Refusal;
import dozo.web.Download.BrokenOff;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.ServletRequestBindingException;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.method.annotation.MethodArgumentTypeMismatchException;
import org.springframework.web.multipart.MultipartException;
import org.springframework.web.multipart.support.MissingServletRequestPartException;
import org.springframework.web.servlet.ModelAndView;

/** Shows errors as pages that say what to do next. Forms show their own errors at the fields instead. */
@ControllerAdvice(basePackages = "dozo.ui")
@Order(Ordered.HIGHEST_PRECEDENCE)
record PageProblems(Frame frame) {

    private static final Logger LOG = LoggerFactory.getLogger(PageProblems.class);

    /** Thrown if nothing exists at an address, or nothing that the user may see. */
    static final class NotThere extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient Message message;

        @FormatMethod
        NotThere(@FormatString String format, Object... values) {
            this(Message.of(format, values));
        }

        private NotThere(Message message) {
            super(message.toString());
            this.message = message;
        }
    }

    @ExceptionHandler
    ModelAndView notThere(NotThere missing, HttpServletRequest request, HttpServletResponse response) {
        return page(HttpStatus.NOT_FOUND, "missing", missing.message, request, response);
    }

    @ExceptionHandler
    ModelAndView refused(Refusal refusal, HttpServletRequest request, HttpServletResponse response) {
        return page(HttpStatus.UNPROCESSABLE_CONTENT, "refused", refusal.message(), request, response);
    }

    /** Rethrows the failure, which cuts the connection: a response here would look like part of the file. */
    @ExceptionHandler
    @SuppressWarnings("DoNotCallSuggester") // Spring calls it.
    void brokenOff(BrokenOff failure) {
        throw failure;
    }

    @ExceptionHandler({
        MethodArgumentTypeMismatchException.class,
        ServletRequestBindingException.class,
        MissingServletRequestPartException.class,
        MultipartException.class
    })
    ModelAndView mistyped(Exception mistyped, HttpServletRequest request, HttpServletResponse response) {
        return page(HttpStatus.UNPROCESSABLE_CONTENT, "refused", null, request, response);
    }

    @ExceptionHandler
    ModelAndView defect(Exception defect, HttpServletRequest request, HttpServletResponse response) {
        if (LostDatabase.isBehind(defect)) {
            // Not logged: the log already says once that the database is away.
            response.setHeader(HttpHeaders.RETRY_AFTER, String.valueOf(LostDatabase.RETRY_AFTER_SECONDS));
            return page(HttpStatus.SERVICE_UNAVAILABLE, "later", null, request, response);
        }
        LOG.error("a page failed", defect);
        return page(HttpStatus.INTERNAL_SERVER_ERROR, "defect", null, request, response);
    }

    private ModelAndView page(
            HttpStatus status,
            String kind,
            @Nullable Message detail,
            HttpServletRequest request,
            HttpServletResponse response) {
        response.setStatus(status.value());
        ModelAndView page = new ModelAndView("problem", frame.around(request), status);
        page.addObject("kind", kind);
        page.addObject("detail", detail);
        return page;
    }
}
