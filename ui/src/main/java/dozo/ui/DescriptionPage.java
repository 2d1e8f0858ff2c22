package dozo.ui;

import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;

/** The description of REST, to read in a browser. */
@Controller
class DescriptionPage {

    @GetMapping("/docs/api")
    String page() {
        return "description";
    }

    /** Returns it as a file. The one of REST is not for a browser's session. */
    @GetMapping("/docs/openapi.json")
    ResponseEntity<Resource> file() {
        return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).body(new ClassPathResource("openapi.json"));
    }
}
