package dozo.api.http;

import dozo.file.Problem;
import dozo.ledger.Dimension;
import dozo.registry.BulkRegistration.Mode;
import dozo.registry.ExperimentOrder;
import dozo.registry.ExperimentSearch.State;
import dozo.registry.Refusal;
import dozo.registry.WrittenDay;
import dozo.worklist.GapKind;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.springframework.context.annotation.Configuration;
import org.springframework.format.FormatterRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** Converts parameters to their types. {@link Problems} refuses invalid values with the parameter's name. */
@Configuration
class Parameters implements WebMvcConfigurer {

    @Override
    public void addFormatters(FormatterRegistry registry) {
        registry.addConverter(String.class, LocalDate.class, text -> WrittenDay.ofIso("", text));
        registry.addConverter(String.class, Mode.class, Mode::of);
        registry.addConverter(String.class, State.class, State::of);
        registry.addConverter(String.class, ExperimentOrder.class, ExperimentOrder::of);
        registry.addConverter(String.class, GapKind.class, GapKind::of);
        registry.addConverter(String.class, Problem.class, Parameters::problem);
        registry.addConverter(String.class, Dimension.class, Parameters::dimension);
    }

    private static Problem problem(String name) {
        return Arrays.stream(Problem.values())
                .filter(problem -> problem.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new Refusal(
                        "reason",
                        "\"%s\": expected the reason of a finding: %s",
                        name,
                        all(Problem.values(), Problem::name)));
    }

    private static Dimension dimension(String word) {
        return Dimension.of(word)
                .orElseThrow(() -> new Refusal(
                        "by", "\"%s\": expected one of %s", word, all(Dimension.values(), Dimension::word)));
    }

    private static <E> String all(E[] values, Function<E, String> word) {
        return Arrays.stream(values).map(word).collect(Collectors.joining(", "));
    }
}
