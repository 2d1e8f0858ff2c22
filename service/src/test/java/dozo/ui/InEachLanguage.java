package dozo.ui;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A test that gets each language of the pages. */
@ParameterizedTest
@ValueSource(strings = {"en", "ja"})
@Retention(RetentionPolicy.RUNTIME)
@interface InEachLanguage {}
