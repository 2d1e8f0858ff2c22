package dozo.source.flywheel;

import dozo.source.delivery.Limits;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Emulated Flywheels with a small session. */
public final class Flywheels {

    private static final JsonMapper JSON = new JsonMapper();

    private Flywheels() {}

    public static Flywheel open(WritableFlywheel flywheel, Limits limits, Set<String> storageHosts) {
        return new Flywheel(ApiKey.of(flywheel.key()), limits, storageHosts, wait -> {}, InstantSource.system());
    }

    /** Returns one with a session, two acquisitions with the same label, an analysis, and a file in each of them but one. */
    public static WritableFlywheel filled(int era) {
        WritableFlywheel flywheel = new WritableFlywheel(era);
        WrittenContent content = flywheel.content;
        above(flywheel);
        String session = session(flywheel, "ses-1", "1.2.3", "2026-01-05T09:00:00.123000+00:00");
        var _ = content.info(content.kept(session), json("{'replace':{'room':'7T','n':1.5}}"));
        var _ = content.tag(session, json("{'value':'ok'}"));
        var _ = content.note(session, json("{'text':'moved once'}"));
        file(content, session, "protocol.pdf", "{}");
        String one = id(content.create(
                "acquisition", json("{'label':'run','session':'%s','uid':'1.2.3.1'}".formatted(session))));
        String two = id(content.create(
                "acquisition", json("{'label':'run','session':'%s','uid':'1.2.3.2'}".formatted(session))));
        String described = "{'type':'dicom','modality':'MR','classification':{'Intent':['Structural']},"
                + "'info':{'EchoTime':0.03},'tags':['qa']}";
        file(content, one, "a.dicom.zip", described);
        file(content, two, "a.dicom.zip", described);
        String analysis = id(content.analysis(
                "session",
                session,
                json(
                        "{'label':'fit','description':'glm','info':{'p':1},'inputs':[{'type':'acquisition','id':'%s','name':'a.dicom.zip'}]}"
                                .formatted(two))));
        file(content, analysis, "out.csv", "{}");
        var _ = content.note(analysis, json("{'text':'fine'}"));
        return flywheel;
    }

    /** Creates what is above the session. */
    public static void above(WritableFlywheel flywheel) {
        WrittenContent content = flywheel.content;
        var _ = content.create("group", json("{'_id':'lab','label':'Lab'}"));
        String project = id(content.create("project", json("{'label':'Study','group':'lab','description':'d'}")));
        var _ = content.create(
                "subject", json("{'label':'sub-1','code':'sub-1','sex':'female','project':'%s'}".formatted(project)));
    }

    /** Creates a session. Returns its id. */
    public static String session(
            WritableFlywheel flywheel, String label, @Nullable String uid, @Nullable String timestamp) {
        JsonNode subject = flywheel.content.all("subject").getFirst();
        ObjectNode session = JSON.createObjectNode()
                .put("label", label)
                .put("project", subject.path("parents").path("project").asString())
                .put("weight", 61.5);
        session.putObject("subject").put("_id", subject.path("_id").asString());
        if (uid != null) {
            session.put("uid", uid);
        }
        if (timestamp != null) {
            session.put("timestamp", timestamp);
        }
        return id(flywheel.content.create("session", session));
    }

    public static JsonNode container(WritableFlywheel flywheel, String id) {
        return flywheel.content.container(id);
    }

    /** Changes the session's weight, its info and its file, and removes a tag, as users do. */
    public static void change(WritableFlywheel flywheel) {
        WrittenContent content = flywheel.content;
        ObjectNode session =
                content.kept(content.all("session").getFirst().path("_id").asString());
        session.put("weight", 70).putObject("info").put("room", "elsewhere");
        session.putArray("tags");
        file(content, session.path("_id").asString(), "protocol.pdf", "{}", "other");
    }

    private static void file(WrittenContent content, String container, String name, String metadata) {
        file(content, container, name, metadata, name.repeat(60_000));
    }

    private static void file(WrittenContent content, String container, String name, String metadata, String text) {
        var _ = content.store(container, name, json(metadata), text.getBytes(StandardCharsets.UTF_8), true);
    }

    private static String id(JsonNode made) {
        return made.path("_id").asString();
    }

    private static JsonNode json(String text) {
        return JSON.readTree(text.replace('\'', '"'));
    }
}
