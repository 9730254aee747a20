/// The name and version of this build.
enum Release {
    static let version = "0.1.0"
}
