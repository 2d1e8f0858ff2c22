package dozo.command;

import dozo.api.ManifestApi.ShownManifest;
import dozo.command.Pace.Rate;
import dozo.file.Size;
import dozo.plan.Work;
import dozo.restore.ArchiveRestore.Counts;
import dozo.restore.KeptRestore;
import dozo.restore.Restores.RestoreState;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A restore or a drill by the service, for a terminal. */
final class RestoreReport {

    private RestoreReport() {}

    /**
     * Follows a restore to its end, and prints what could not be restored.
     *
     * @param address its address in the service
     * @return the exit code
     */
    static int follow(Connection service, Answer<KeptRestore> requested, String address) throws InterruptedException {
        String goesOn = "%s %d goes on in the service; to stop it: POST %s/stop"
                .formatted(kind(requested.value()), requested.value().id(), address);
        Pace pace = new Pace();
        Work all = all(service, requested.value());
        Answer<KeptRestore> restore = Following.end(
                service,
                requested,
                address,
                KeptRestore.class,
                each -> each.state().goesOn(),
                each -> progress(each, all, pace),
                goesOn);
        KeptRestore ended = restore.value();
        service.print(restore, out -> {
            out.println(line(ended));
            if (ended.counts() != null) {
                out.println(sent(ended, ended.counts()));
            }
            if (!ended.message().isEmpty()) {
                out.println("  " + Connection.visible(ended.message()));
            }
            if (ended.aside() != null) {
                out.println("  put aside, in the service: " + Connection.visible(ended.aside()));
            }
            service.all(address + "/findings", JsonNode.class)
                    .value()
                    .forEach(each -> Phrase.print(out, each, "  {reason}  [{path raw}]  [{message raw}]"));
        });
        return ended.state() == RestoreState.COMPLETE ? Exit.WELL : Exit.NOT_SAFE;
    }

    /** Returns all that is restored; null if that is known only at the end. */
    private static @Nullable Work all(Connection service, KeptRestore restore) {
        if (service.quiet() || restore.origin() != null || !restore.selection().isAll()) {
            return null;
        }
        try {
            ShownManifest manifest = service.get(
                            "%s/manifests/%d"
                                    .formatted(
                                            Dozo.experimentAddress(service.commandLine(), restore.experiment()),
                                            restore.manifest()),
                            ShownManifest.class)
                    .value();
            return new Work(manifest.bytes(), manifest.files() + manifest.folders() + manifest.links());
        } catch (Failure unknown) {
            // NB: the restore goes on without it.
            return null;
        }
    }

    private static String progress(KeptRestore restore, @Nullable Work all, Pace pace) {
        List<Rate> rates = pace.add(System.nanoTime(), restore.bytesVerified(), restore.entriesVerified());
        return restore.state() != RestoreState.RUNNING
                ? line(restore)
                : new Done(
                                kind(restore) + " " + restore.id(),
                                restore.entriesVerified(),
                                all == null ? restore.entries() : all.entries(),
                                restore.bytesVerified(),
                                all == null ? restore.bytes() : all.bytes(),
                                all != null,
                                false,
                                restore.findings() == 0 ? "" : "findings: " + restore.findings())
                        .line(rates);
    }

    private static String line(KeptRestore restore) {
        String selection = restore.selection().toString();
        return "%s %d of %s, manifest %d%s, %s: %s, %,d of %,d entries, %s of %s, findings: %d%s"
                .formatted(
                        kind(restore),
                        restore.id(),
                        restore.experiment(),
                        restore.manifest(),
                        selection.isEmpty() ? "" : ", only " + Connection.visible(selection),
                        restore.drill()
                                ? "from " + restore.site()
                                : "into " + Connection.visible(restore.destination()),
                        restore.state().name().toLowerCase(Locale.ROOT).replace('_', ' '),
                        restore.entriesVerified(),
                        restore.entries(),
                        Size.text(restore.bytesVerified()),
                        Size.text(restore.bytes()),
                        restore.findings(),
                        restore.seconds() == null ? "" : ", " + PlanReport.time(restore.seconds()));
    }

    private static String sent(KeptRestore restore, Counts counts) {
        return "  %s: %,d studies or sessions, %,d series or acquisitions; sent: %,d, found equal: %,d, differing: %,d, not sent: %,d"
                .formatted(
                        restore.state() == RestoreState.COMPLETE ? "SAFE" : "NOT SAFE",
                        counts.studies(),
                        counts.series(),
                        counts.sent(),
                        counts.foundEqual(),
                        counts.differing(),
                        counts.notSent());
    }

    private static String kind(KeptRestore restore) {
        return restore.drill() ? "drill" : "restore";
    }
}
