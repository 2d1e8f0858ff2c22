package dozo.metrics;

import dozo.people.Permissions;
import dozo.start.Pools;
import io.prometheus.metrics.config.EscapingScheme;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Shows all metrics. NB: a handler of our own, in the place of Spring Boot's, because the gate checks only those. Project
 * codes are among the values.
 */
@RestController
class MetricsEndpoint {

    private final PrometheusRegistry registry;
    private final PrometheusTextFormatWriter writer = PrometheusTextFormatWriter.create();

    MetricsEndpoint(PrometheusRegistry registry, Measuring measuring) {
        this.registry = registry;
        registry.register(new Snapshots(
                measuring::measure,
                work -> Thread.ofPlatform().daemon().name("metrics").start(Pools.asRequest(work)),
                System::nanoTime,
                Snapshots.WAIT));
    }

    @GetMapping(Permissions.METRICS)
    ResponseEntity<byte[]> show() throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        writer.write(text, registry.scrape(), EscapingScheme.UNDERSCORE_ESCAPING);
        return ResponseEntity.ok()
                .contentType(MediaType.parseMediaType(writer.getContentType()))
                .body(text.toByteArray());
    }
}
