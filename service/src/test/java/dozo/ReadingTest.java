package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.web.bind.annotation.RequestMethod;

/** Reading creates nothing: no key, and no row of the ledger. */
class ReadingTest {

    private static final List<String> KEYS = List.of("site-key", "certificate-key", "recovery-key");

    @Test
    void noGetCreatesAnything() throws Exception {
        try (RunningService service = RunningService.shared()) {
            var browser = service.browser();
            Stream.of("/site-key", "/certificate-key", "/recovery-key")
                    .forEach(path -> assertThat(service.get("/api/v1" + path).status())
                            .as("a started service has %s", path)
                            .isEqualTo(200));
            for (String key : KEYS) {
                Files.delete(service.work().resolve(key));
            }
            List<Path> files = files(service);
            long rows = rows(service);

            for (String path : paths(service)) {
                service.get(path);
                if (!path.startsWith("/api/")) {
                    service.look(browser, path, "en");
                }
            }

            assertThat(files(service)).isEqualTo(files);
            assertThat(rows(service)).isEqualTo(rows);
            for (String key : KEYS) {
                assertThat(service.get("/api/v1/" + key).status()).as(key).isEqualTo(409);
                assertThat(service.get("/api/v1/" + key).text())
                        .contains("the file " + key + " is missing", "restart the service");
            }
        }
    }

    private static List<String> paths(RunningService service) {
        return service.mappings().getHandlerMethods().keySet().stream()
                .filter(mapping -> mapping.getMethodsCondition().getMethods().contains(RequestMethod.GET))
                .flatMap(mapping -> mapping.getPatternValues().stream())
                .filter(path -> !path.contains("{"))
                .sorted()
                .toList();
    }

    private static List<Path> files(RunningService service) throws Exception {
        try (Stream<Path> all = Files.walk(service.work())) {
            return all.sorted().toList();
        }
    }

    private static long rows(RunningService service) {
        return service.count("select count(*) from ledger");
    }
}
