import Domain
package import FoundationEssentials
import Store

extension Gateway {
    /// What stands for the name of a user who was erased.
    static let erasedName = "erased"

    /// Fills the app's own user ids into JSON that names users by internal ids; an erased user's place says so.
    ///
    /// What is stored (answers of idempotency keys, events, the audit) holds internal ids only, so that deleting one mapping
    /// forgets a person everywhere.
    package func fillNames(_ json: Data) async throws(GatewayError) -> Data {
        guard !InternalIDs.places(in: json).isEmpty else { return json }
        return try await fillNames(all: [json]).first ?? json
    }

    /// Fills the names of many texts, with one look at the database.
    package func fillNames(all texts: [Data]) async throws(GatewayError) -> [Data] {
        let places = texts.map(InternalIDs.places)
        let found = Set(places.joined().map(\.id))
        guard !found.isEmpty else { return texts }
        let names = try await read { db in try db.externalUserIDs(found) }
        var quoted: [ID<User>: Data] = [:]
        for id in found {
            guard let name = try? JSONEncoder().encode(names[id] ?? Self.erasedName) else { throw .internalError }
            quoted[id] = name
        }
        return zip(texts, places).map { InternalIDs.replace($1, in: $0, by: quoted) }
    }
}

/// Where internal ids of users stand as whole strings in JSON.
private enum InternalIDs {
    struct Place {
        /// With its quotes.
        let range: Range<Int>
        let id: ID<User>
    }

    private static let mark = Array("\"\(User.idPrefix)_".utf8)
    /// A prefix, 26 characters and two quotes.
    private static let length = mark.count + 26 + 1

    static func places(in text: Data) -> [Place] {
        // Every answer is looked through, so the mark is fetched once and its rarest character decides.
        let (mark, length) = (mark, length)
        return text.withUnsafeBytes { bytes in
            var places: [Place] = []
            var index = 0
            while index + length <= bytes.count {
                guard bytes[index + mark.count - 1] == mark[mark.count - 1],
                    bytes[index..<index + mark.count].elementsEqual(mark), bytes[index + length - 1] == mark[0]
                else {
                    index += 1
                    continue
                }
                let inside = bytes[index + 1..<index + length - 1]
                guard let id = ID<User>(String(decoding: inside, as: UTF8.self)) else {
                    index += 1
                    continue
                }
                places.append(Place(range: index..<index + length, id: id))
                index += length
            }
            return places
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
