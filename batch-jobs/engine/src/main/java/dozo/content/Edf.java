package dozo.content;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * EDF and BDF recordings (Kemp et al. 1992; BioSemi for BDF): a header of text, then records of the same length, with samples of
 * 2 bytes (BDF: 3). Recorders that were switched off leave -1, or more than they wrote, as the number of records.
 */
final class Edf implements Format {

    private static final int GENERAL_BYTES = 256;
    private static final int NUMBER_BYTES = 8;
    private static final int HEADER_BYTES_AT = 184;
    private static final int RECORDS_AT = 236;
    private static final int SIGNALS_AT = 252;
    private static final int SIGNALS_BYTES = 4;

    /** Numbers end with spaces; some programs write zeros in their place. */
    private static final Pattern NUMBER = Pattern.compile("[ \0]*([+-]?[0-9]{1,8})(?:\\.0*)?[ \0]*");

    @Override
    public @Nullable Check check(Beginning file) {
        if (file.has(0, "\u00FFBIOSEMI")) {
            return new Records("BDF", 3);
        }
        // A table of numbers may begin like this, but has no date and time (dd.mm.yyhh.mm.ss) here.
        boolean dated = IntStream.of(170, 173, 178, 181).allMatch(dot -> file.has(dot, "."));
        boolean edf = file.has(0, "0       ") && (file.isNamed(".edf") || dated);
        return edf ? new Records("EDF", 2) : null;
    }

    private static String text(ByteBuffer bytes, int at, int length) {
        byte[] text = new byte[length];
        bytes.get(at, text);
        return new String(text, StandardCharsets.ISO_8859_1);
    }

    private static final class Records extends Check {

        /** Bytes of each signal in the header: before its samples per record, for them, and after them. */
        private static final int BEFORE_BYTES = 216;

        private static final int AFTER_BYTES = 32;

        private static final long NOT_FINISHED = -1;

        private final int sampleBytes;

        private Step step = Step.GENERAL;
        private long headerBytes;
        private long records;
        private int signals;
        private int signal;
        private long recordBytes;

        Records(String format, int sampleBytes) {
            super(format);
            this.sampleBytes = sampleBytes;
            want(GENERAL_BYTES);
        }

        private enum Step {
            GENERAL,
            SAMPLES,
            RECORDS
        }

        @Override
        void part(ByteBuffer bytes) throws NotWhole {
            if (step == Step.GENERAL) {
                general(bytes);
            } else {
                long samples = number(bytes, 0, NUMBER_BYTES, "samples of signal %,d".formatted(signal + 1));
                recordBytes += samples * sampleBytes;
                signal++;
                nextSignal();
            }
        }

        private void general(ByteBuffer bytes) throws NotWhole {
            headerBytes = number(bytes, HEADER_BYTES_AT, NUMBER_BYTES, "bytes of its header");
            records = number(bytes, RECORDS_AT, NUMBER_BYTES, "records");
            signals = (int) number(bytes, SIGNALS_AT, SIGNALS_BYTES, "signals");
            if (signals < 0 || records < NOT_FINISHED) {
                throw NotWhole.broken("its header has impossible numbers");
            }
            long needed = (signals + 1L) * GENERAL_BYTES;
            if (headerBytes != needed) {
                throw NotWhole.suspect("its header says that it has %,d bytes, but its %,d signals need %,d"
                        .formatted(headerBytes, signals, needed));
            }
            step = Step.SAMPLES;
            skip((long) BEFORE_BYTES * signals);
            nextSignal();
        }

        private void nextSignal() {
            if (signal < signals) {
                want(NUMBER_BYTES);
            } else {
                step = Step.RECORDS;
                skip((long) AFTER_BYTES * signals);
            }
        }

        private static long number(ByteBuffer bytes, int at, int length, String what) throws NotWhole {
            var number = NUMBER.matcher(text(bytes, at, length));
            if (!number.matches()) {
                throw NotWhole.broken("its header has no number where the number of %s should be".formatted(what));
            }
            return Long.parseLong(number.group(1));
        }

        @Override
        void end(long left) throws NotWhole {
            if (step != Step.RECORDS || left > 0) {
                throw NotWhole.broken("it ends after %,d bytes, in the middle of its header".formatted(position()));
            }
            if (recordBytes <= 0) {
                throw NotWhole.unknown("its header gives its records no length");
            }
            long whole = (position() - headerBytes) / recordBytes;
            boolean part = (position() - headerBytes) % recordBytes != 0;
            if (records == NOT_FINISHED) {
                throw part
                        ? NotWhole.suspect("its recording was not finished; it ends in the middle of record %,d"
                                .formatted(whole + 1))
                        : NotWhole.unknown("its recording was not finished, so its header has no number of records");
            }
            if (whole < records) {
                throw part
                        ? NotWhole.broken("it ends in the middle of record %,d of %,d".formatted(whole + 1, records))
                        : NotWhole.suspect("its header says %,d records, the file has %,d".formatted(records, whole));
            }
            if (whole > records || part) {
                throw NotWhole.suspect("its header says %,d records, more bytes follow them".formatted(records));
            }
        }
    }
}
