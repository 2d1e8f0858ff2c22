package dozo.source;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A file system's seconds become nanoseconds, or the nearest possible value. */
class TimesTest {

    @Test
    void nanosecondsCountForwardBefore1970Too() {
        assertThat(Times.nanos(1, 5)).isEqualTo(1_000_000_005L);
        assertThat(Times.nanos(0, 0)).isZero();
        assertThat(Times.nanos(-1, 999_999_999)).isEqualTo(-1);
        assertThat(Times.nanos(-2, 500_000_000)).isEqualTo(-1_500_000_000L);
    }

    @Test
    void aTimeBeyondWhatNanosecondsTellIsTheLastOneTheyDo() {
        long last = Long.MAX_VALUE / 1_000_000_000L;

        assertThat(Times.nanos(last, 854_775_807)).isEqualTo(Long.MAX_VALUE);
        assertThat(Times.nanos(last, 854_775_808)).isEqualTo(Long.MAX_VALUE);
        assertThat(Times.nanos(last + 1, 0)).isEqualTo(Long.MAX_VALUE);
        assertThat(Times.nanos(Long.MAX_VALUE, 999_999_999)).isEqualTo(Long.MAX_VALUE);
        assertThat(Times.nanos(-last, 0)).isEqualTo(-last * 1_000_000_000L);
        assertThat(Times.nanos(Long.MIN_VALUE, 0)).isEqualTo(Long.MIN_VALUE);
    }
}
