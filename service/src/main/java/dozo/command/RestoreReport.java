package dozo.command;

import dozo.file.Size;
import dozo.restore.KeptRestore;
import dozo.restore.Restores.RestoreFinding;
import dozo.restore.Restores.RestoreState;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;

/** A restore or a drill by the service, for a terminal. */
final class RestoreReport {

    private static final Duration POLL = Duration.ofSeconds(1);

    private RestoreReport() {}

    /**
     * Follows a restore to its end, and prints what could not be restored.
     *
     * @param address its address in the service
     * @return the exit code
     */
    static int follow(Connection service, Answer<KeptRestore> requested, String address) throws InterruptedException {
        PrintWriter err = service.progress();
        Answer<KeptRestore> restore = requested;
        String last = "";
        String goesOn = "%s %d goes on in the service; to stop it: POST %s/stop"
                .formatted(kind(restore.value()), restore.value().id(), address);
        try (Interruption _ = Interruption.says(service, goesOn)) {
            while (restore.value().state().goesOn()) {
                String line = line(restore.value());
                if (!line.equals(last)) {
                    err.println(line);
                    err.flush();
                }
                last = line;
                Thread.sleep(POLL);
                restore = service.get(address, KeptRestore.class);
            }
        }
        KeptRestore ended = restore.value();
        service.print(restore, out -> {
            out.println(line(ended));
            if (!ended.message().isEmpty()) {
                out.println("  " + Connection.visible(ended.message()));
            }
            service.all(address + "/findings", RestoreFinding.class)
                    .value()
                    .forEach(finding -> out.println("  %s  %s  %s"
                            .formatted(
                                    finding.reason(),
                                    Connection.visible(finding.path()),
                                    Connection.visible(finding.message()))));
        });
        return ended.state() == RestoreState.COMPLETE ? Exit.WELL : Exit.NOT_SAFE;
    }

    private static String line(KeptRestore restore) {
        return "%s %d of %s, manifest %d%s, %s: %s, %,d of %,d entries, %s of %s, findings: %d%s"
                .formatted(
                        kind(restore),
                        restore.id(),
                        restore.experiment(),
                        restore.manifest(),
                        only(restore),
                        restore.drill() ? "from " + restore.site() : "into " + Connection.visible(restore.folder()),
                        words(restore.state()),
                        restore.entriesVerified(),
                        restore.entries(),
                        Size.text(restore.bytesVerified()),
                        Size.text(restore.bytes()),
                        restore.findings(),
                        restore.seconds() == null ? "" : ", " + PlanReport.time(restore.seconds()));
    }

    private static String kind(KeptRestore restore) {
        return restore.drill() ? "drill" : "restore";
    }

    /** Returns what of the manifest is restored; empty: everything. */
    static String only(KeptRestore restore) {
        String selection = restore.selection().toString();
        return selection.isEmpty() ? "" : ", only " + Connection.visible(selection);
    }

    static String words(Enum<?> state) {
        return state.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
