/// What this build is.
enum Release {
    static let version = "0.1.0"
}
