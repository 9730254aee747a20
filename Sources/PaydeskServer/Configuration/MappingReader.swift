/// Reads the members of a mapping; an unknown key is a fault with a suggestion.
struct MappingReader {
    let place: ConfigPath
    let reading: ConfigurationReading
    private let values: [String: YAMLNode]

    init(members: [YAMLNode.Member], keys: [String], place: ConfigPath, reading: ConfigurationReading) {
        self.place = place
        self.reading = reading
        values = Dictionary(members.map { ($0.key, $0.value) }) { first, _ in first }
        for member in members where !keys.contains(member.key) {
            let nearest = NearestKey.suggestion(for: member.key, among: keys)
            reading.fault(
                place.member(member.key, line: member.value.line), "is not a known key",
                nearest.map { "did you mean \($0)?" } ?? "remove it; known here: \(keys.joined(separator: ", "))")
        }
    }

    /// The value of a key; nil where it is absent.
    subscript(_ key: String) -> ValueReader? {
        values[key].map { ValueReader(node: $0, place: place.member(key, line: $0.line), reading: reading) }
    }

    /// Returns whether a key has a value that is not empty.
    func isGiven(_ key: String) -> Bool { self[key].map { !$0.isEmpty } ?? false }

    /// Returns the position of a key, present or absent.
    func place(of key: String) -> ConfigPath { place.member(key, line: values[key]?.line) }

    func fault(_ key: String, _ problem: String, _ remedy: String) { reading.fault(place(of: key), problem, remedy) }

    func section(_ key: String, keys: [String]) -> MappingReader {
        self[key]?.mapping(keys: keys)
            ?? MappingReader(members: [], keys: keys, place: place(of: key), reading: reading)
    }

    func text(_ key: String, default value: String = "") -> String { self[key]?.text() ?? value }

    /// A text that must be present and not empty; nil after a fault.
    func requiredText(_ key: String, _ remedy: String) -> String? {
        guard isGiven(key) else {
            fault(key, "is missing", remedy)
            return nil
        }
        return self[key]?.text()
    }

    func integer(_ key: String, in range: ClosedRange<Int64>, default value: Int64) -> Int64 {
        self[key]?.integer(in: range) ?? value
    }

    func boolean(_ key: String, default value: Bool) -> Bool { self[key]?.boolean() ?? value }

    func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, default value: Choice
    ) -> Choice where Choice.RawValue == String {
        self[key]?.choice(Choice.allCases.map(\.rawValue)).flatMap(Choice.init(rawValue:)) ?? value
    }

    func elements(_ key: String) -> [ValueReader] { self[key]?.elements() ?? [] }
}
