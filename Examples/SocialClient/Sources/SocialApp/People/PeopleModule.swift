import UDI

/// People, and what this account thinks of them.
struct PeopleModule: UDIModule {
  func register(in context: UDIContext) {
    context.register(using: Relationships.init(client:database:analytics:))
    context.register(using: Profiles.init(client:))
    context.register(using: Preferences.init(database:))
  }
}
