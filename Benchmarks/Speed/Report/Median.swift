extension [Double] {
    /// The median of numbers, of which there is at least one.
    var median: Double { sorted()[count / 2] }
}
