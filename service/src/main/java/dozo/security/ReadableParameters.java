package dozo.security;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Arrays;
import org.apache.tomcat.util.http.InvalidParameterException;
import org.springframework.http.HttpStatus;
import org.springframework.security.web.firewall.RequestRejectedException;
import org.springframework.web.servlet.HandlerInterceptor;

/**
 * Refuses queries and forms of pages that cannot be read, or that contain NUL, which the database cannot store. Tomcat
 * and the firewall read them only when the first parameter is needed, which is here.
 */
final class ReadableParameters implements HandlerInterceptor {

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
            throws IOException {
        if (isReadable(request)) {
            return true;
        }
        response.sendError(HttpStatus.BAD_REQUEST.value());
        return false;
    }

    private static boolean isReadable(HttpServletRequest request) {
        try {
            return request.getParameterMap().values().stream()
                    .flatMap(Arrays::stream)
                    .noneMatch(value -> value.indexOf('\0') >= 0);
        } catch (InvalidParameterException | RequestRejectedException unreadable) {
            return false;
        }
    }
}
