/// The names of a payload's fields that could not be read, each once, in the order of reading.
///
/// Only names that this program reads can be among them, so their number is bounded.
final class UnreadFields {
    private(set) var names: [String] = []

    func add(_ name: String) {
        if !names.contains(name) { names.append(name) }
    }
}
