package dozo.remote;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The server of a {@link SlowMount}; the kernel communicates with it by {@code /dev/fuse}. It is a separate process,
 * which ends by itself after some minutes: a process that waits for its own answer cannot even be killed.
 */
final class SlowFileServer extends Fuse {

    private static final int LOOKUP = 1;
    private static final int FORGET = 2;
    private static final int GETATTR = 3;
    private static final int OPEN = 14;
    private static final int READ = 15;
    private static final int RELEASE = 18;
    private static final int INIT = 26;
    private static final int OPENDIR = 27;
    private static final int READDIR = 28;
    private static final int RELEASEDIR = 29;
    private static final int INTERRUPT = 36;
    private static final int BATCH_FORGET = 42;

    private static final int ASYNC_READ = 1;
    private static final int PARALLEL_IN_FOLDERS = 1 << 18;
    private static final int REQUEST_MAX = 8 << 10;
    private static final long MS_RDONLY = 1;
    private static final long LIFE_SECONDS = 240;
    private static final long LATER = 256 << 10;

    private final RandomAccessFile device;
    private final ScheduledExecutorService answering =
            Executors.newScheduledThreadPool(2, Thread.ofPlatform().daemon().factory());
    private final Map<Long, Path> paths = new ConcurrentHashMap<>();
    private final Map<Path, Long> nodes = new ConcurrentHashMap<>();
    private final AtomicLong lastNode = new AtomicLong(ROOT);
    private final AtomicInteger underWay = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    // Guarded by this.
    private final List<Request> held = new ArrayList<>();
    private long delayNanos;

    /** When each disk is free again; empty: any number of requests at once. */
    private final long[] freeAtNanos;

    private boolean holding;
    private boolean holdingAllThen;
    private long holdingFrom = Long.MAX_VALUE;

    private SlowFileServer(Path shown, Path at, long delayNanos, int disks) throws IOException {
        this.delayNanos = delayNanos;
        freeAtNanos = new long[disks];
        Arrays.fill(freeAtNanos, System.nanoTime());
        paths.put(ROOT, shown);
        device = new RandomAccessFile("/dev/fuse", "rw");
        mount(at, MS_RDONLY);
    }

    /**
     * Arguments: the folder to show, the folder to show it at, and the nanoseconds per answer; then optionally the number of
     * disks, of which each serves one request after the other (0: any number at once), and the seconds after which it ends by
     * itself. Then reads one order per line, and answers each.
     */
    public static void main(String[] arguments) throws Exception {
        SlowFileServer server = new SlowFileServer(
                Path.of(arguments[0]),
                Path.of(arguments[1]),
                Long.parseLong(arguments[2]),
                arguments.length > 3 ? Integer.parseInt(arguments[3]) : 0);
        long lifeSeconds = arguments.length > 4 ? Long.parseLong(arguments[4]) : LIFE_SECONDS;
        Thread.ofPlatform().daemon().start(server::serve);
        var orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        server.answering.schedule(() -> Runtime.getRuntime().halt(1), lifeSeconds, TimeUnit.SECONDS);
        System.out.println("mounted");
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            System.out.println(server.obey(order));
        }
        Runtime.getRuntime().halt(0);
    }

    private synchronized int obey(String order) {
        if (order.startsWith("delay ")) {
            delayNanos = Long.parseLong(order.substring("delay ".length()));
            return 0;
        }
        return switch (order) {
            case "most" -> most.get();
            case "mostNow" -> most.getAndSet(underWay.get());
            case "hanging" -> held.size();
            case "hang" -> {
                holding = true;
                yield 0;
            }
            case "hangLater" -> {
                holdingFrom = LATER;
                yield 0;
            }
            case "dieLater" -> {
                holdingFrom = LATER;
                holdingAllThen = true;
                yield 0;
            }
            case "comeBack" -> {
                holding = false;
                holdingAllThen = false;
                holdingFrom = Long.MAX_VALUE;
                held.forEach(this::answer);
                held.clear();
                yield 0;
            }
            default -> throw new IllegalArgumentException(order);
        };
    }

    private void serve() {
        byte[] in = new byte[REQUEST_MAX];
        try {
            while (true) {
                // NB: not by the channel, which blocks writers while it reads.
                int n = device.read(in);
                take(new Request(ByteBuffer.wrap(Arrays.copyOf(in, n)).order(ByteOrder.nativeOrder())));
            }
        } catch (IOException unmounted) {
            // No more requests can come.
        }
    }

    private void take(Request request) throws IOException {
        switch (request.kind()) {
            case FORGET, BATCH_FORGET, INTERRUPT -> {}
            case INIT -> request.answer(answerToInit());
            case RELEASE, RELEASEDIR -> request.answer(buffer(0));
            default -> {
                most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
                if (!hold(request)) {
                    answering.schedule(() -> answer(request), waitNanos(), TimeUnit.NANOSECONDS);
                }
            }
        }
    }

    /** Returns after how long the next request is answered. */
    private synchronized long waitNanos() {
        if (freeAtNanos.length == 0) {
            return delayNanos;
        }
        int next = 0;
        for (int i = 1; i < freeAtNanos.length; i++) {
            next = freeAtNanos[i] - freeAtNanos[next] < 0 ? i : next;
        }
        long now = System.nanoTime();
        long wait = Math.max(0, freeAtNanos[next] - now) + delayNanos;
        freeAtNanos[next] = now + wait;
        return wait;
    }

    private synchronized boolean hold(Request request) {
        boolean later = request.kind() == READ && request.offset() >= holdingFrom;
        holding |= later && holdingAllThen;
        return (holding || later) && held.add(request);
    }

    private void answer(Request request) {
        underWay.decrementAndGet();
        try {
            try {
                request.answer(answerTo(request));
            } catch (NoSuchFileException e) {
                request.fail(ENOENT);
            } catch (UnsupportedOperationException e) {
                request.fail(ENOSYS);
            } catch (IOException e) {
                request.fail(EIO);
            }
        } catch (IOException unmounted) {
            // Nobody waits any more.
        }
    }

    private ByteBuffer answerTo(Request request) throws IOException {
        Path path = paths.get(request.node());
        return switch (request.kind()) {
            case LOOKUP -> entry(path.resolve(request.name()));
            case GETATTR -> {
                ByteBuffer out = buffer(104);
                out.position(out.position() + 16);
                putFacts(out, path);
                yield out;
            }
            case OPEN -> buffer(16).putLong(0).putInt(NOT_CACHED).putInt(0);
            case OPENDIR -> buffer(16).putLong(0).putInt(0).putInt(0);
            case READ -> content(path, request.offset(), request.length());
            case READDIR -> names(path, request.offset(), request.length());
            default -> throw new UnsupportedOperationException();
        };
    }

    private ByteBuffer entry(Path path) throws IOException {
        long node = nodes.computeIfAbsent(path, each -> lastNode.incrementAndGet());
        paths.put(node, path);
        ByteBuffer out = buffer(128).putLong(node);
        out.position(out.position() + 32);
        putFacts(out, path);
        return out;
    }

    private static ByteBuffer answerToInit() {
        ByteBuffer out = buffer(64).putInt(7).putInt(31).putInt(1 << 17).putInt(ASYNC_READ | PARALLEL_IN_FOLDERS);
        out.putShort((short) 1000).putShort((short) 1000).putInt(4096).putInt(1);
        out.position(out.limit());
        return out;
    }

    private final class Request {

        private final ByteBuffer bytes;

        Request(ByteBuffer bytes) {
            this.bytes = bytes;
        }

        int kind() {
            return bytes.getInt(4);
        }

        long node() {
            return bytes.getLong(16);
        }

        String name() {
            return new String(bytes.array(), IN_HEADER, bytes.limit() - IN_HEADER - 1, StandardCharsets.UTF_8);
        }

        long offset() {
            return bytes.getLong(IN_HEADER + 8);
        }

        int length() {
            return bytes.getInt(IN_HEADER + 16);
        }

        void answer(ByteBuffer out) throws IOException {
            send(out.limit(kind() == READ || kind() == READDIR ? out.position() : out.limit()), 0);
        }

        void fail(int error) throws IOException {
            send(buffer(0), -error);
        }

        private void send(ByteBuffer out, int error) throws IOException {
            out.putInt(0, out.limit()).putInt(4, error).putLong(8, bytes.getLong(8));
            device.getChannel().write(out.position(0));
        }
    }
}
