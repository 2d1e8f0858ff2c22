package dozo.send;

import dozo.file.FilePath;
import dozo.remote.Lane;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFile;
import dozo.remote.Sftp;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** One file at the site, open on every channel. Used by one thread; channels opened later join automatically. */
final class Stripes implements AutoCloseable {

    private final Lanes lanes;
    private final FilePath name;
    private final List<Stripe> open = new CopyOnWriteArrayList<>();
    private final Set<Sftp> asked = new HashSet<>();
    private boolean ended;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    /** The file on one channel. */
    record Stripe(Sftp channel, RemoteFile file) {}

    /** Opens the file on a first channel, and begins to open it on the others. */
    Stripes(Lanes lanes, FilePath name, boolean fresh) throws RemoteException, InterruptedException {
        this.lanes = lanes;
        this.name = name;
        Sftp first = lanes.next().sftp();
        asked.add(first);
        open.add(new Stripe(first, fresh ? first.create(name) : first.open(name)));
        widen();
    }

    /** Returns the file on the channel with the most room. */
    Stripe next() throws RemoteException, InterruptedException {
        widen();
        return open.stream()
                .min(Comparator.comparing((Stripe stripe) -> !stripe.channel.hasRoom())
                        .thenComparingInt(stripe -> stripe.channel.inFlight()))
                .orElseThrow();
    }

    /** Returns when the site has acknowledged every byte on every channel. */
    void finish(boolean sync) throws RemoteException, InterruptedException {
        List<Stripe> all = end();
        List<Future<?>> ends = new ArrayList<>();
        try (ExecutorService closing = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Stripe stripe : all) {
                ends.add(closing.submit(() -> {
                    stripe.file.finish(sync);
                    return null;
                }));
            }
            for (Future<?> end : ends) {
                RemoteException.join(end);
            }
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
        end().forEach(stripe -> stripe.file.close());
    }

    /** Ends opening; channels that join later are ignored. */
    private synchronized List<Stripe> end() {
        ended = true;
        return List.copyOf(open);
    }

    private void widen() {
        for (Lane lane : lanes.all()) {
            for (Sftp channel : lane.all()) {
                if (asked.add(channel)) {
                    threads.execute(() -> join(channel));
                }
            }
        }
    }

    private void join(Sftp channel) {
        try {
            RemoteFile file = channel.open(name);
            if (!takesPart(new Stripe(channel, file))) {
                file.close();
            }
        } catch (RemoteException | InterruptedException e) {
            // Continues without this channel; a problem of the file or site also shows on the others.
        }
    }

    private synchronized boolean takesPart(Stripe stripe) {
        return !ended && open.add(stripe);
    }
}
