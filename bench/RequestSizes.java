package dozo.remote;

import dozo.file.FilePath;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Sends made-up data over a fixed number of lanes, in requests of several sizes, with several limits of unanswered content.
 *
 * <pre>java -cp ENGINE:HERE dozo.remote.RequestSizes PORT USER ROOT KEY HOST_KEY SSHD_PID LANES CHANNELS MILLIS ROUNDS</pre>
 *
 * Prints a line of JSON for each measurement. All are made in each round, in random order.
 */
final class RequestSizes {

    private static final int KIB = 1 << 10;
    private static final int LARGEST = 255 * KIB;
    private static final List<Integer> REQUESTS = List.of(32 * KIB, 64 * KIB, 128 * KIB, LARGEST);
    private static final List<Integer> UNANSWERED = List.of(256 * KIB, 512 * KIB, 1024 * KIB, 2048 * KIB, 4096 * KIB);
    private static final int FILE_BYTES = 16 << 20;
    private static final long WARM_UP_MILLIS = 400;

    private RequestSizes() {}

    /** A measurement; {@code unanswered} 0: as Dozo limits it. */
    private record Cell(int request, int unanswered) {}

    public static void main(String[] arguments) throws Exception {
        int lanesWanted = Integer.parseInt(arguments[6]);
        int channelsWanted = Integer.parseInt(arguments[7]);
        long millis = Long.parseLong(arguments[8]);
        SiteAddress site = new SiteAddress(
                "127.0.0.1",
                Integer.parseInt(arguments[0]),
                arguments[1],
                arguments[2],
                Path.of(arguments[3]),
                Files.readString(Path.of(arguments[4])).strip());
        List<Cell> cells = new ArrayList<>();
        REQUESTS.forEach(request -> cells.add(new Cell(request, 0)));
        UNANSWERED.forEach(unanswered -> cells.add(new Cell(LARGEST, unanswered)));
        try (Lanes lanes = Lanes.to(site, lanesWanted, channelsWanted)) {
            List<Sftp> channels = List.of();
            while (channels.size() < lanesWanted * channelsWanted) {
                Thread.sleep(20);
                var _ = lanes.next();
                channels = lanes.all().stream().flatMap(lane -> lane.all().stream()).toList();
            }
            List<Integer> usual = new ArrayList<>();
            for (Sftp channel : channels) {
                usual.add(limit(channel).availablePermits());
            }
            long sshd = Long.parseLong(arguments[5]);
            measure(channels, usual, new Cell(LARGEST, 0), 2_000, lanes, sshd);
            for (int round = 0; round < Integer.parseInt(arguments[9]); round++) {
                Collections.shuffle(cells, new Random(round));
                for (Cell cell : cells) {
                    System.out.println(measure(channels, usual, cell, millis, lanes, sshd));
                }
            }
        }
    }

    private static String measure(List<Sftp> channels, List<Integer> usual, Cell cell, long millis, Lanes lanes, long sshd)
            throws Exception {
        AtomicBoolean sends = new AtomicBoolean(true);
        try (ExecutorService senders = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> sent = new ArrayList<>();
            for (int i = 0; i < channels.size(); i++) {
                Sftp channel = channels.get(i);
                Semaphore limit = limit(channel);
                limit.drainPermits();
                limit.release(cell.unanswered == 0 ? usual.get(i) : cell.unanswered);
                FilePath name = FilePath.of("sizes-" + i);
                sent.add(senders.submit(() -> {
                    byte[] content = new byte[cell.request];
                    new Random().nextBytes(content);
                    try (RemoteFile file = channel.create(name)) {
                        for (long at = 0; sends.get(); at = at + content.length > FILE_BYTES ? 0 : at + content.length) {
                            file.write(at, content, 0, content.length);
                        }
                        file.finish(false);
                    }
                    channel.remove(name);
                    return null;
                }));
            }
            Thread.sleep(WARM_UP_MILLIS);
            long bytes = moved(lanes);
            double client = clientSeconds();
            double server = serverSeconds(sshd);
            long begin = System.nanoTime();
            Thread.sleep(millis);
            double seconds = (System.nanoTime() - begin) / 1e9;
            double gigabytes = (moved(lanes) - bytes) / 1e9;
            client = clientSeconds() - client;
            server = serverSeconds(sshd) - server;
            sends.set(false);
            for (Future<?> each : sent) {
                each.get();
            }
            return "{\"request\": %d, \"unanswered\": %d, \"usual\": %d, \"rate\": %.4f, \"client\": %.3f, \"server\": %.3f}"
                    .formatted(
                            cell.request,
                            cell.unanswered,
                            usual.getFirst(),
                            gigabytes / seconds,
                            client / gigabytes,
                            server / gigabytes);
        }
    }

    /** The limit of content without an answer, which Dozo derives from the round trip. */
    private static Semaphore limit(Sftp channel) throws ReflectiveOperationException {
        Field field = Pipeline.class.getDeclaredField("unansweredBytes");
        field.setAccessible(true);
        return (Semaphore) field.get(channel.pipeline());
    }

    private static long moved(Lanes lanes) {
        return lanes.all().stream().mapToLong(Lane::bytesMoved).sum();
    }

    private static double clientSeconds() {
        return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class).getProcessCpuTime() / 1e9;
    }

    /** Returns the processor time of all processes that this sshd has started. */
    private static double serverSeconds(long sshd) {
        return ProcessHandle.of(sshd).orElseThrow().descendants().mapToLong(each -> ticks(each.pid())).sum() / 100.0;
    }

    private static long ticks(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
        } catch (IOException gone) {
            return 0;
        }
    }
}
