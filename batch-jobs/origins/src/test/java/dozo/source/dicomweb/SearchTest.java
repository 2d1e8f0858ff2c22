package dozo.source.dicomweb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.net.httpserver.HttpServer;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Limits;
import dozo.source.delivery.Server;
import dozo.source.delivery.Trouble;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A search returns all studies, or fails. */
class SearchTest {

    private HttpServer server;
    private Orthanc orthanc;

    /** The number of studies, how many of them the search returns, and how many per page. */
    private int counted = 3;

    private int told = 3;
    private int atOnce = 200;
    private boolean turnsPages = true;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 8);
        server.createContext("/", exchange -> {
            boolean isCount = exchange.getRequestURI().getPath().equals("/statistics");
            String query = String.valueOf(exchange.getRequestURI().getQuery());
            int offset = isCount || !turnsPages ? 0 : Integer.parseInt(query.replaceAll(".*offset=([0-9]+).*", "$1"));
            byte[] answer = (isCount ? "{\"CountStudies\": %d}".formatted(counted) : page(offset))
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        orthanc = new Orthanc(
                Server.at("http://127.0.0.1:" + server.getAddress().getPort()),
                Limits.USUAL,
                wait -> {},
                InstantSource.system());
    }

    private String page(int offset) {
        return IntStream.range(offset, Math.min(told, offset + atOnce))
                .mapToObj("{\"0020000D\": {\"Value\": [\"1.2.%d\"]}}"::formatted)
                .collect(Collectors.joining(",", "[", "]"));
    }

    @AfterEach
    void stop() {
        orthanc.close();
        server.stop(0);
    }

    @Test
    void aServerThatTellsFewerAtOnceThanAskedForIsReadToItsEnd() throws Exception {
        counted = 250;
        told = 250;
        atOnce = 100;

        assertThat(orthanc.allStudies()).hasSize(250);
    }

    @Test
    void fewerStudiesThanAreCountedAreNotTakenForAll() {
        told = 2;

        DeliveryException fewer = catchThrowableOfType(DeliveryException.class, orthanc::allStudies);

        assertThat(fewer.trouble()).isEqualTo(Trouble.COUNT_DIFFERS);
        assertThat(fewer).hasMessage("Orthanc counts 3 studies, but the search lists 2");
    }

    @Test
    void aSearchThatGivesTheSamePageForEverIsNotReadForEver() {
        turnsPages = false;

        assertThat(catchThrowableOfType(DeliveryException.class, orthanc::allStudies)
                        .trouble())
                .isEqualTo(Trouble.UNPARSED);
    }
}
