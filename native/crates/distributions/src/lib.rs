//! Distribution functions and quantiles, see `bench_framework/stats/portable_math.py`.
//!
//! The functions use only `+ − × ÷ √` of doubles in a fixed order, and the crate `libm`, so that their results have the
//! same bits on every machine. `tests/validation/statistics/distributions.py` compares them with scipy.
//!
//! Student's t distribution follows from the incomplete beta function. The factor before its continued fraction is a
//! binomial probability, and is computed by the method of Loader 2000, Fast and Accurate Computation of Binomial
//! Probabilities. A difference of logarithms of the gamma function would lose digits for large parameters.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Number from which Stirling's series with `STIRLING` is exact to the last digits of a double.
const LARGE: f64 = 16.0;
/// Coefficients of the error of Stirling's formula in 1/z, 1/z³, … (DLMF 5.11.1).
const STIRLING: [f64; 7] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
];
/// Most steps of the continued fraction. It needs about as many as the square root of the larger parameter.
const MOST_STEPS: i32 = 100_000;
/// Smallest denominator of the continued fraction (Thompson and Barnett 1986).
const SMALLEST: f64 = 1e-300;
/// Logit below which the logarithm of the probability is a straight line to the last digit.
const STRAIGHT: f64 = -700.0;
/// Most steps of Newton's method. It needs fewer than 20.
const MOST_ITERATIONS: u32 = 200;

/// A beta distribution. Both parameters are positive and finite.
#[derive(Debug, Clone, Copy)]
pub struct Beta {
    /// Exponent of x, plus 1.
    pub a: f64,
    /// Exponent of 1 − x, plus 1.
    pub b: f64,
}

/// Returns the probability that a standard normal variable is at most `z`.
#[must_use]
pub fn normal_cdf(z: f64) -> f64 {
    libm::erfc(-z * FRAC_1_SQRT_2) / 2.0
}

/// Returns the probability that a variable of Student's t distribution is at most `t`.
#[must_use]
pub fn t_cdf(t: f64, freedom: f64) -> f64 {
    let square = t * t;
    let beta = Beta {
        a: freedom / 2.0,
        b: 0.5,
    };
    let sum = freedom + square;
    let (x, y) = if sum.is_finite() {
        (freedom / sum, square / sum)
    } else {
        (freedom / t.abs() / t.abs(), 1.0)
    };
    let (beyond, within) = beta.probabilities(x, y);
    if t < 0.0 {
        beyond / 2.0
    } else {
        0.5 + within / 2.0
    }
}

/// Returns the quantile of Student's t distribution; `p` is from 0 to 1.
#[must_use]
pub fn t_quantile(p: f64, freedom: f64) -> f64 {
    let tail = p.min(1.0 - p);
    if tail >= 0.5 {
        return 0.0;
    }
    let beta = Beta {
        a: freedom / 2.0,
        b: 0.5,
    };
    // x = ν ÷ (ν + t²), so that t² = ν (1 − x) ÷ x.
    let logit = beta.logit_of_quantile(2.0 * tail, 1.0 - 2.0 * tail);
    let size = freedom.sqrt() * libm::exp(-logit / 2.0);
    if p < 0.5 { -size } else { size }
}

impl Beta {
    /// Returns the quantile; `p` is from 0 to 1.
    #[must_use]
    pub fn quantile(self, p: f64) -> f64 {
        let logit = self.logit_of_quantile(p, 1.0 - p);
        if logit < 0.0 {
            let odds = libm::exp(logit);
            odds / (1.0 + odds)
        } else {
            1.0 / (1.0 + libm::exp(-logit))
        }
    }

    /// Returns ln(x ÷ (1 − x)) of the quantile x, from its probability and the complement of it.
    fn logit_of_quantile(self, p: f64, complement: f64) -> f64 {
        if p <= 0.0 {
            return f64::NEG_INFINITY;
        }
        if p > complement {
            return -self.mirrored().logit_of_quantile(complement, p);
        }
        // The logarithm of the probability is a concave function of the logit, so that Newton's method converges from
        // any start: after the first step, every step is to the right.
        let target = libm::log(p);
        let mut logit = libm::log(self.a / self.b);
        for _ in 0..MOST_ITERATIONS {
            let place = logit.max(STRAIGHT);
            let (log, slope) = self.log_probability(place);
            let next = place + (target - log) / slope;
            let step = next - logit;
            logit = next;
            if step.abs() <= f64::EPSILON * logit.abs().max(1.0) {
                break;
            }
        }
        logit
    }

    /// Returns the logarithm of the probability below a logit, and its derivative.
    fn log_probability(self, logit: f64) -> (f64, f64) {
        let (x, y) = fractions(logit);
        let log_density = self.log_density_of_logit(x, y);
        if self.is_left(x) {
            let quotient = self.continued_fraction(x, y);
            return (log_density + libm::log(quotient), 1.0 / quotient);
        }
        let below = self.probabilities(x, y).0;
        (libm::log(below), libm::exp(log_density) / below)
    }

    fn mirrored(self) -> Self {
        Self {
            a: self.b,
            b: self.a,
        }
    }

    /// Returns the probabilities of a variable below and above x, where y = 1 − x.
    fn probabilities(self, x: f64, y: f64) -> (f64, f64) {
        if self.is_left(x) {
            let below = self.tail(x, y);
            (below, 1.0 - below)
        } else {
            let above = self.mirrored().tail(y, x);
            (1.0 - above, above)
        }
    }

    /// Returns the probability of a variable below x by the continued fraction.
    fn tail(self, x: f64, y: f64) -> f64 {
        libm::exp(self.log_density_of_logit(x, y)) * self.continued_fraction(x, y)
    }

    /// Returns whether the continued fraction converges fast at x, and not at 1 − x in the mirrored distribution.
    fn is_left(self, x: f64) -> bool {
        x <= (self.a + 1.0) / (self.a + self.b + 2.0)
    }

    /// Returns the logarithm of the density of ln(x ÷ y), which is xᵃ yᵇ ÷ B(a, b).
    fn log_density_of_logit(self, x: f64, y: f64) -> f64 {
        let Self { a, b } = self;
        let n = a + b;
        libm::log(a / n * b / (2.0 * PI)) / 2.0 + stirling_error(n)
            - stirling_error(a)
            - stirling_error(b)
            - deviance(a, n * x)
            - deviance(b, n * y)
    }

    /// Returns x⁻ᵃ y⁻ᵇ B(x; a, b) by the continued fraction of Didonato and Morris 1992, section 9, and Lentz's method.
    ///
    /// It contains a y − b x, which is accurate where 1 − (a + b) x ÷ (a + 1) of DLMF 8.17.22 loses digits.
    fn continued_fraction(self, x: f64, y: f64) -> f64 {
        let Self { a, b } = self;
        let mut fraction = a * (a * y - b * x + 1.0) / (a + 1.0);
        let (mut numerators, mut denominators) = (fraction, 0.0);
        for step in 1..MOST_STEPS {
            let m = f64::from(step);
            let (before, after) = (a + 2.0 * m - 1.0, a + 2.0 * m + 1.0);
            let share = x / before;
            let above = (a + m - 1.0) * share * (a + b + m - 1.0) * m * (b - m) * share;
            let below =
                m + m * (b - m) * share + (a + m) / after * (a * y - b * x + 1.0 + m * (1.0 + y));
            denominators = 1.0 / bounded(below + above * denominators);
            numerators = bounded(below + above / numerators);
            let factor = numerators * denominators;
            fraction *= factor;
            if (factor - 1.0).abs() <= 2.0 * f64::EPSILON {
                break;
            }
        }
        1.0 / fraction
    }
}

/// Returns x and 1 − x for ln(x ÷ (1 − x)), both with all digits.
fn fractions(logit: f64) -> (f64, f64) {
    let odds = libm::exp(-logit.abs());
    let (small, large) = (odds / (1.0 + odds), 1.0 / (1.0 + odds));
    if logit < 0.0 {
        (small, large)
    } else {
        (large, small)
    }
}

fn bounded(denominator: f64) -> f64 {
    if denominator.abs() < SMALLEST {
        SMALLEST
    } else {
        denominator
    }
}

/// Returns ln Γ(z + 1) − (z + ½) ln z + z − ½ ln 2π, the error of Stirling's formula.
fn stirling_error(mut z: f64) -> f64 {
    let mut error = 0.0;
    while z < LARGE {
        error += (z + 0.5) * libm::log1p(1.0 / z) - 1.0;
        z += 1.0;
    }
    let square = z * z;
    let series = STIRLING.iter().rfold(0.0, |sum, c| sum / square + c);
    error + series / z
}

/// Returns k ln(k ÷ m) + m − k, which is not negative, without cancellation for k near m.
fn deviance(k: f64, m: f64) -> f64 {
    let difference = k - m;
    let v = difference / (k + m);
    if v.abs() >= 0.1 {
        return k * libm::log(k / m) - difference;
    }
    // ln(k ÷ m) = 2 (v + v³ ÷ 3 + v⁵ ÷ 5 + …); the terms from v³ on remain.
    let mut sum = difference * v;
    let (mut power, mut divisor) = (2.0 * k * v, 3.0);
    loop {
        power *= v * v;
        let next = sum + power / divisor;
        if next.to_bits() == sum.to_bits() {
            return sum;
        }
        (sum, divisor) = (next, divisor + 2.0);
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use proptest::prelude::*;

    use super::{Beta, normal_cdf, t_cdf, t_quantile};

    fn near(value: f64, expected: f64) -> bool {
        (value / expected - 1.0).abs() < 2e-14
    }

    #[test]
    fn the_normal_distribution_has_its_tabulated_values() {
        assert!(near(normal_cdf(0.0), 0.5));
        assert!(near(normal_cdf(-1.0), 0.158_655_253_931_457_05));
        assert!(near(normal_cdf(-10.0), 7.619_853_024_160_525e-24));
    }

    #[expect(clippy::float_cmp, reason = "exact values")]
    #[test]
    fn the_ends_are_infinite_or_the_bounds() {
        assert_eq!(t_quantile(0.0, 3.0), f64::NEG_INFINITY);
        assert_eq!(t_quantile(1.0, 3.0), f64::INFINITY);
        assert_eq!(t_cdf(f64::INFINITY, 3.0), 1.0);
        assert_eq!(t_cdf(f64::NEG_INFINITY, 3.0), 0.0);
        let beta = Beta { a: 2.0, b: 5.0 };
        assert_eq!((beta.quantile(0.0), beta.quantile(1.0)), (0.0, 1.0));
    }

    proptest! {
        /// For 1 and 2 degrees of freedom, the distribution has a closed form.
        #[test]
        fn few_degrees_of_freedom_have_their_closed_form(log in -12.0..40.0_f64) {
            let t = log.exp();
            prop_assert!(near(t_cdf(-t, 1.0), (1.0 / t).atan() / PI));
            let root = (2.0 + t * t).sqrt();
            prop_assert!(near(t_cdf(-t, 2.0), 1.0 / (root * (root + t))));
        }

        #[test]
        fn a_quantile_has_its_probability(tail in -200.0..-0.7_f64, freedom in 0.0..12.0_f64) {
            let (p, freedom) = (tail.exp(), freedom.exp());
            let t = t_quantile(p, freedom);
            // An error of the quantile is multiplied in its probability by (freedom + 1) t² ÷ (freedom + t²).
            let sensitivity = (freedom + 1.0) / (1.0 + freedom / t / t);
            prop_assert!((t_cdf(t, freedom) / p - 1.0).abs() < 1e-14 * (4.0 + sensitivity));
        }

        /// 1 − (1 − x)ᵇ is the probability of x for a = 1.
        #[test]
        fn a_beta_quantile_has_its_closed_form(p in 1e-9..0.999_f64, b in 0.0..11.0_f64) {
            let b = b.exp();
            let x = Beta { a: 1.0, b }.quantile(p);
            prop_assert!(near(x, -((-p).ln_1p() / b).exp_m1()));
            let mirrored = Beta { a: b, b: 1.0 }.quantile(1.0 - p);
            prop_assert!((mirrored - (1.0 - x)).abs() < 2e-16 + 2e-15 * x);
        }
    }
}
