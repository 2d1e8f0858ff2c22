package dozo.ui;

import dozo.registry.Sites.Site;
import dozo.run.FirstSteps.FirstStep;
import dozo.run.FirstSteps.Step;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A first step, and where the reader of the page takes it.
 *
 * @param pattern the path pattern of the form behind that page; for the permission
 * @param address null: another step comes first, or it is taken outside of Dozo
 */
public record NextStep(
        FirstStep of, String pattern, @Nullable String address) {

    private static final String DISMISSAL = "/do/post/steps/{step}/dismissal";

    /** Returns the steps that this viewer may take. */
    static List<NextStep> all(List<FirstStep> steps, @Nullable Site site, Viewer viewer) {
        List<Step> done =
                steps.stream().filter(FirstStep::done).map(FirstStep::step).toList();
        return steps.stream()
                .map(step -> of(step, site, done))
                .filter(step -> viewer.may("POST", step.pattern))
                .toList();
    }

    private static NextStep of(FirstStep step, @Nullable Site site, List<Step> done) {
        return switch (step.step()) {
            case SITE ->
                site == null
                        ? new NextStep(step, "/sites/new", "/sites/new")
                        : new NextStep(step, "/sites/{name}/check", "/sites/%s/check".formatted(site.name()));
            case PROJECT ->
                new NextStep(
                        step, "/do/post/projects", "/do/post/projects?siteNames=kept&back=/administration/projects/*");
            case SCHEDULE -> new NextStep(step, "/do/put/sites/{name}/schedules", site == null ? null : "/sites");
            case EXPERIMENT -> new NextStep(step, "/register", done.contains(Step.PROJECT) ? "/register" : null);
            case BACKUP ->
                new NextStep(
                        step,
                        "/do/post/runs",
                        done.containsAll(List.of(Step.SITE, Step.EXPERIMENT)) ? "/do/post/runs?back=/runs/*" : null);
            case RECIPIENT ->
                new NextStep(
                        step,
                        "/do/put/alerts/recipients/{name}",
                        "/do/put/alerts/recipients/*?language=en&active=true&morningReport=true&back=/");
            case RECOVERY_KEY -> new NextStep(step, DISMISSAL, null);
            case DRILL ->
                new NextStep(
                        step, "/do/post/drills", done.contains(Step.BACKUP) ? "/do/post/drills?back=/drills/*" : null);
        };
    }
}
