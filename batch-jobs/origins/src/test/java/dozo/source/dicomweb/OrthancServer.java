package dozo.source.dicomweb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.db.Starts;
import dozo.loopback.Ports;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A real Orthanc with its DICOMweb plugin, from Debian's packages, on loopback with its own ports and folder. Instances
 * are sent to it with dcmtk's {@code storescu}.
 */
public final class OrthancServer implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final List<String> PLUGINS = List.of(
            "/usr/share/orthanc/plugins/libOrthancDicomWeb.so",
            "/usr/lib/orthanc/plugins/libOrthancDicomWeb.so",
            "/usr/local/share/orthanc/plugins/libOrthancDicomWeb.so");

    private final Path folder;
    private final int httpPort;
    private final int dicomPort;
    private final HttpClient http = HttpClient.newHttpClient();
    private Optional<Process> process = Optional.empty();

    /**
     * Starts a server.
     *
     * @param folder empty; for its data and logs
     * @param stableSeconds how long a study must receive nothing to be stable
     * @param overwrites whether an instance replaces one with the same UID
     * @param more other settings, as in its configuration file
     */
    public OrthancServer(Path folder, int stableSeconds, boolean overwrites, String... more) throws IOException {
        this.folder = folder;
        this.httpPort = Ports.free();
        this.dicomPort = Ports.free();
        Files.writeString(folder.resolve("orthanc.json"), """
                {
                  "Name": "test", "StorageDirectory": "db", "IndexDirectory": "db", "Plugins": ["%s"],
                  "HttpPort": %d, "RemoteAccessAllowed": false, "AuthenticationEnabled": false,
                  "DicomAet": "ORTHANC", "DicomPort": %d, "DicomCheckCalledAet": true,
                  "DicomAlwaysAllowStore": false, "DicomCheckModalityHost": true,
                  "DicomModalities": {"scanner": {"AET": "SCANNER", "Host": "127.0.0.1", "Port": 11112}},
                  "StableAge": %d, "OverwriteInstances": %s, "DefaultEncoding": "Utf8",
                  "DicomWeb": {"Enable": true, "Root": "/dicom-web/"}%s
                }
                """.formatted(
                        plugin(),
                        httpPort,
                        dicomPort,
                        stableSeconds,
                        overwrites,
                        Stream.of(more).map(each -> ", " + each).collect(Collectors.joining())));
        start();
    }

    private static String plugin() {
        return PLUGINS.stream()
                .filter(file -> Files.exists(Path.of(file)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("install the packages orthanc, orthanc-dicomweb and dcmtk"));
    }

    public String address() {
        return "http://127.0.0.1:" + httpPort;
    }

    /** Starts it again with the same folder and ports; waits if another thread is stopping it. */
    public synchronized void start() throws IOException {
        Starts.SERVER.count();
        process = Optional.of(new ProcessBuilder(program(), "orthanc.json")
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(
                        ProcessBuilder.Redirect.appendTo(folder.resolve("log").toFile()))
                .start());
        Process started = process.get();
        await().atMost(LIMIT)
                .failFast("it has ended; see its log in " + folder, () -> !started.isAlive())
                .ignoreExceptions()
                .until(() -> !get("/system").isEmpty());
    }

    private static String program() {
        return Stream.of("/usr/sbin/Orthanc", "/usr/local/sbin/Orthanc")
                .filter(file -> Files.isExecutable(Path.of(file)))
                .findFirst()
                .orElse("Orthanc");
    }

    /** Stops it as its package does. */
    public synchronized void stop() throws InterruptedException {
        Process running = process.orElseThrow();
        running.destroy();
        if (!running.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            running.destroyForcibly().waitFor();
        }
        process = Optional.empty();
    }

    /** Kills it, as by {@code kill -9}. */
    public synchronized void kill() throws InterruptedException {
        process.orElseThrow().destroyForcibly().waitFor();
        process = Optional.empty();
    }

    /** Sends files and the content of folders. */
    public void store(Path... files) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                "storescu", "-aet", "SCANNER", "-aec", "ORTHANC", "+sd", "+r", "127.0.0.1", String.valueOf(dicomPort)));
        Stream.of(files).forEach(file -> command.add(file.toString()));
        Path said = Files.createTempFile(folder, "storescu", ".log");
        Process sending = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        assertThat(sending.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(sending.exitValue()).as(Files.readString(said)).isZero();
    }

    /** Waits until all its studies are stable. */
    public void awaitStable() {
        await().atMost(LIMIT).until(() -> {
            String studies = get("/studies?expand");
            return studies.contains("\"IsStable\" : true") && !studies.contains("\"IsStable\" : false");
        });
    }

    public int dicomPort() {
        return dicomPort;
    }

    /** Makes a server on this machine with the AE title of this one known to it. */
    public void setModality(String name, int port) throws IOException, InterruptedException {
        ask(
                "PUT",
                "/modalities/" + name,
                "{\"AET\": \"ORTHANC\", \"Host\": \"127.0.0.1\", \"Port\": %d}"
                        .formatted(port)
                        .getBytes(StandardCharsets.UTF_8));
    }

    /** Stores a file with its bytes, which DICOM's C-STORE would change. Returns why not; empty if it did. */
    public Optional<String> storeAsIs(byte[] file) throws IOException, InterruptedException {
        HttpResponse<byte[]> answer = answer("POST", "/instances", file);
        return answer.statusCode() == 200
                ? Optional.empty()
                : Optional.of(new String(answer.body(), StandardCharsets.UTF_8)
                        .replaceAll("(?s).*\"Message\" : \"([^\"]*)\".*", "$1"));
    }

    /** Sends a request that must succeed. Returns the answer's body. */
    public byte[] ask(String method, String path, byte[] body) throws IOException, InterruptedException {
        HttpResponse<byte[]> answer = answer(method, path, body);
        assertThat(answer.statusCode())
                .as("%s %s: %s", method, path, new String(answer.body(), StandardCharsets.UTF_8))
                .isEqualTo(200);
        return answer.body();
    }

    /** NB: on a connection of its own. Orthanc closes idle ones, and a client repeats only GET requests. */
    private HttpResponse<byte[]> answer(String method, String path, byte[] body)
            throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(address() + path))
                .method(method, BodyPublishers.ofByteArray(body))
                .build();
        try (HttpClient once = HttpClient.newHttpClient()) {
            return once.send(request, BodyHandlers.ofByteArray());
        }
    }

    /** Returns the file of an instance, as it is stored. */
    public byte[] file(String id) throws IOException, InterruptedException {
        URI file = URI.create("%s/instances/%s/file".formatted(address(), id));
        return http.send(HttpRequest.newBuilder(file).build(), BodyHandlers.ofByteArray())
                .body();
    }

    /** Returns the answer to a GET request. */
    public String get(String path) throws IOException, InterruptedException {
        return http.send(HttpRequest.newBuilder(URI.create(address() + path)).build(), BodyHandlers.ofString())
                .body();
    }

    @Override
    public void close() throws InterruptedException {
        http.shutdownNow();
        if (process.isPresent()) {
            stop();
        }
    }
}
