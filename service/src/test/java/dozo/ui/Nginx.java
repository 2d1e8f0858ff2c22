package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.db.Starts;
import dozo.loopback.Ports;
import dozo.security.MadeKeys;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A real nginx on loopback that shows a service below a path, over TLS, by the lines of docs/run/services.md. */
final class Nginx implements AutoCloseable {

    /** Where the lines are in the page for operators. */
    private static final String RECIPE = "(?s).*\n```nginx\n(location /dozo/ .*?)\n```\n.*";

    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final int port;
    private final Process process;

    /**
     * Starts one, and waits until it listens.
     *
     * @param store a key and its certificate for 127.0.0.1
     */
    Nginx(Path folder, Path store, String service) throws Exception {
        Starts.SERVER.count();
        port = Ports.free();
        Files.createDirectories(folder);
        Path certificate = Files.writeString(folder.resolve("certificate.pem"), MadeKeys.certificate(store));
        Path key = Files.writeString(folder.resolve("key.pem"), MadeKeys.key(store));
        String recipe = Files.readString(Path.of("../docs/run/services.md"))
                .replaceAll(RECIPE, "$1")
                .replace("http://127.0.0.1:8080/", service + "/");
        Path settings =
                Files.writeString(folder.resolve("nginx.conf"), """
                daemon off;
                master_process off;
                pid %1$s/nginx.pid;
                error_log %1$s/error.log;
                events {}
                http {
                    access_log off;
                    client_body_temp_path %1$s/body;
                    proxy_temp_path %1$s/proxy;
                    fastcgi_temp_path %1$s/fastcgi;
                    uwsgi_temp_path %1$s/uwsgi;
                    scgi_temp_path %1$s/scgi;
                    server {
                        listen 127.0.0.1:%2$d ssl;
                        ssl_certificate %3$s;
                        ssl_certificate_key %4$s;
                        %5$s
                    }
                }
                """.formatted(folder, port, certificate, key, recipe));
        process = new ProcessBuilder(
                        program(),
                        "-c",
                        settings.toString(),
                        "-e",
                        folder.resolve("error.log").toString())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("nginx.log").toFile())
                .start();
        await().atMost(LIMIT)
                .failFast("nginx has ended; see " + folder, () -> !process.isAlive())
                .until(this::listens);
    }

    /** Returns the address of the service behind it, without a slash at the end. */
    String url() {
        return "https://127.0.0.1:%d/dozo".formatted(port);
    }

    private boolean listens() {
        try (Socket _ = new Socket("127.0.0.1", URI.create(url()).getPort())) {
            return true;
        } catch (IOException notYet) {
            return false;
        }
    }

    private static String program() {
        return List.of("/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/bin/nginx", "/opt/homebrew/bin/nginx").stream()
                .filter(each -> Files.isExecutable(Path.of(each)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("install nginx; ./dozo test does so"));
    }

    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly();
        assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
}
