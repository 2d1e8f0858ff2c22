package dozo.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.api.OriginApi.NewOrigin;
import dozo.collect.Terms;
import dozo.registry.Refusal;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NewOriginTest {

    @Test
    void aTreeIsARootWithPatternsAndRules() {
        Terms terms = tree("/data/meg", null, "{project}/{date}_{label}", "marker .done")
                .terms();

        assertThat(terms.spool()).isEqualTo(Path.of("/data/meg"));
        assertThat(terms.tree().patternTexts()).containsExactly("{project}/{date}_{label}");
        assertThat(terms.tree().readyTexts()).containsExactly("quiet 1h", "late 7d", "marker .done");
    }

    @ParameterizedTest
    @CsvSource({
        "root, , , {label}, bids",
        "spool, /data, /spool, {label}, bids",
        "patterns, /data, , , bids",
        "patterns, /data, , {name}, bids",
        "patterns, /data, , ../{label}, bids",
        "ready, /data, , {label}, soon"
    })
    void whatIsWrongIsSaidWithItsField(
            String field, @Nullable String root, @Nullable String spool, @Nullable String pattern, String ready) {
        assertThatThrownBy(() -> tree(root, spool, pattern, ready).terms())
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.field()).isEqualTo(field));
    }

    private static NewOrigin tree(
            @Nullable String root, @Nullable String spool, @Nullable String pattern, String ready) {
        return new NewOrigin(
                "tree",
                null,
                null,
                null,
                spool,
                root,
                pattern == null ? null : List.of(pattern),
                List.of(ready),
                null,
                Map.of(),
                null,
                null);
    }
}
