package dozo.plan;

import dozo.plan.NightForecast.Range;
import java.util.Collection;
import org.apache.commons.statistics.distribution.TDistribution;

/**
 * How fast a night sends, and how exactly that is known.
 *
 * <p>The measured time of a night differs from the predicted one by a factor. Its logarithm is taken as normally distributed
 * around 0 with an unknown deviation, about which a prior belief and earlier nights tell; what is predicted for the next night
 * then has Student's t-distribution (Gelman et al., Bayesian Data Analysis, section 3.2). With few nights it is wide.
 *
 * @param cost of one lane
 * @param lanes the number of lanes, from 1
 * @param deviation the scale of the logarithm of measured to predicted time, above 0
 * @param freedom the degrees of freedom of its distribution, above 0
 * @param nights how many earlier nights were measured
 */
public record Speed(CostModel cost, int lanes, double deviation, double freedom, int nights) {

    /** Before any night was measured, it may be three times as fast or as slow as on the machine of the default model. */
    public static final Speed UNMEASURED = new Speed(CostModel.DEFAULT, 4, 1, 4, 0);

    /** A belief that counts like four nights whose time was wrong by about a third. */
    private static final double PRIOR_DEVIATION = 0.3;

    private static final double PRIOR_NIGHTS = 4;

    /** A night that stalled says that nights stall, but not how long. */
    private static final double FACTOR_MAX = 4;

    /**
     * Returns the speed after earlier nights.
     *
     * @param factors of each earlier night, the measured time divided by the one that was predicted before it
     */
    public static Speed of(CostModel cost, int lanes, Collection<Double> factors) {
        double squares = PRIOR_NIGHTS * PRIOR_DEVIATION * PRIOR_DEVIATION;
        for (double factor : factors) {
            double logarithm = Math.log(Math.clamp(factor, 1 / FACTOR_MAX, FACTOR_MAX));
            squares += logarithm * logarithm;
        }
        double freedom = PRIOR_NIGHTS + factors.size();
        // The first night has no factor: the model before it was not measured.
        return new Speed(cost, lanes, Math.sqrt(squares / freedom), freedom, factors.size() + 1);
    }

    /** Returns the same with another number of lanes. */
    public Speed with(int otherLanes) {
        return new Speed(cost, otherLanes, deviation, freedom, nights);
    }

    /** Returns the same with more deviation, for work that is less like the measured one than these were alike. */
    public Speed deviating(double more) {
        return new Speed(cost, lanes, Math.hypot(deviation, more), freedom, nights);
    }

    /** Returns the range of the seconds that all lanes together need. */
    public Range<Double> range(Work work) {
        double middle = seconds(work);
        double factor = Math.exp(
                deviation * TDistribution.of(freedom).inverseCumulativeProbability((1 + NightForecast.RANGE) / 2));
        return new Range<>(middle / factor, middle, middle * factor);
    }

    /** Returns the seconds that all lanes together need. */
    public double seconds(Work work) {
        return cost.seconds(work) / lanes;
    }
}
