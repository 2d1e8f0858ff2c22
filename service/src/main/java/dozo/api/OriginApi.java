package dozo.api;

import dozo.api.http.Edited;
import dozo.api.http.Editions;
import dozo.api.http.IfMatch;
import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Verb;
import dozo.collect.OriginKind;
import dozo.collect.Origins;
import dozo.collect.Origins.Origin;
import dozo.collect.Terms;
import dozo.collect.Terms.Tree;
import dozo.file.FilePath;
import dozo.file.Message;
import dozo.registry.Refusal;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import java.security.Principal;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The systems that experiments are collected from. */
@RestController
@RequestMapping("/api/v1/origins")
public record OriginApi(Origins origins, Editions editions) {

    /**
     * All settings of an origin.
     *
     * @param kind what it is: flywheel, dicomweb, xnat or tree
     * @param address such as https://flywheel.example.org; required, except for a tree
     * @param secretFile the file with the key, on the service's machine; the key itself is never sent
     * @param storageHosts hosts to which the origin may redirect downloads
     * @param spool the folder for downloads, on the service's machine; required, except for a tree
     * @param root of a tree: the folder that contains experiments, on the service's machine; nothing is written there
     * @param patterns of a tree: which folders are experiments, as {project}/{date:yyyyMMdd}_{label}
     * @param ready of a tree: the rules by which an experiment is complete, as quiet 1h, marker .done; missing: the default rules
     * @param project the project of all items that {@code projects} does not assign; missing: unknown
     * @param projects project codes by the origin's project ids
     * @param automatic whether items of a known project become experiments without being accepted; default false
     * @param active whether nights read the origin; default true
     */
    record NewOrigin(
            @NotBlank(message = "expected a kind: flywheel, dicomweb, xnat or tree")
            String kind,

            @Nullable String address,
            @Nullable String secretFile,
            @Nullable List<String> storageHosts,

            @Nullable String spool,
            @Nullable String root,
            @Nullable List<String> patterns,
            @Nullable List<String> ready,
            @Nullable String project,
            @Nullable Map<String, String> projects,
            @Nullable Boolean automatic,
            @Nullable Boolean active) {

        Terms terms() {
            OriginKind said = kind(kind);
            if (said == OriginKind.TREE) {
                return tree();
            }
            refuse("root", root, Message.of("only a tree has a root"));
            refuse("patterns", patterns, Message.of("only a tree has patterns"));
            refuse("ready", ready, Message.of("only a tree has rules"));
            return new Terms(
                    said,
                    Origins.address(needed(
                            "address",
                            address,
                            Message.of("expected an address such as https://flywheel.example.org"))),
                    secretFile == null ? null : NewExperiment.path("secretFile", secretFile, null),
                    storageHosts == null ? List.of() : storageHosts,
                    NewExperiment.path(
                            "spool", needed("spool", spool, Message.of("expected a folder for downloads")), null),
                    project,
                    projects == null ? Map.of() : projects,
                    Boolean.TRUE.equals(automatic),
                    !Boolean.FALSE.equals(active));
        }

        private Terms tree() {
            refuse("address", address, Message.of("a tree has a root, and no address"));
            refuse("spool", spool, Message.of("a tree has a root and no spool: its files stay where they are"));
            refuse("secretFile", secretFile, Message.of("a tree has no secret"));
            refuse("storageHosts", storageHosts, Message.of("a tree has no downloads"));
            return Terms.ofTree(
                    NewExperiment.path(
                            "root",
                            needed("root", root, Message.of("expected a folder that contains experiments")),
                            null),
                    Tree.of(patterns == null ? List.of() : patterns, ready == null ? List.of() : ready),
                    project,
                    projects == null ? Map.of() : projects,
                    Boolean.TRUE.equals(automatic),
                    !Boolean.FALSE.equals(active));
        }

        private static void refuse(String field, @Nullable Object said, Message why) {
            if (said != null) {
                throw new Refusal(field, why);
            }
        }

        private static String needed(String field, @Nullable String said, Message why) {
            if (said == null || said.isBlank()) {
                throw new Refusal(field, why);
            }
            return said;
        }

        private static OriginKind kind(String word) {
            return OriginKind.of(word)
                    .orElseThrow(() -> new Refusal(
                            "kind",
                            "expected %s",
                            Arrays.stream(OriginKind.values())
                                    .map(OriginKind::word)
                                    .collect(Collectors.joining(", "))));
        }
    }

    /**
     * An origin.
     *
     * @param address missing for a tree
     * @param spool missing for a tree
     * @param root only for a tree
     * @param patterns of a tree, else empty
     * @param ready of a tree, else empty
     * @param lookedAt when the origin was last read completely; missing: never
     * @param oldestCheckAt the oldest last check of a delivered file in the origin; missing: there is none
     */
    public record ShownOrigin(
            String name,
            String kind,
            @Nullable String address,
            @Nullable String secretFile,
            List<String> storageHosts,
            @Nullable String spool,
            @Nullable String root,
            List<String> patterns,
            List<String> ready,
            @Nullable String project,
            Map<String, String> projects,
            boolean automatic,
            boolean active,
            @Nullable Instant lookedAt,
            @Nullable Instant oldestCheckAt,
            Instant updatedAt)
            implements Edited {

        static ShownOrigin of(Origin origin) {
            Terms terms = origin.terms();
            Tree tree = terms.tree();
            String folder = FilePath.render(FilePath.rawBytes(terms.spool()));
            return new ShownOrigin(
                    origin.name(),
                    terms.kind().word(),
                    tree == null ? terms.address().toString() : null,
                    terms.secretFile() == null ? null : FilePath.render(FilePath.rawBytes(terms.secretFile())),
                    terms.storageHosts(),
                    tree == null ? folder : null,
                    tree == null ? null : folder,
                    tree == null ? List.of() : tree.patternTexts(),
                    tree == null ? List.of() : tree.readyTexts(),
                    terms.project(),
                    new TreeMap<>(terms.projects()),
                    terms.automatic(),
                    terms.active(),
                    origin.lookedAt(),
                    origin.oldestCheckAt(),
                    origin.updatedAt());
        }
    }

    /** Lists the origins by name. */
    @Verb(
            value = "origin list",
            columns = {
                "NAME={name}",
                "KIND={kind}",
                "ADDRESS={root}|{address}",
                "PROJECT={project}",
                "AUTOMATIC={automatic?}yes|no",
                "LOOKED AT={lookedAt}",
                "OLDEST CHECK={oldestCheckAt}"
            },
            none = "No origin yet; `dozo origin save` registers one.",
            example = "dozo origin list")
    @GetMapping
    Page<ShownOrigin> list(
            @RequestParam(defaultValue = "") String after, @RequestParam(defaultValue = Page.LIMIT) int limit) {
        return Page.of(limit, most -> origins.page(after, most), Origin::name).map(ShownOrigin::of);
    }

    /** Shows one origin. */
    @GetMapping("/{name}")
    ShownOrigin one(@PathVariable String name) {
        return ShownOrigin.of(origins.find(name).orElseThrow(Missing.thing("origin", name)));
    }

    /** Registers an origin, or replaces all settings of an existing one. Sends no network request. */
    @Verb(
            value =
                    "origin save NAME --kind=KIND [--address=URL] [--secret-file=FILE] [--spool=FOLDER] [--root=FOLDER] [--pattern=PATTERN…:patterns] [--ready=RULE…] [--project=P] [--map=THEIRS=P…:projects] [--storage-host=HOST…:storageHosts] [--automatic] [--inactive:active=false]",
            arguments = {"--map=assigns the origin's project with this id to P; repeatable", "--inactive=nights skip it"
            },
            about = "Registers an origin, or replaces all settings of an existing one.",
            says = "the next night will collect from {name}",
            example = "dozo origin save --kind tree --root /data/meg --pattern '{project}/{date}_{label}' meg")
    @PutMapping("/{name}")
    ShownOrigin save(@PathVariable String name, @Valid @RequestBody NewOrigin asked, IfMatch seen, Principal actor) {
        Terms terms = asked.terms();
        return ShownOrigin.of(editions.change(
                seen,
                () -> origins.lock(name),
                () -> origins.find(name).map(ShownOrigin::of),
                () -> origins.save(name, terms, actor.getName())));
    }
}
