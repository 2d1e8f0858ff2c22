package dozo.api;

import dozo.api.http.Edited;
import dozo.file.FilePath;
import dozo.manifest.Freezes.Freeze;
import dozo.manifest.Signs;
import dozo.registry.ExperimentSearch.Held;
import dozo.registry.ExperimentSearch.State;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Retirement;
import dozo.registry.SourceList;
import java.time.Instant;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/**
 * An experiment, without the names that stand for its own at the sites.
 *
 * @param source a rendering for people; {@code sourceBytes} is the exact path
 * @param subject the pseudonymous code of the person who was examined
 * @param note what people want to remember of it; empty: nothing
 * @param frozen missing: it is not frozen, or is released
 * @param retired since when it is over, and why; missing: it is not
 * @param state in a list, the state at the site: lost, damaged, frozen, source-missing, late, blocked, copying, complete,
 *     arriving, planned, verified or retired; missing if there are several sites and none is named
 * @param files in a list, the number of files in its current manifest, with their {@code bytes} and how many of these are safe
 *     at the site; missing as {@code state}, and if nothing was ever sealed
 */
@SuppressWarnings("ArrayRecordComponent") // JSON's base64; written once
public record ShownExperiment(
        int id,
        String project,
        String code,
        String title,
        String kind,
        String source,
        byte[] sourceBytes,
        @Nullable String list,
        byte @Nullable [] listBytes,
        @Nullable String listForm,
        @Nullable String modality,
        @Nullable String scanner,
        @Nullable LocalDate acquired,
        @Nullable String subject,
        String note,
        Instant registeredAt,
        String registeredBy,
        @Nullable ShownFreeze frozen,
        @Nullable Retirement retired,
        @Nullable String state,
        @Nullable Long files,
        @Nullable Long bytes,
        @Nullable Long bytesSafe)
        implements Edited {

    static ShownExperiment of(Experiment experiment, @Nullable Freeze freeze) {
        return of(experiment, freeze, null, null);
    }

    static ShownExperiment of(
            Experiment experiment, @Nullable Freeze freeze, @Nullable State state, @Nullable Held held) {
        byte[] source = FilePath.rawBytes(experiment.source());
        SourceList list = experiment.list();
        byte[] listFile = list == null ? null : FilePath.rawBytes(list.file());
        return new ShownExperiment(
                experiment.id(),
                experiment.project(),
                experiment.code(),
                experiment.title(),
                experiment.kind().word(),
                FilePath.render(source),
                source,
                listFile == null ? null : FilePath.render(listFile),
                listFile,
                list == null ? null : list.form().word(),
                experiment.acquisition().modality(),
                experiment.acquisition().scanner(),
                experiment.acquisition().day(),
                experiment.subject(),
                experiment.note(),
                experiment.registeredAt(),
                experiment.registeredBy(),
                ShownFreeze.of(freeze),
                experiment.retired(),
                state == null ? null : state.word(),
                held == null ? null : held.files(),
                held == null ? null : held.bytes(),
                held == null ? null : held.bytesSafe());
    }

    /**
     * Why and since when an experiment is frozen.
     *
     * @param manifest the last one before it, with which the source is compared
     * @param signs of what happened, as of the last look; missing: it froze before they were kept
     */
    public record ShownFreeze(
            int manifest,
            Instant frozenAt,
            long entriesLost,
            long bytesLost,
            String message,
            @Nullable Signs signs) {

        static @Nullable ShownFreeze of(@Nullable Freeze freeze) {
            return freeze == null
                    ? null
                    : new ShownFreeze(
                            freeze.manifest(),
                            freeze.frozenAt(),
                            freeze.entriesLost(),
                            freeze.bytesLost(),
                            freeze.message(),
                            freeze.signs());
        }
    }
}
