package dozo.ui;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where values over time are in a picture. It is 1,000 wide and 100 high; the template {@code chart} stretches it to the
 * width of the page, and puts its labels beside it as text, so that they are readable at every width.
 */
record Plot(Instant from, Instant until, double top) {

    private static final int WIDTH = 1_000;
    private static final int HEIGHT = 100;

    private static final Logger LOG = LoggerFactory.getLogger(Plot.class);

    /**
     * Something drawn.
     *
     * @param kind its class in {@code dozo.css}
     * @param path the data of an SVG path
     * @param title what it means, for readers who point at it; null: nothing
     * @param link the page about it; null: none
     */
    public record Mark(
            String kind,
            String path,
            @Nullable String title,
            @Nullable String link) {

        static Mark of(String kind, String path) {
            return new Mark(kind, path, null, null);
        }
    }

    /** A value at a time. */
    record Point(Instant at, double value) {}

    /** A picture needs an extent, also of a single moment or of nothing but zeros. */
    Plot {
        until = until.isAfter(from) ? until : from.plusMillis(1);
        top = top > 0 ? top : 1;
    }

    /** Returns a bar from zero to a value. */
    String bar(Instant begin, Instant end, double value) {
        return "M%s %dV%sH%sV%dZ".formatted(x(begin), HEIGHT, y(value), x(end), HEIGHT);
    }

    /** Returns a line through points; a dot if there is only one; empty if there are none. */
    String line(List<Point> points) {
        String dot = points.size() == 1 ? "h0" : "";
        return points.isEmpty()
                ? ""
                : points.stream()
                        .map(point -> x(point.at) + " " + y(point.value))
                        .collect(Collectors.joining("L", "M", dot));
    }

    Mark line(String kind, Stream<Point> points) {
        return Mark.of(kind, line(points.toList()));
    }

    private String x(Instant at) {
        double share = (double) Duration.between(from, at).toMillis()
                / Duration.between(from, until).toMillis();
        return number(Math.clamp(share, 0, 1) * WIDTH);
    }

    private String y(double value) {
        return number(HEIGHT - Math.clamp(value / top, 0, 1) * HEIGHT);
    }

    private static String number(double of) {
        return String.format(Locale.ROOT, "%.1f", of).replace(".0", "");
    }

    /** Loads the data of a picture. Empty if that failed: the rest of the page is shown without it. */
    static <T> Optional<T> tried(Supplier<T> load) {
        try {
            return Optional.of(load.get());
        } catch (RuntimeException e) {
            LOG.warn("the data of a picture could not be loaded", e);
            return Optional.empty();
        }
    }
}
