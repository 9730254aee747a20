import Domain
package import FoundationEssentials
import Store

/// Replaces internal ids of users in JSON by the app's own ids.
///
/// Stored JSON (answers of idempotency keys, events, the audit) has internal ids only, so that the deletion of one
/// mapping anonymizes a user everywhere.
package struct UserNames: Sendable {
    let store: StoreAccess

    /// The name of an erased user.
    static let erased = "erased"

    /// Replaces the ids in one text; an erased user becomes "erased".
    package func fill(_ json: Data) async throws(GatewayError) -> Data {
        guard !InternalIDs.places(in: json).isEmpty else { return json }
        return try await fill(all: [json]).first ?? json
    }

    /// Replaces the ids in many texts with one query.
    package func fill(all texts: [Data]) async throws(GatewayError) -> [Data] {
        let places = texts.map(InternalIDs.places)
        let found = Set(places.joined().map(\.id))
        guard !found.isEmpty else { return texts }
        let names = try await store.read { db in try db.users.listExternalIDs(found) }
        var quoted: [ID<User>: Data] = [:]
        for id in found {
            guard let name = try? JSONText.encoded(names[id] ?? Self.erased) else { throw .internalError }
            quoted[id] = name
        }
        return zip(texts, places).map { InternalIDs.replace($1, in: $0, by: quoted) }
    }
}

/// The positions of users' internal ids in an answer, an event or a webhook's message.
///
/// They are values of known members at known depths: of the root object, of its `data`, of each of its `items`, and of
/// the `data` of each item. Metadata and attributes of clients are deeper and stay unchanged.
private enum InternalIDs {
    struct Place {
        /// The range of the text with its quotes.
        let range: Range<Int>
        let id: ID<User>
    }

    private static let members: Set<[UInt8]> = Set(
        ["user_id", "from_user_id", "subject", "before", "after"].map { Array($0.utf8) })
    private static let data = Array("data".utf8)
    private static let items = Array("items".utf8)
    private static let mark = Array("\"\(User.idPrefix)_".utf8)
    /// The length of an id with its prefix, its 26 characters and two quotes.
    private static let length = mark.count + 26 + 1

    static func places(in text: Data) -> [Place] {
        let bytes = [UInt8](text)
        guard holdsMark(bytes) else { return [] }
        var places: [Place] = []
        // The current member of each open object; nil for an array.
        var path: [[UInt8]?] = []
        var (index, isName) = (0, false)
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "{"):
                path.append([])
                isName = true
            case UInt8(ascii: "["):
                path.append(nil)
                isName = false
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = path.popLast()
            case UInt8(ascii: ","): isName = path.last.map { $0 != nil } ?? false
            case UInt8(ascii: ":"): isName = false
            case UInt8(ascii: "\""):
                let end = endOfText(bytes, from: index)
                let inside = bytes[index + 1..<max(index + 1, end)]
                if isName {
                    path[path.count - 1] = Array(inside)
                } else if end + 1 - index == length, names(path),
                    let id = ID<User>(String(decoding: inside, as: UTF8.self))
                {
                    places.append(Place(range: index..<end + 1, id: id))
                }
                index = end
            default: break
            }
            index += 1
        }
        return places
    }

    /// Returns true where the value at this path is a user's id.
    private static func names(_ path: [[UInt8]?]) -> Bool {
        guard let last = path.last, let member = last, members.contains(member) else { return false }
        switch path.count {
        case 1: return true
        case 2: return path[0] == data
        case 3: return path[0] == items && path[1] == nil
        case 4: return path[0] == items && path[1] == nil && path[2] == data
        default: return false
        }
    }

    /// Returns the index of the quote that ends the string which begins at `start`.
    private static func endOfText(_ bytes: [UInt8], from start: Int) -> Int {
        var index = start + 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index, bytes.count - 1)
    }

    /// Returns true where the bytes contain the beginning of an id; most texts contain none and are not parsed.
    private static func holdsMark(_ bytes: [UInt8]) -> Bool {
        let (mark, last) = (mark, mark.count - 1)
        return bytes.withUnsafeBufferPointer { bytes in
            var index = last
            while index < bytes.count {
                if bytes[index] == mark[last], bytes[index - last...index].elementsEqual(mark) { return true }
                index += 1
            }
            return false
        }
    }

    static func replace(_ places: [Place], in text: Data, by names: [ID<User>: Data]) -> Data {
        guard !places.isEmpty else { return text }
        var filled = Data(capacity: text.count + 32 * places.count)
        var start = 0
        for place in places {
            filled += text[text.startIndex + start..<text.startIndex + place.range.lowerBound]
            filled += names[place.id] ?? Data()
            start = place.range.upperBound
        }
        filled += text[(text.startIndex + start)...]
        return filled
    }
}
