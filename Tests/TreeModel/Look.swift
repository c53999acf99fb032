import UDI

/// What a factory has found through the context that it was given.
struct Look {
  let context: Int
  let key: Int
  /// The search; nil if the lookup named none.
  let search: UDISearch?
  let found: Int?

  init(from context: UDIContext, _ key: Int, _ search: UDISearch?) {
    self.context = Int(context.tag)!
    self.key = key
    self.search = search
    found = context.link(key, search)
  }
}
