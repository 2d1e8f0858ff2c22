package dozo.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What people type is one line that looks like what it is. */
class CodeTest {

    @ParameterizedTest
    @ValueSource(
            ints = {
                0, '\n', 0x1B, 0x7F, 0x9B, 0x2028, 0x2029, 0xD800, 0x061C, 0x200E, 0x200F, 0x202A, 0x202E, 0x2066,
                0x2069
            })
    void controlCharactersAndControlsOfDirectionAreNoText(int c) {
        String typed = "a" + Character.toString(c) + "b";

        assertThat(Code.isText(typed)).isFalse();
        assertThatThrownBy(() -> Code.checkedTitle(typed)).isInstanceOf(Refusal.class);
        assertThatThrownBy(() -> Reason.of(typed)).isInstanceOf(Refusal.class);
    }

    @Test
    void anyScriptIsText() {
        for (String typed : new String[] {"視覚野（7T）", "עברית", "العربية", "می\u200cخواهم", "👩\u200d🔬", "é", ""}) {
            assertThat(Code.isText(typed)).as(typed).isTrue();
        }
    }
}
