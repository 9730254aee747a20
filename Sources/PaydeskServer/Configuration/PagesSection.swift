import Domain
import Foundation
import Gateway

/// Reads `pages` of `paydesk.yaml`: how the pages for payers look.
enum PagesSection {
    private static let keys = [
        "name", "logo", "accent", "support_url", "terms_url", "privacy_url", "merchant_lines", "default_locale",
    ]
    private static let logoBytes = 200_000
    private static let (lines, lineLength) = (6, 100)
    private static let accent = "#0a6cff"

    static func read(_ root: MappingReader) -> PageSettings {
        let pages = root.section("pages", keys: keys)
        let name = pages.text("name")
        if !name.isEmpty, !name.hasScalars(1...lineLength) || !name.isPlain {
            pages.fault("name", "is too long or has control characters", "write at most \(lineLength) characters")
        }
        let locale = pages.isGiven("default_locale") ? pages["default_locale"]?.choice(Session.locales) : nil
        return PageSettings(
            name: name, logo: logo(pages), accent: accent(pages),
            supportURL: address(pages, "support_url", takesMail: true), termsURL: address(pages, "terms_url"),
            privacyURL: address(pages, "privacy_url"), merchantLines: merchantLines(pages),
            defaultLocale: locale ?? "en")
    }

    private static func merchantLines(_ pages: MappingReader) -> [String] {
        let found = pages.elements("merchant_lines").compactMap { $0.text() }
        let remedy = "write at most \(lines) lines of \(lineLength) characters"
        if found.count > lines { pages.fault("merchant_lines", "has \(found.count) lines", remedy) }
        if found.contains(where: { !$0.hasScalars(1...lineLength) || !$0.isPlain }) {
            pages.fault("merchant_lines", "has a line that is too long or has control characters", remedy)
        }
        return found
    }

    private static func address(_ pages: MappingReader, _ key: String, takesMail: Bool = false) -> String? {
        let text = pages.text(key)
        guard !text.isEmpty else { return nil }
        let scheme = WebAddress(text)?.scheme
        guard scheme == "https" || (takesMail && scheme == "mailto") else {
            let example =
                takesMail ? "https://app.example/help or mailto:help@app.example" : "https://app.example/terms"
            pages.fault(key, "is not an https address", "write one such as \(example)")
            return nil
        }
        return text
    }

    // MARK: The logo

    private static func logo(_ pages: MappingReader) -> PageSettings.Logo? {
        guard pages.isGiven("logo"), let path = pages["logo"]?.path() else { return nil }
        let remedy = "use a PNG, JPEG, WebP or SVG file of at most \(logoBytes) bytes"
        guard let content = FileManager.default.contents(atPath: path), !content.isEmpty else {
            pages.fault("logo", "is an empty file", remedy)
            return nil
        }
        guard content.count <= logoBytes else {
            pages.fault("logo", "has \(content.count) bytes", remedy)
            return nil
        }
        guard let type = mediaType(content) else {
            pages.fault("logo", "is no image of a known form", remedy)
            return nil
        }
        return PageSettings.Logo(mediaType: type, content: content)
    }

    /// Returns the media type of an image by its first bytes; nil for any other content.
    private static func mediaType(_ content: Data) -> String? {
        if content.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if content.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if content.starts(with: Data("RIFF".utf8)), content.dropFirst(8).starts(with: Data("WEBP".utf8)) {
            return "image/webp"
        }
        let head = String(decoding: content.prefix(1_024), as: UTF8.self)
        let isText = head.first == "<" || head.first?.isWhitespace == true || head.hasPrefix("\u{FEFF}<")
        return isText && head.contains("<svg") ? "image/svg+xml" : nil
    }

    // MARK: The accent

    private static func accent(_ pages: MappingReader) -> String {
        guard pages.isGiven("accent") else { return accent }
        let text = pages.text("accent").lowercased()
        guard let luminance = luminance(text), let dark = Self.luminance("#111111") else {
            pages.fault("accent", "is no colour", "write # and six hexadecimal digits, such as \(accent)")
            return accent
        }
        // WCAG 2.2 success criteria 1.4.3 (text) and 1.4.11 (parts of controls).
        let isReadable = max(contrast(luminance, 1), contrast(luminance, 0)) >= 4.5
        guard isReadable, contrast(luminance, 1) >= 3, contrast(luminance, dark) >= 3 else {
            pages.fault(
                "accent", "is too hard to see on a white or a dark page",
                "choose a colour with a contrast of 3:1 to #ffffff and to #111111, such as \(accent)")
            return accent
        }
        return text
    }

    /// Computes the contrast ratio of two relative luminances (WCAG 2.2).
    private static func contrast(_ one: Double, _ other: Double) -> Double {
        (max(one, other) + 0.05) / (min(one, other) + 0.05)
    }

    /// Computes the relative luminance of a colour (WCAG 2.2).
    ///
    /// - Returns: nil unless the text is `#` and six hexadecimal digits.
    private static func luminance(_ colour: String) -> Double? {
        guard colour.utf8.count == 7, colour.hasPrefix("#"), let bits = UInt32(colour.dropFirst(), radix: 16),
            colour.dropFirst().allSatisfy(\.isHexDigit)
        else { return nil }
        let weights = [0.2126, 0.7152, 0.0722]
        return zip([bits >> 16 & 0xFF, bits >> 8 & 0xFF, bits & 0xFF], weights).reduce(0) { sum, part in
            let share = Double(part.0) / 255
            return sum + part.1 * (share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4))
        }
    }
}
