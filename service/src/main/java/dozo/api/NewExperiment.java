package dozo.api;

import dozo.api.http.Demanded;
import dozo.file.FilePath;
import dozo.registry.Acquisition;
import dozo.registry.Refusal;
import dozo.registry.SourceList;
import jakarta.validation.constraints.NotBlank;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The experiment to register.
 *
 * @param source the folder's absolute path on the service's machine
 * @param sourceBytes the same in base64, instead of {@code source}: for names that are not UTF-8
 * @param list the absolute path of a file list that runs read instead of walking the source; requires {@code listForm}
 * @param listBytes the same in base64, instead of {@code list}
 * @param listForm find or policy
 * @param modality missing: unknown; the same for {@code scanner} and {@code acquired}
 * @param acquired a day as 2026-10-01
 */
@SuppressWarnings("ArrayRecordComponent") // JSON's base64; read once
record NewExperiment(
        @NotBlank(message = "expected the code of a project")
        String project,

        @NotBlank(message = "expected a code") String code,
        @Nullable String title,
        @Nullable String source,
        byte @Nullable [] sourceBytes,
        @Nullable String list,
        byte @Nullable [] listBytes,
        @Nullable String listForm,
        @Nullable String modality,
        @Nullable String scanner,
        @Nullable String acquired) {

    Acquisition acquisition() {
        return new Acquisition(modality, scanner, ExperimentApi.day("acquired", acquired));
    }

    Path folder() {
        if ((source == null) == (sourceBytes == null)) {
            throw new Refusal("source", "expected either source or sourceBytes: the folder's absolute path");
        }
        return path("source", source, sourceBytes);
    }

    @Nullable
    SourceList sourceList() {
        return list == null && listBytes == null && listForm == null
                ? null
                : new NewList(list, listBytes, listForm).sourceList();
    }

    /**
     * A file list.
     *
     * @param list the list's absolute path on the service's machine
     * @param listBytes the same in base64, instead of {@code list}
     * @param listForm the program that wrote the list: find or policy
     */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; read once
    record NewList(
            @Nullable String list,
            byte @Nullable [] listBytes,

            @Demanded @Nullable String listForm) {

        SourceList sourceList() {
            if ((list == null) == (listBytes == null)) {
                throw new Refusal("list", "listForm requires either list or listBytes: the file's absolute path");
            }
            if (listForm == null) {
                throw new Refusal("listForm", "a list requires listForm: find or policy");
            }
            return new SourceList(path("list", list, listBytes), SourceList.Form.of(listForm));
        }
    }

    /** Returns the absolute path that a body contains as text or as bytes. */
    static Path path(String field, @Nullable String text, byte @Nullable [] bytes) {
        byte[] path = text == null ? bytes : text.getBytes(StandardCharsets.UTF_8);
        if (path == null || path.length == 0 || path[0] != '/') {
            throw new Refusal(
                    field,
                    "\"%s\": expected an absolute path, starting with /",
                    path == null ? "" : FilePath.render(path));
        }
        try {
            return FilePath.pathOf(path);
        } catch (IllegalArgumentException e) {
            throw new Refusal(field, "\"%s\": expected a path", FilePath.render(path));
        }
    }
}
