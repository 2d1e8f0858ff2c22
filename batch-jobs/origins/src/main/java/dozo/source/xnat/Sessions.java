package dozo.source.xnat;

import static dozo.source.xnat.Resource.text;

import dozo.source.delivery.Connections;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import dozo.source.delivery.Trouble;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Lists the image sessions of an XNAT's archive, and names those that wait in its prearchive. */
public final class Sessions {

    private static final String COLUMNS = "ID,project,label,xsiType,date,subject_ID,subject_label";

    private final Xnat xnat;
    private final Map<String, Found> sessions = new LinkedHashMap<>();
    private final List<Item> missing = new ArrayList<>();
    private final List<Item> remarks = new ArrayList<>();

    /**
     * A session in a list.
     *
     * @param project the id of the project that owns it, not of one that it is shared into
     * @param subject its label; its id if there is none
     * @param type such as {@code xnat:mrSessionData}
     * @param date as XNAT writes it
     */
    public record Found(String id, String project, String subject, String label, String type, String date) {}

    /**
     * What is listed.
     *
     * @param missing projects that cannot be read, and sessions that are not archived yet
     */
    public record Listed(List<Found> sessions, List<Item> missing, List<Item> remarks) {}

    private Sessions(Xnat xnat) {
        this.xnat = xnat;
    }

    /**
     * Lists the sessions.
     *
     * @param projects the ids of the projects; empty for all that the user may read
     * @throws DeliveryException if the login is not accepted, or nothing can be listed
     */
    public static Listed of(Xnat xnat, Set<String> projects) throws IOException, InterruptedException {
        Sessions read = new Sessions(xnat);
        if (projects.isEmpty()) {
            read.archived(null);
            read.prearchived(null);
        }
        for (String project : new TreeSet<>(projects)) {
            read.project(project);
        }
        return new Listed(List.copyOf(read.sessions.values()), read.missing, read.remarks);
    }

    /** NB: the list of a project that the user may not read is empty, so that the project itself is requested, too. */
    private void project(String project) throws IOException, InterruptedException {
        String what = "project " + Xnat.shown(project);
        try {
            var _ = Xnat.item(what, xnat.json(what, Xnat.path("projects", project) + "?format=json"));
            archived(project);
        } catch (DeliveryException e) {
            if (Xnat.ENDS_ALL.contains(e.trouble())) {
                throw e;
            }
            missing.add(Item.of(what, Xnat.shown(project), e));
            return;
        }
        prearchived(project);
    }

    private void archived(@Nullable String project) throws IOException, InterruptedException {
        String path = Xnat.path("experiments") + "?xsiType=xnat:imageSessionData&format=json&columns=" + COLUMNS
                + (project == null ? "" : "&project=" + Connections.segment(project));
        for (JsonNode row : xnat.rows("list of sessions", path)) {
            String id = text(row, "ID");
            if (!Xnat.isId(id)) {
                missing.add(
                        new Item("list of sessions", Xnat.shown(id), Trouble.UNPARSED, "a session without a valid ID"));
            } else if (project == null || project.equals(text(row, "project"))) {
                String subject = text(row, "subject_label");
                sessions.put(
                        id,
                        new Found(
                                id,
                                text(row, "project"),
                                subject.isEmpty() ? text(row, "subject_ID") : subject,
                                text(row, "label"),
                                text(row, "xsiType"),
                                text(row, "date")));
            }
        }
    }

    private void prearchived(@Nullable String project) throws IOException, InterruptedException {
        String path = (project == null ? Xnat.path("prearchive") : Xnat.path("prearchive", "projects", project));
        try {
            for (JsonNode row : xnat.rows("prearchive", path + "?format=json")) {
                String name = "session %s of project %s"
                        .formatted(Xnat.shown(text(row, "session")), Xnat.shown(text(row, "project")));
                String message = "in the prearchive with status %s; collected once it is archived"
                        .formatted(Xnat.shown(text(row, "status")));
                missing.add(new Item(name, Xnat.shown(text(row, "url")), Trouble.PREARCHIVED, message));
            }
        } catch (DeliveryException e) {
            if (Xnat.ENDS_ALL.contains(e.trouble())) {
                throw e;
            }
            // Only those who may write in a project see its prearchive; its sessions are no part of the archive yet.
            remarks.add(Item.of("prearchive", project == null ? "-" : Xnat.shown(project), e));
        }
    }
}
