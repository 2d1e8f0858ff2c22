package dozo.source.xnat;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** What an emulated XNAT holds. Ids differ from labels. */
public final class XnatContent {

    /** Whether XNAT computes digests (its setting {@code checksums}). */
    public volatile boolean checksums = true;

    public final List<String> projects = new ArrayList<>();
    public final List<Subject> subjects = new ArrayList<>();
    public final List<Session> sessions = new ArrayList<>();
    public final List<Map<String, String>> prearchive = new ArrayList<>();
    private int last;

    public static final class Subject {
        public String id = "";
        public String project = "";
        public String label = "";
        public final Map<String, String> fields = new TreeMap<>();
    }

    /** A session, scan, assessor or reconstruction. */
    public static class Holder {
        public String level = "resources";
        public String id = "";
        public String label = "";
        public String type = "";
        public final Map<String, String> fields = new TreeMap<>();
        public final List<Res> resources = new ArrayList<>();
        public final List<Res> inputs = new ArrayList<>();
    }

    public static final class Session extends Holder {
        public String project = "";
        public Subject subject = new Subject();
        public final List<String> sharedInto = new ArrayList<>();
        public final List<Holder> holders = new ArrayList<>();

        public Stream<Holder> all() {
            return Stream.concat(Stream.of(this), holders.stream());
        }

        public Holder holder(String level, String id) {
            return all().filter(each -> each.level.equals(level) && (each.id.equals(id) || each.label.equals(id)))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** A resource with its catalogue. */
    public static final class Res {
        public int id;
        public String label = "";
        public String format = "";
        public String content = "";

        /** What is on the disk. */
        public final Map<String, byte[]> disk = new TreeMap<>();

        /** The catalogue: names with their digests, which may be empty. */
        public final Map<String, String> catalogue = new TreeMap<>();

        /** Sizes that the catalogue states otherwise than the disk. */
        public final Map<String, String> sizes = new TreeMap<>();

        /** Whether its catalogue cannot be read. */
        public boolean broken;

        /** How many files XNAT's database counts; null: as many as there are. */
        public Integer count;
    }

    public Session session(String project, String subject, String label) {
        Session session = new Session();
        session.id = "XNAT_E%05d".formatted(++last);
        session.project = project;
        session.label = label;
        session.type = "xnat:mrSessionData";
        session.subject = subject(project, subject);
        session.fields.put("date", "2026-01-05");
        sessions.add(session);
        return session;
    }

    public Subject subject(String project, String label) {
        return find(subjects, each -> each.project.equals(project) && each.label.equals(label))
                .orElseGet(() -> {
                    Subject made = new Subject();
                    made.id = "XNAT_S%05d".formatted(++last);
                    made.project = project;
                    made.label = label;
                    subjects.add(made);
                    return made;
                });
    }

    /** Returns a scan, assessor or reconstruction, and creates it if it is not there. */
    public Holder holder(Session session, String level, String label) {
        return find(session.holders, each -> each.level.equals(level) && each.label.equals(label))
                .orElseGet(() -> {
                    Holder made = new Holder();
                    made.level = level;
                    made.label = label;
                    made.id = level.equals("assessors") ? "XNAT_E%05d".formatted(++last) : label;
                    made.type = level.equals("scans") ? "xnat:mrScanData" : "xnat:qcManualAssessorData";
                    session.holders.add(made);
                    return made;
                });
    }

    public Res resource(Holder holder, String label) {
        return find(holder.resources, each -> each.label.equals(label)).orElseGet(() -> {
            Res made = res(label);
            holder.resources.add(made);
            return made;
        });
    }

    Res res(String label) {
        Res made = new Res();
        made.id = ++last;
        made.label = label;
        return made;
    }

    public void store(Res resource, String name, String text) {
        store(resource, name, text.getBytes(StandardCharsets.UTF_8));
    }

    public void store(Res resource, String name, byte[] bytes) {
        resource.disk.put(name, bytes);
        resource.catalogue.put(name, checksums ? md5(bytes) : "");
    }

    static <T> Optional<T> find(List<T> all, Predicate<T> wanted) {
        return all.stream().filter(wanted).findFirst();
    }

    static String md5(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns every file with its place and MD5, by labels: ids differ between two XNATs. */
    public Map<String, String> shown() {
        Map<String, String> shown = new LinkedHashMap<>();
        for (Session session : sessions) {
            session.all().forEach(holder -> {
                String place = "%s/%s/%s/%s/%s"
                        .formatted(session.project, session.subject.label, session.label, holder.level, holder.label);
                holder.resources.forEach(resource -> resource.catalogue
                        .keySet()
                        .forEach(name -> shown.put(
                                "%s/%s/%s".formatted(place, resource.label, name), md5(resource.disk.get(name)))));
            });
        }
        return new TreeMap<>(shown);
    }

    /** Returns a project with a session that has files at every level; their names are hostile. */
    public static XnatContent small() {
        XnatContent content = new XnatContent();
        content.projects.add("BRAIN");
        Session session = content.session("BRAIN", "sub-01", "visit 1");
        session.fields.put("UID", "1.2.3");
        session.fields.put("dcmPatientName", "Yamada^Taro");
        session.subject.fields.put("gender", "female");
        session.subject.fields.put("dob", "1980-02-03");
        content.store(content.resource(session, "NOTES"), "protocol.pdf", "protocol");
        Holder scan = content.holder(session, "scans", "1");
        scan.fields.put("type", "T1w");
        scan.fields.put("series_description", "t1 mprage");
        Res dicom = content.resource(scan, "DICOM");
        dicom.format = "DICOM";
        dicom.content = "T1_RAW";
        content.store(dicom, "1.dcm", "one".repeat(50_000));
        content.store(dicom, "sub dir/2 +%41#.dcm", "two".repeat(50_000));
        content.store(content.resource(scan, "NIFTI"), "1.dcm", "the same name in another resource");
        Res other = content.resource(content.holder(session, "scans", "2-MR1"), "DICOM");
        content.store(other, "1.dcm", "three");
        Holder assessor = content.holder(session, "assessors", "qc of visit 1");
        content.store(content.resource(assessor, "REPORT"), "qc.csv", "a,b\n");
        Holder reconstruction = content.holder(session, "reconstructions", "recon 1");
        reconstruction.type = "xnat:reconstructedImageData";
        content.store(content.resource(reconstruction, "OUT"), "r.nii.gz", "recon");
        return content;
    }
}
