import Domain
import Encodings

/// The members of a request's body, each with its precise error.
struct BoxFields {
    private let members: [JSONTree.Member]

    /// Reads an object; an empty body is one without members.
    ///
    /// - Throws: `invalidRequest` for text that is no JSON object, and for members that are not in `names`.
    init(_ body: [UInt8], _ names: [String]) throws(BoxError) {
        guard !body.isEmpty else {
            members = []
            return
        }
        let tree: JSONTree
        do throws(JSONFault) {
            tree = try JSONTree(body, depth: 8)
        } catch {
            throw .invalidRequest(field: "body", "is no valid JSON; the fault is at byte \(error.offset)")
        }
        guard case .object(let members) = tree else {
            throw .invalidRequest(field: "body", "must be a JSON object")
        }
        if let unknown = members.first(where: { !names.contains($0.name) }) {
            let known = names.isEmpty ? "this call takes no members" : "known are " + names.joined(separator: ", ")
            throw .invalidRequest(field: String(unknown.name.prefix(64)), "is not known; \(known)")
        }
        self.members = members
    }

    private init(members: [JSONTree.Member]) { self.members = members }

    /// The member's value; nil where it is absent or null.
    private func value(_ name: String) -> JSONTree? {
        guard let found = members.first(where: { $0.name == name })?.value, found != .null else { return nil }
        return found
    }

    /// A text of 1 to 255 bytes without control characters.
    func text(_ name: String) throws(BoxError) -> String? {
        guard let found = value(name) else { return nil }
        guard case .string(let text) = found, (1...255).contains(text.utf8.count),
            text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        else { throw .invalidRequest(field: name, "must be a text of 1 to 255 bytes") }
        return text
    }

    func requiredText(_ name: String) throws(BoxError) -> String {
        guard let text = try text(name) else { throw .invalidRequest(field: name, "is required") }
        return text
    }

    /// A whole number within a range.
    func integer(_ name: String, _ range: ClosedRange<Int64>) throws(BoxError) -> Int64? {
        guard let found = value(name) else { return nil }
        guard case .number(let digits) = found, let number = Int64(digits), range.contains(number) else {
            throw .invalidRequest(
                field: name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func requiredInteger(_ name: String, _ range: ClosedRange<Int64>) throws(BoxError) -> Int64 {
        guard let number = try integer(name, range) else { throw .invalidRequest(field: name, "is required") }
        return number
    }

    /// A member that is one of the words of a type.
    func word<Word: RawRepresentable & CaseIterable>(_ name: String, _ type: Word.Type) throws(BoxError) -> Word?
    where Word.RawValue == String {
        guard let found = value(name) else { return nil }
        guard case .string(let text) = found, let word = Word(rawValue: text) else {
            throw .invalidRequest(
                field: name, "must be one of " + Word.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return word
    }

    /// A UUID, in lower case.
    func uuid(_ name: String) throws(BoxError) -> String? {
        guard let found = value(name) else { return nil }
        let hyphens = [8, 13, 18, 23]
        guard case .string(let text) = found, text.utf8.count == 36,
            text.utf8.enumerated().allSatisfy({ index, byte in
                hyphens.contains(index)
                    ? byte == UInt8(ascii: "-")
                    : byte.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
            })
        else { throw .invalidRequest(field: name, "must be a UUID") }
        return text.lowercased()
    }

    /// An object of its own members.
    func object(_ name: String, _ names: [String]) throws(BoxError) -> BoxFields? {
        guard let found = value(name) else { return nil }
        guard case .object(let members) = found else {
            throw .invalidRequest(field: name, "must be an object or null")
        }
        if let unknown = members.first(where: { !names.contains($0.name) }) {
            throw .invalidRequest(
                field: "\(name).\(unknown.name.prefix(64))",
                "is not known; known are " + names.joined(separator: ", "))
        }
        return BoxFields(members: members)
    }
}

extension BoxError {
    /// Returns it with the field named within an object.
    func within(_ name: String) -> BoxError {
        guard case .invalidRequest(let field, let words) = self else { return self }
        return .invalidRequest(field: "\(name).\(field)", words)
    }
}
