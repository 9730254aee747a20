/// Every migration of this release, in order; a released one is never edited.
package enum Migrations {
    package static let all: [Migration] = [
        Migration(number: 1, name: "cashier", sql: cashier)
    ]
}
