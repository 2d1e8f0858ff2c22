package dozo.archive;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dozo.source.dicom.Header;
import dozo.source.dicom.HeaderReader;
import dozo.source.dicom.Tag;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** An archive of DICOMweb that is no Orthanc: it accepts only exact multipart bodies, and can be made difficult. */
final class StrictArchive implements AutoCloseable {

    private static final String HEAD = "Content-Type: application/dicom\r\n\r\n";

    /** What it does with a request to store instances, before it reads it. */
    interface Answering {
        /** Returns whether the request was answered, or is never answered. */
        boolean answer(HttpExchange exchange, List<String> uids) throws IOException, InterruptedException;
    }

    final Map<String, byte[]> stored = new ConcurrentHashMap<>();

    /** The numbers of instances of all requests to store. */
    final List<Integer> requests = new CopyOnWriteArrayList<>();

    final Map<String, Integer> refused = new ConcurrentHashMap<>();
    final CountDownLatch closed = new CountDownLatch(1);
    volatile Answering before = (exchange, uids) -> false;
    volatile Answering after = (exchange, uids) -> false;
    volatile UnaryOperator<byte[]> rewriting = bytes -> bytes;
    volatile int retrievalStatus = 200;
    private final HttpServer server;

    StrictArchive() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 64);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/rs/studies", this::handle);
        server.start();
    }

    String address() {
        return "http://127.0.0.1:%d/rs".formatted(server.getAddress().getPort());
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (exchange.getRequestMethod().equals("POST")) {
                store(exchange);
            } else {
                retrieve(exchange);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void store(HttpExchange exchange) throws IOException, InterruptedException {
        String type = exchange.getRequestHeaders().getFirst("Content-Type");
        String start = "multipart/related; type=\"application/dicom\"; boundary=";
        if (!type.startsWith(start)) {
            answer(exchange, 415, "");
            return;
        }
        List<byte[]> parts =
                parts(type.substring(start.length()), exchange.getRequestBody().readAllBytes());
        List<String> uids = new ArrayList<>();
        for (byte[] part : parts) {
            uids.add(uid(part));
        }
        requests.add(parts.size());
        if (before.answer(exchange, uids)) {
            return;
        }
        List<String> good = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            if (!refused.containsKey(uids.get(i))) {
                stored.put(uids.get(i), rewriting.apply(parts.get(i)));
                good.add(uids.get(i));
            }
        }
        if (!after.answer(exchange, uids)) {
            List<String> bad = uids.stream().filter(refused::containsKey).toList();
            answer(exchange, bad.isEmpty() ? 200 : good.isEmpty() ? 409 : 202, list(good, bad));
        }
    }

    String list(List<String> good, List<String> bad) {
        return "{\"00081199\":{\"vr\":\"SQ\",\"Value\":[%s]},\"00081198\":{\"vr\":\"SQ\",\"Value\":[%s]}}"
                .formatted(
                        good.stream()
                                .map("{\"00081155\":{\"vr\":\"UI\",\"Value\":[\"%s\"]}}"::formatted)
                                .collect(Collectors.joining(",")),
                        bad.stream()
                                .map(uid ->
                                        "{\"00081155\":{\"vr\":\"UI\",\"Value\":[\"%s\"]},\"00081197\":{\"vr\":\"US\",\"Value\":[%d]}}"
                                                .formatted(uid, refused.getOrDefault(uid, 0)))
                                .collect(Collectors.joining(",")));
    }

    /** Splits a body, of which every byte must be right. */
    private static List<byte[]> parts(String boundary, byte[] body) {
        String text = new String(body, StandardCharsets.ISO_8859_1);
        String delimiter = "--" + boundary;
        if (!text.startsWith(delimiter + "\r\n") || !text.endsWith("\r\n" + delimiter + "--\r\n")) {
            throw new IllegalArgumentException("no exact boundary");
        }
        String inner = text.substring(delimiter.length() + 2, text.length() - delimiter.length() - 6);
        List<byte[]> parts = new ArrayList<>();
        for (String part : inner.split("\r\n" + delimiter + "\r\n", -1)) {
            if (!part.startsWith(HEAD)) {
                throw new IllegalArgumentException("no exact head of a part");
            }
            parts.add(part.substring(HEAD.length()).getBytes(StandardCharsets.ISO_8859_1));
        }
        return parts;
    }

    private static String uid(byte[] part) throws IOException {
        return ((Header) new HeaderReader().read(new ByteArrayInputStream(part)))
                .text(Tag.SOP_INSTANCE_UID)
                .orElseThrow();
    }

    private void retrieve(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        byte[] file = stored.get(path.substring(path.lastIndexOf('/') + 1));
        boolean asStored =
                String.valueOf(exchange.getRequestHeaders().getFirst("Accept")).contains("transfer-syntax=*");
        if (retrievalStatus != 200 || file == null || !asStored) {
            exchange.sendResponseHeaders(retrievalStatus != 200 ? retrievalStatus : asStored ? 404 : 406, -1);
            return;
        }
        exchange.getResponseHeaders()
                .set("Content-Type", "multipart/related; type=\"application/dicom\"; boundary=of-the-archive");
        exchange.sendResponseHeaders(200, 0);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(
                    "--of-the-archive\r\nContent-Type: application/dicom\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            out.write(file);
            out.write("\r\n--of-the-archive--".getBytes(StandardCharsets.US_ASCII));
        }
    }

    static boolean answer(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/dicom+json");
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
        return true;
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
    }
}
