//! Quantiles of Student's distribution.

/// What 95 % of the distribution with so many degrees of freedom lie within, on both sides of 0.
pub(crate) fn two_sided_95(degrees: usize) -> f64 {
    /// For 1 to 30 degrees of freedom.
    const FEW: [f64; 30] = [
        12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788,
        2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639,
        2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
    ];
    match degrees {
        0 => f64::INFINITY,
        1..=30 => FEW[degrees - 1],
        // The normal distribution's quantile with the first terms of the expansion in 1/degrees; right to four digits.
        _ => {
            let z = 1.959_964_f64;
            let degrees = degrees as f64;
            z + (z.powi(3) + z) / (4.0 * degrees)
                + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * degrees * degrees)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::two_sided_95;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (degrees, quantile) in
            [(1, 12.706), (10, 2.228), (30, 2.042), (40, 2.021), (60, 2.000), (120, 1.980)]
        {
            assert!((two_sided_95(degrees) - quantile).abs() < 1e-3, "{degrees}");
        }
        assert!((two_sided_95(1_000_000) - 1.96).abs() < 1e-3);
    }
}
