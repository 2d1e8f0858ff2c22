package dozo.api;

import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The description of REST (OpenAPI 3.1). A test makes it from the handlers, see CONTRIBUTING.md (ADR 0032). */
@RestController
class OpenApi {

    /** Returns the OpenAPI description of REST. */
    @GetMapping(value = "/api/v1/openapi", produces = MediaType.APPLICATION_JSON_VALUE)
    Resource description() {
        return new ClassPathResource("openapi.json");
    }
}
