package dozo.metrics;

import java.util.List;

/**
 * A value of a metric.
 *
 * @param labels the values of the metric's labels, in their order
 */
record Sample(Metric metric, double value, List<String> labels) {

    Sample(Metric metric, double value, String... labels) {
        this(metric, value, List.of(labels));
    }
}
