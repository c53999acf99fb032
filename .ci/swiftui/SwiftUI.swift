// A stand-in for the SwiftUI declarations that the library uses. It allows type-checking the library's SwiftUI file
// where there is no SwiftUI. It does nothing.

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @MainActor @preconcurrency var body: Body { get }
}

extension Never: View { public var body: Never { fatalError() } }

public struct ModifiedContent<Content, Modifier> {
  init() { fatalError() }
}
extension ModifiedContent: View where Content: View, Modifier: ViewModifier { public var body: Never { fatalError() } }

public struct ViewModifierContent<Modifier: ViewModifier>: View { public var body: Never { fatalError() } }

@MainActor @preconcurrency public protocol ViewModifier {
  associatedtype Body: View
  typealias Content = ViewModifierContent<Self>
  @MainActor @preconcurrency func body(content: Content) -> Body
}

extension View {
  public func modifier<Modifier: ViewModifier>(_ modifier: Modifier) -> ModifiedContent<Self, Modifier> { fatalError() }
  public func environment<Value>(_ keyPath: WritableKeyPath<EnvironmentValues, Value>, _ value: Value) -> some View {
    self
  }
}

public protocol EnvironmentKey {
  associatedtype Value
  static var defaultValue: Value { get }
}

public struct EnvironmentValues {
  public subscript<Key: EnvironmentKey>(key: Key.Type) -> Key.Value {
    get { Key.defaultValue }
    set {}
  }
}

public protocol DynamicProperty {}

@propertyWrapper public struct Environment<Value>: DynamicProperty {
  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { fatalError() }
  public var wrappedValue: Value { fatalError() }
}

@propertyWrapper public struct State<Value>: DynamicProperty {
  public init(wrappedValue value: Value) { fatalError() }
  public var wrappedValue: Value {
    get { fatalError() }
    nonmutating set { fatalError() }
  }
}

public struct Text: View {
  public init(_ text: String) {}
  public var body: Never { fatalError() }
}
