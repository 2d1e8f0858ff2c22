package dozo.ui;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.CacheControl;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.ResourceHandlerRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** The documentation that is part of the package. */
@Controller
class Documentation implements WebMvcConfigurer {

    private static final String FILES = "/docs/**";

    /** Its style sheets contain their pictures. */
    private static final String POLICY =
            "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self';"
                    + " frame-ancestors 'none'; object-src 'none'";

    private final @Nullable Path folder;

    /**
     * Finds it.
     *
     * @param folder set by the launcher; without one, or if it is missing, there is only the description of REST
     */
    Documentation(@Value("${docs.folder:}") String folder) {
        Path site = Path.of(folder).toAbsolutePath();
        this.folder = !folder.isEmpty() && Files.exists(site.resolve("index.html")) ? site : null;
    }

    @GetMapping("/docs")
    String documentation(Locale locale) {
        String language = locale.getLanguage().equals("ja") ? "ja/" : "";
        return "redirect:/docs/" + (folder == null ? "api" : language + "index.html");
    }

    @Override
    public void addResourceHandlers(ResourceHandlerRegistry registry) {
        if (folder != null) {
            registry.addResourceHandler(FILES)
                    .addResourceLocations(folder.toUri().toString())
                    .setCacheControl(CacheControl.noCache().cachePrivate());
        }
    }

    @Override
    public void addInterceptors(InterceptorRegistry registry) {
        registry.addInterceptor(new HandlerInterceptor() {
                    @Override
                    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
                        response.setHeader("Content-Security-Policy", POLICY);
                        return true;
                    }
                })
                .addPathPatterns(FILES)
                .excludePathPatterns("/docs/api", "/docs/openapi.json");
    }
}
