/// The names of a payload's fields that could not be read, each once, in the order in which they were met.
///
/// Only names that this program asks for can be among them, so there is a bounded number of them.
final class UnreadFields {
    private(set) var names: [String] = []

    func add(_ name: String) {
        if !names.contains(name) { names.append(name) }
    }
}
