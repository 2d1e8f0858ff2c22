package dozo.command;

import dozo.file.Size;
import dozo.restore.KeptRestore;
import dozo.restore.Restores.RestoreState;
import java.util.Locale;
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
        Answer<KeptRestore> restore = Following.end(
                service,
                requested,
                address,
                KeptRestore.class,
                each -> each.state().goesOn(),
                RestoreReport::line,
                goesOn);
        KeptRestore ended = restore.value();
        service.print(restore, out -> {
            out.println(line(ended));
            if (!ended.message().isEmpty()) {
                out.println("  " + Connection.visible(ended.message()));
            }
            service.all(address + "/findings", JsonNode.class)
                    .value()
                    .forEach(each -> Phrase.print(out, each, "  {reason}  [{path raw}]  [{message raw}]"));
        });
        return ended.state() == RestoreState.COMPLETE ? Exit.WELL : Exit.NOT_SAFE;
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
                        restore.drill() ? "from " + restore.site() : "into " + Connection.visible(restore.folder()),
                        restore.state().name().toLowerCase(Locale.ROOT).replace('_', ' '),
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
}
