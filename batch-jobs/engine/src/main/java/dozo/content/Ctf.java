package dozo.content;

import dozo.content.Verdict.State;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The two main files of a CTF MEG folder, each by itself (as read by MNE-Python, {@code mne/io/ctf}), big endian. The header
 * {@code .res4} says its length in parts. The data {@code .meg4} are 32-bit samples, whose number only the header knows: by
 * itself, such a file is broken or unknown, never whole.
 */
final class Ctf implements Format {

    private static final String RES4 = "CTF header (res4)";
    private static final String MEG4 = "CTF data (meg4)";

    @Override
    public @Nullable Check check(Beginning file) {
        if (starts(file, "MEG41RS\0", "MEG42RS\0")) {
            return new Header(file);
        }
        return starts(file, "MEG4CPT", "MEG41CP\0", "MEG42CP\0") ? new Data() : null;
    }

    private static boolean starts(Beginning file, String... magics) {
        return Stream.of(magics).anyMatch(magic -> file.has(0, magic));
    }

    private static final class Header extends Check {

        private static final int FIXED_BYTES = 1_844;
        private static final int SAMPLES_AT = 1_288;
        private static final int CHANNELS_AT = 1_292;
        private static final int TRIALS_AT = 1_312;
        private static final int DESCRIPTION_BYTES_AT = 1_836;
        private static final int FILTER_BYTES = 18;
        private static final int PARAMETERS_AT = 16;

        /** A name of 32 bytes, and a description with 16 coils. */
        private static final int CHANNEL_BYTES = 1_360;

        private static final int COEFFICIENT_BYTES = 1_992;

        /** A part has at most 2 GiB, and nobody begins the next one much earlier. */
        private static final long PART_BYTES_MIN = 1L << 30;

        private static final int PARTS_MAX = 99;

        private final Beginning file;
        private Step step = Step.FIXED;
        private @Nullable Companions companions;
        private int channels;
        private int filters;

        Header(Beginning file) {
            super(RES4);
            this.file = file;
            want(FIXED_BYTES);
        }

        private enum Step {
            FIXED("general part"),
            FILTERS("filters"),
            FILTER("filters"),
            COEFFICIENTS("channels"),
            REST("coefficients");

            /** What is missing if the file ends there. */
            private final String missing;

            Step(String missing) {
                this.missing = missing;
            }
        }

        @Override
        void part(ByteBuffer bytes) throws NotWhole {
            bytes.order(ByteOrder.BIG_ENDIAN);
            switch (step) {
                case FIXED -> {
                    channels = count(bytes.getShort(CHANNELS_AT));
                    companions = data(bytes.getInt(SAMPLES_AT), bytes.getShort(TRIALS_AT));
                    skip(Math.max(0, bytes.getInt(DESCRIPTION_BYTES_AT)));
                    step = Step.FILTERS;
                    want(Short.BYTES);
                }
                case FILTERS -> {
                    filters = count(bytes.getShort());
                    nextFilter();
                }
                case FILTER -> {
                    filters--;
                    skip((long) Double.BYTES * count(bytes.getShort(PARAMETERS_AT)));
                    nextFilter();
                }
                case COEFFICIENTS -> {
                    step = Step.REST;
                    skip((long) COEFFICIENT_BYTES * count(bytes.getShort()));
                }
                case REST -> throw new IllegalStateException();
            }
        }

        /** The samples of all trials. If a recording is stopped, there are fewer trials than its header says. */
        private @Nullable Companions data(int samples, short trials) {
            if (samples <= 0 || channels == 0 || trials <= 0 || !file.isNamed(".res4")) {
                return null;
            }
            long trialBytes = (long) Integer.BYTES * samples * channels;
            String stem = file.name().substring(0, file.name().lastIndexOf('.') + 1);
            long parts = Math.min(PARTS_MAX, trialBytes * trials / PART_BYTES_MIN + 1);
            List<String> names = Stream.concat(
                            Stream.of("meg4"), LongStream.rangeClosed(1, parts).mapToObj("%d_meg4"::formatted))
                    .map(stem::concat)
                    .toList();
            return new Companions(names, Data.MAGIC_BYTES, trialBytes * trials, trialBytes, State.SUSPECT);
        }

        @Override
        Optional<Relation> relation() {
            return Optional.ofNullable(companions);
        }

        private static int count(short value) throws NotWhole {
            if (value < 0) {
                throw NotWhole.broken("it has a negative count of parts");
            }
            return value;
        }

        private void nextFilter() {
            if (filters > 0) {
                step = Step.FILTER;
                want(FILTER_BYTES);
            } else {
                skip((long) CHANNEL_BYTES * channels);
                step = Step.COEFFICIENTS;
                want(Short.BYTES);
            }
        }

        @Override
        void end(long left) throws NotWhole {
            if (left > 0) {
                throw NotWhole.broken("it ends after %,d bytes, before the end of its %s; %,d bytes or more are missing"
                        .formatted(position(), step.missing, left));
            }
        }
    }

    private static final class Data extends Check {

        private static final int MAGIC_BYTES = 8;

        Data() {
            super(MEG4);
        }

        @Override
        void end(long left) throws NotWhole {
            if ((position() - MAGIC_BYTES) % Integer.BYTES != 0) {
                throw NotWhole.broken("it ends after %,d bytes, in the middle of a sample".formatted(position()));
            }
            throw NotWhole.unknown("only the .res4 beside it says how long it should be");
        }
    }
}
