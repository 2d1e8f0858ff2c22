package dozo.ui;

import dozo.db.ActiveService;
import dozo.file.Build;
import dozo.file.Message;
import dozo.ledger.FindingFilter;
import dozo.ledger.Findings;
import dozo.ledger.Sight;
import dozo.people.Searches;
import dozo.registry.Experiments;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.ViewControllerRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.support.RequestContextUtils;

/** Provides what every page has around its content: the user, the language, the theme and the number format. */
@Component
record Frame(
        Findings findings,
        Experiments experiments,
        Searches searches,
        ActiveService active,
        InstantSource clock,
        ZoneId zone)
        implements WebMvcConfigurer, HandlerInterceptor {

    @Override
    public void addInterceptors(InterceptorRegistry interceptors) {
        interceptors.addInterceptor(this).excludePathPatterns("/api/**", "/actuator/**");
    }

    @Override
    public void addViewControllers(ViewControllerRegistry pages) {
        pages.addViewController("/login").setViewName("login");
    }

    /** Stores the reader's choice, and redirects to the page's address without it. */
    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
        // NB: the error page is also a GET, perhaps with a query that cannot be read.
        if (!HttpMethod.GET.matches(request.getMethod()) || request.getDispatcherType() == DispatcherType.ERROR) {
            return true;
        }
        boolean chosen = false;
        for (Choice choice : Choice.values()) {
            var cookie = choice.asked(request);
            cookie.ifPresent(each -> response.addHeader(HttpHeaders.SET_COOKIE, each.toString()));
            chosen |= cookie.isPresent();
        }
        if (chosen) {
            response.setStatus(HttpServletResponse.SC_SEE_OTHER);
            response.setHeader(
                    HttpHeaders.LOCATION,
                    Here.of(request).inside().without(Choice.LANGUAGE.parameter, Choice.THEME.parameter));
        }
        return !chosen;
    }

    @Override
    public void postHandle(
            HttpServletRequest request, HttpServletResponse response, Object handler, @Nullable ModelAndView page) {
        String view = page == null ? null : page.getViewName();
        if (page != null && view != null && !view.startsWith("redirect:")) {
            page.addAllObjects(around(request));
            page.addObject("openFindings", openFindings(request));
        }
    }

    /** Returns how many findings need a person, for the menu; null if there is none, or nobody is logged in. */
    private @Nullable Long openFindings(HttpServletRequest request) {
        if (!(request.getAttribute(Sight.class.getName()) instanceof Sight sight)) {
            return null;
        }
        long count = findings.count(sight, FindingFilter.OPEN);
        return count == 0 ? null : count;
    }

    /** Returns the objects that templates use in addition to those of their controllers. */
    Map<String, Object> around(HttpServletRequest request) {
        Map<String, Object> around = new LinkedHashMap<>();
        around.put("format", new Format(zone, RequestContextUtils.getLocale(request)));
        around.put("now", clock.instant());
        around.put("here", Here.of(request));
        around.put("program", Build.VERSION);
        around.put("standsBy", !active.isHere());
        around.put("activeService", active.holder());
        around.put("theme", Choice.THEME.of(request).orElse("auto"));
        Viewer viewer = Viewer.of(request);
        around.put("viewer", viewer);
        Sight sight = request.getAttribute(Sight.class.getName()) instanceof Sight seen ? seen : null;
        around.put("known", new Known(experiments, searches, sight, viewer.name()));
        around.put("reason", request.getAttribute(Message.class.getName()));
        return around;
    }
}
