import Domain
import Foundation
import HTTPTypes
import Synchronization

@testable import HTTPAPI

/// Compares requests and answers with the OpenAPI document, which is read as a client reads it.
struct DocumentedAnswers: Sendable {
    let document: JSONValue
    private let routes: [(method: String, parts: [Substring], operation: JSONValue)]

    /// An instance for each set of routes, because the document is large.
    private static let made = Mutex<[[String]: DocumentedAnswers]>([:])

    static func of(_ api: API) throws -> DocumentedAnswers {
        let routes = api.routes
        let names = routes.map { "\($0.method) \($0.path)" }
        if let known = made.withLock({ $0[names] }) { return known }
        let document = OpenAPIDocument(routes, version: "0.0.0-test")
        let answers = DocumentedAnswers(
            document: try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(document.json)))
        made.withLock { $0[names] = answers }
        return answers
    }

    init(document: JSONValue) {
        self.document = document
        routes = document["paths"].members.flatMap { path, operations in
            operations.members.map { ($0.key.uppercased(), path.split(separator: "/"), $0.value) }
        }
    }

    /// Returns all differences between a call and the document.
    func faults(
        _ method: HTTPRequest.Method, _ path: String, sent body: String?, _ reply: Reply
    ) -> [String] {
        guard let operation = operation(method, path) else { return [] }
        let responses = operation["responses"]
        let response = resolved(responses["\(reply.status)"])
        guard response != .null else { return ["the status \(reply.status) is not described"] }
        var faults: [String] = []
        let json = response["content"]["application/json"]["schema"]
        let type = reply.header("Content-Type").map { String($0.prefix { $0 != ";" }) } ?? ""
        // An answer in another of the described media types is not read.
        let isOther = type != "application/json" && response["content"].names.contains(type)
        if json != .null, !isOther {
            guard let answer = try? reply.json else { return ["the answer is not JSON"] }
            faults += self.faults(answer, json, isStrict: true, at: "answer")
            let ids = response["x-error-ids"].elements
            let id = answer["errors"][0] == .null ? answer["error"] : answer["errors"][0]["code"]
            if !ids.isEmpty, !ids.contains(id) { faults.append("\(id) is not among \(ids)") }
        }
        let asked = operation["requestBody"]["content"]["application/json"]["schema"]
        // `verifyReceipt` answers 200 to everything, with a status of its own.
        let isTaken = reply.status == 200 && [.null, .integer(0)].contains((try? reply.json["status"]) ?? .null)
        if isTaken, asked != .null, let body, !body.isEmpty,
            let sent = try? JSONDecoder().decode(JSONValue.self, from: Data(body.utf8))
        {
            faults += self.faults(sent, asked, isStrict: false, at: "body")
        }
        return faults
    }

    /// Finds the operation of a path; a literal path takes precedence over one with parameters.
    private func operation(_ method: HTTPRequest.Method, _ path: String) -> JSONValue? {
        let parts = path.prefix { $0 != "?" }.split(separator: "/")
        let fitting = routes.filter { route in
            route.method == method.rawValue && route.parts.count == parts.count
                && zip(route.parts, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
        }
        return fitting.max { one, other in
            one.parts.count { !$0.hasPrefix("{") } < other.parts.count { !$0.hasPrefix("{") }
        }?.operation
    }

    /// Resolves a `$ref`.
    func resolved(_ value: JSONValue) -> JSONValue {
        let reference = value.text("$ref")
        guard reference.hasPrefix("#/") else { return value }
        return reference.dropFirst(2).split(separator: "/").reduce(document) { $0[String($1)] }
    }

    // MARK: JSON Schema, as much of it as the document uses

    /// - Parameter isStrict: true where members that the schema does not name are faults.
    func faults(_ value: JSONValue, _ schema: JSONValue, isStrict: Bool, at place: String) -> [String] {
        let schema = resolved(schema)
        for (word, least, most) in [("oneOf", 1, 1), ("anyOf", 1, Int.max)] where schema[word] != .null {
            let faults = schema[word].elements.map { self.faults(value, $0, isStrict: isStrict, at: place) }
            let fitting = faults.count(where: \.isEmpty)
            if fitting >= least && fitting <= most { return [] }
            return ["\(place) fits \(fitting) of \(word)"] + (faults.min { $0.count < $1.count } ?? [])
        }
        let types = schema["type"].elements.isEmpty ? [schema["type"]] : schema["type"].elements
        guard schema["type"] == .null || value.schemaTypes.contains(where: { types.contains(.string($0)) }) else {
            return ["\(place) is of type \(value.schemaTypes[0])"]
        }
        if schema["enum"] != .null && !schema["enum"].elements.contains(value) {
            return ["\(place) is \(value), not one of its words"]
        }
        switch value {
        case .string(let text):
            let length = Int64(text.unicodeScalars.count)
            if schema["minLength"] != .null && length < schema.int("minLength") { return ["\(place) is too short"] }
            if schema["maxLength"] != .null && length > schema.int("maxLength") { return ["\(place) is too long"] }
            let pattern = schema.text("pattern")
            guard !pattern.isEmpty, let regex = try? Regex(pattern) else { return [] }
            return text.wholeMatch(of: regex) == nil ? ["\(place) does not match \(pattern)"] : []
        case .integer(let number):
            if schema["minimum"] != .null && number < schema.int("minimum") { return ["\(place) is too small"] }
            if schema["maximum"] != .null && number > schema.int("maximum") { return ["\(place) is too large"] }
            return []
        case .array(let elements):
            if let fault = Self.count(elements.count, schema, "Items", at: place) { return [fault] }
            if schema["uniqueItems"] == .bool(true), Set(elements).count < elements.count {
                return ["\(place) has an element twice"]
            }
            guard schema["items"] != .null else { return [] }
            return elements.enumerated().flatMap {
                faults($0.element, schema["items"], isStrict: isStrict, at: "\(place)[\($0.offset)]")
            }
        case .object(let members):
            let known = schema["properties"].members
            var faults = schema["required"].elements.compactMap { name -> String? in
                guard case .string(let name) = name, members[name] == nil else { return nil }
                return "\(place).\(name) is missing"
            }
            if let fault = Self.count(members.count, schema, "Properties", at: place) { faults.append(fault) }
            for (name, member) in members {
                if schema["propertyNames"] != .null {
                    faults += self.faults(
                        .string(name), schema["propertyNames"], isStrict: isStrict, at: "\(place).\(name)")
                }
                if let shape = known[name] {
                    faults += self.faults(member, shape, isStrict: isStrict, at: "\(place).\(name)")
                } else if schema["additionalProperties"] == .bool(false) {
                    faults.append("\(place).\(name) is not known")
                } else if schema["additionalProperties"] != .null {
                    faults += self.faults(
                        member, schema["additionalProperties"], isStrict: isStrict, at: "\(place).\(name)")
                } else if isStrict && schema["type"] != .null {
                    faults.append("\(place).\(name) is not described")
                }
            }
            return faults
        default: return []
        }
    }

    private static func count(_ count: Int, _ schema: JSONValue, _ what: String, at place: String) -> String? {
        if schema["min\(what)"] != .null && count < schema.int("min\(what)") { return "\(place) has too few" }
        if schema["max\(what)"] != .null && count > schema.int("max\(what)") { return "\(place) has too many" }
        return nil
    }
}

extension JSONValue {
    var members: [String: JSONValue] { if case .object(let members) = self { members } else { [:] } }

    fileprivate var schemaTypes: [String] {
        switch self {
        case .null: ["null"]
        case .bool: ["boolean"]
        case .integer: ["integer", "number"]
        case .number: ["number"]
        case .string: ["string"]
        case .array: ["array"]
        case .object: ["object"]
        }
    }
}
