package dozo.ui;

import dozo.collect.OriginKind;
import dozo.collect.Origins;
import dozo.collect.Terms;
import dozo.collect.Terms.Tree;
import dozo.file.FilePath;
import dozo.registry.Refusal;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The settings of an origin as form fields: lists have one item a line, paths are text. */
final class OriginForm {

    private OriginForm() {}

    static Form empty() {
        return new Form(Map.of("active", "true"), Map.of());
    }

    static Map<String, String> values(Terms terms) {
        Map<String, String> values = new HashMap<>();
        Tree tree = terms.tree();
        if (tree == null) {
            values.put("address", terms.address().toString());
            values.put("secretFile", terms.secretFile() == null ? "" : shown(terms.secretFile()));
            values.put("storageHosts", String.join("\n", terms.storageHosts()));
            values.put("spool", shown(terms.spool()));
        } else {
            values.put("root", shown(terms.spool()));
            values.put("patterns", String.join("\n", tree.patternTexts()));
            values.put("ready", String.join("\n", tree.readyTexts()));
        }
        values.put("project", terms.project() == null ? "" : terms.project());
        values.put(
                "projects",
                new TreeMap<>(terms.projects())
                        .entrySet().stream()
                                .map(each -> each.getKey() + "=" + each.getValue())
                                .collect(Collectors.joining("\n")));
        values.put("automatic", String.valueOf(terms.automatic()));
        values.put("active", String.valueOf(terms.active()));
        return values;
    }

    /**
     * Returns the terms from a form.
     *
     * @param before the present terms; a path whose text is unchanged keeps its exact bytes; null for a new origin
     * @throws Refusal if a field is malformed
     */
    static Terms terms(OriginKind kind, Form form, @Nullable Terms before) {
        String project = form.value("project").strip();
        boolean automatic = form.value("automatic").equals("true");
        boolean active = form.value("active").equals("true");
        if (kind == OriginKind.TREE) {
            return Terms.ofTree(
                    path(form, "root", before == null ? null : before.spool()),
                    Tree.of(lines(form, "patterns"), lines(form, "ready")),
                    project.isEmpty() ? null : project,
                    projects(form),
                    automatic,
                    active);
        }
        return new Terms(
                kind,
                Origins.address(form.value("address").strip()),
                form.value("secretFile").isBlank()
                        ? null
                        : path(form, "secretFile", before == null ? null : before.secretFile()),
                lines(form, "storageHosts"),
                path(form, "spool", before == null ? null : before.spool()),
                project.isEmpty() ? null : project,
                projects(form),
                automatic,
                active);
    }

    private static Map<String, String> projects(Form form) {
        Map<String, String> projects = new LinkedHashMap<>();
        for (String line : lines(form, "projects")) {
            // NB: an id may contain an equals sign, a code may not.
            int sign = line.lastIndexOf('=');
            if (sign < 0) {
                throw new Refusal(
                        "projects", "\"%s\": expected lines ID=CODE, with the code of a project in Dozo", line);
            }
            String theirs = line.substring(0, sign).strip();
            if (projects.put(theirs, line.substring(sign + 1).strip()) != null) {
                throw new Refusal("projects", "id %s occurs twice; expected each id once", theirs);
            }
        }
        return projects;
    }

    private static List<String> lines(Form form, String field) {
        return form.value(field)
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .toList();
    }

    private static Path path(Form form, String field, @Nullable Path before) {
        String text = form.value(field).strip();
        if (before != null && text.equals(shown(before))) {
            return before;
        }
        return RegistrationPage.path(field, text);
    }

    static String shown(Path path) {
        return FilePath.render(FilePath.rawBytes(path));
    }
}
