import UDI

// What the model binds: three types, each without a name and with two names, which makes nine numbered keys.

protocol First: AnyObject, Sendable { var number: Int { get } }
protocol Second: AnyObject, Sendable { var number: Int { get } }
protocol Third: Sendable { var number: Int { get } }

/// Takes no part in the tree. May do something in its `deinit`.
final class Numbered: First, Second, Third {
  let number: Int
  private let farewell: (@Sendable () -> Void)?

  init(_ number: Int, farewell: (@Sendable () -> Void)? = nil) {
    self.number = number
    self.farewell = farewell
  }

  deinit { farewell?() }
}

/// Takes part in the tree. May do something in its `deinit`.
final class NumberedMember: UDIObject, First, Second, Third {
  let _attachedContext = UDIAttachment()
  let number: Int
  private let farewell: (@Sendable () -> Void)?

  init(_ number: Int, farewell: (@Sendable () -> Void)? = nil) {
    self.number = number
    self.farewell = farewell
  }

  func didAttachContext() {}
  deinit { farewell?() }
}

// MARK: - By number

private let names: [UDIName?] = [nil, "x", UDIName(17)]

extension UDIContext {
  func bind(_ object: some First & Second & Third, _ key: Int, isMulti: Bool) {
    let name = names[key % 3]
    switch (key / 3, isMulti) {
    case (0, false): bind(object, as: (any First).self, named: name)
    case (1, false): bind(object, as: (any Second).self, named: name)
    case (_, false): bind(object, as: (any Third).self, named: name)
    case (0, true): multiBind(object, as: (any First).self, named: name)
    case (1, true): multiBind(object, as: (any Second).self, named: name)
    case (_, true): multiBind(object, as: (any Third).self, named: name)
    }
  }

  func unbind(_ key: Int) {
    switch key / 3 {
    case 0: unbind((any First).self, named: names[key % 3])
    case 1: unbind((any Second).self, named: names[key % 3])
    default: unbind((any Third).self, named: names[key % 3])
    }
  }

  func register(
    _ key: Int, _ lifetime: UDILifetime, _ make: @escaping @Sendable (UDIContext) -> Numbered,
    onClose: (@Sendable (Int?) throws -> Void)?
  ) {
    let name = names[key % 3]
    switch key / 3 {
    case 0: register((any First).self, named: name, lifetime: lifetime) { make($0) }.closing(onClose)
    case 1: register((any Second).self, named: name, lifetime: lifetime) { make($0) }.closing(onClose)
    default: register((any Third).self, named: name, lifetime: lifetime) { make($0) }.closing(onClose)
    }
  }

  func unregister(_ key: Int) {
    switch key / 3 {
    case 0: unregister((any First).self, named: names[key % 3])
    case 1: unregister((any Second).self, named: names[key % 3])
    default: unregister((any Third).self, named: names[key % 3])
    }
  }

  func link(_ key: Int, _ search: UDISearch?) -> Int? {
    let name = names[key % 3]
    return switch key / 3 {
    case 0: number(link((any First).self, named: name, search: search))
    case 1: number(link((any Second).self, named: name, search: search))
    default: number(link((any Third).self, named: name, search: search))
    }
  }

  func elements(_ key: Int, _ search: UDISearch) -> Elements {
    let name = names[key % 3]
    return switch key / 3 {
    case 0: Elements(updates(of: (any First).self, named: name, search: search)) { $0?.number }
    case 1: Elements(updates(of: (any Second).self, named: name, search: search)) { $0?.number }
    default: Elements(updates(of: (any Third).self, named: name, search: search)) { $0?.number }
    }
  }

  func linkAll(_ type: Int, _ search: UDISearch) -> [Int] {
    switch type {
    case 0: linkAll((any First).self, search: search).compactMap(number)
    case 1: linkAll((any Second).self, search: search).compactMap(number)
    default: linkAll((any Third).self, search: search).compactMap(number)
    }
  }
}

extension NumberedMember {
  func bind(_ object: some First & Second & Third, _ key: Int, isMulti: Bool, in contexts: [UDIContext]?) {
    let name = names[key % 3]
    switch (key / 3, isMulti) {
    case (0, false): bind(object, as: (any First).self, named: name)
    case (1, false): bind(object, as: (any Second).self, named: name)
    case (_, false): bind(object, as: (any Third).self, named: name)
    case (0, true): multiBind(object, as: (any First).self, named: name, in: contexts)
    case (1, true): multiBind(object, as: (any Second).self, named: name, in: contexts)
    case (_, true): multiBind(object, as: (any Third).self, named: name, in: contexts)
    }
  }

  func unbind(_ key: Int) {
    switch key / 3 {
    case 0: unbind((any First).self, named: names[key % 3])
    case 1: unbind((any Second).self, named: names[key % 3])
    default: unbind((any Third).self, named: names[key % 3])
    }
  }
}

extension UDIRegistration where Dependency: Sendable {
  fileprivate func closing(_ close: (@Sendable (Int?) throws -> Void)?) {
    if let close { onClose { try close(number($0)) } }
  }
}

private func number(_ dependency: Any?) -> Int? { (dependency as? any Third)?.number }
