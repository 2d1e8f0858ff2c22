package dozo.start;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.AppenderBase;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import org.slf4j.LoggerFactory;

/**
 * Sends the log to systemd's journal with fields (systemd.journal-fields(7)), so that {@code journalctl DOZO_RUN=7} shows a run.
 * Without libsystemd, or if the journal refuses an event, lines go to the output, as everywhere else.
 */
public final class JournalAppender extends AppenderBase<ILoggingEvent> {

    private static final String LIBRARY = "libsystemd.so.0";
    private static final String IN_SPRING_BOOT = "CONSOLE";

    /** A struct iovec: an address and a length. */
    private static final int PART_BYTES = 16;

    private final MethodHandle send;
    private final Appender<ILoggingEvent> output;

    private JournalAppender(MethodHandle send, Appender<ILoggingEvent> output) {
        this.send = send;
        this.output = output;
    }

    @SuppressWarnings("restricted") // allowed by the launcher, as for libcrypto
    private static MethodHandle sender() {
        return Linker.nativeLinker()
                .downcallHandle(
                        SymbolLookup.libraryLookup(LIBRARY, Arena.global()).findOrThrow("sd_journal_sendv"),
                        FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    }

    /** Takes the place of the output if the launcher has found that this leads to the journal. */
    public static void install() {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        Appender<ILoggingEvent> output = root.getAppender(IN_SPRING_BOOT);
        if (output == null || !"journal".equals(System.getProperty("log-form"))) {
            return;
        }
        try {
            JournalAppender journal = new JournalAppender(sender(), output);
            journal.setContext(context);
            journal.setName("JOURNAL");
            journal.start();
            root.addAppender(journal);
            root.detachAppender(output);
        } catch (IllegalArgumentException | NoSuchElementException noLibrary) {
            // The output's lines have a priority, too.
        }
    }

    @Override
    protected void append(ILoggingEvent event) {
        if (!isSent(fields(event))) {
            output.doAppend(event);
        }
    }

    /** Returns the fields of an event. What logs for a run says so in {@code DOZO_RUN} and {@code DOZO_EXPERIMENT}. */
    static Map<String, String> fields(ILoggingEvent event) {
        IThrowableProxy thrown = event.getThrowableProxy();
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put(
                "MESSAGE",
                event.getFormattedMessage() + (thrown == null ? "" : "\n" + ThrowableProxyUtil.asString(thrown)));
        fields.put("PRIORITY", String.valueOf(priority(event.getLevel())));
        fields.put("SYSLOG_IDENTIFIER", "dozo");
        fields.put("DOZO_LOGGER", event.getLoggerName());
        fields.put("DOZO_THREAD", event.getThreadName());
        event.getMDCPropertyMap()
                .forEach((name, value) ->
                        fields.put("DOZO_" + name.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]", "_"), value));
        return fields;
    }

    /** Of syslog (RFC 5424). */
    private static int priority(Level level) {
        return switch (level.toInt()) {
            case Level.ERROR_INT -> 3;
            case Level.WARN_INT -> 4;
            case Level.INFO_INT -> 6;
            default -> 7;
        };
    }

    private boolean isSent(Map<String, String> fields) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment parts = arena.allocate((long) PART_BYTES * fields.size(), PART_BYTES);
            int count = 0;
            for (Map.Entry<String, String> field : fields.entrySet()) {
                byte[] text = (field.getKey() + "=" + field.getValue()).getBytes(StandardCharsets.UTF_8);
                parts.set(ADDRESS, (long) PART_BYTES * count, arena.allocateFrom(JAVA_BYTE, text));
                parts.set(JAVA_LONG, (long) PART_BYTES * count + Long.BYTES, text.length);
                count++;
            }
            return (int) send.invokeExact(parts, count) == 0;
        } catch (Throwable e) { // as invokeExact declares
            addError("the journal cannot be used", e);
            return false;
        }
    }
}
