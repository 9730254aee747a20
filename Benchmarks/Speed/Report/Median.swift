extension [Double] {
    /// The middle of what was measured at least once.
    var median: Double { sorted()[count / 2] }
}
