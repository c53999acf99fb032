// A stand-in for the SwiftUI declarations that the library uses, where there is no SwiftUI. It evaluates views as SwiftUI
// does, as far as the library relies on that: state lasts as long as a view is in its place, the environment is inherited,
// and the bodies are evaluated again when something that they have read changes.
import Observation

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @MainActor @preconcurrency var body: Body { get }
  @MainActor func _evaluate(_ pass: inout _Pass)
}

extension View {
  public func _evaluate(_ pass: inout _Pass) {
    pass.connect(self)
    pass.evaluations += 1
    body._evaluate(&pass)
  }
}

extension Never: View {
  public var body: Never { fatalError() }
  public func _evaluate(_ pass: inout _Pass) {}
}

/// One evaluation of all bodies.
public struct _Pass {
  var environment = EnvironmentValues()
  var texts: [String] = []
  var evaluations = 0
  /// The state of the views, in the order in which they are evaluated, by their types.
  var old: [(type: Any.Type, location: AnyObject)]
  var new: [(type: Any.Type, location: AnyObject)] = []

  /// Gives the dynamic properties of a view, or of a modifier, their state and the environment.
  mutating func connect(_ value: Any) {
    for child in Mirror(reflecting: value).children {
      if let property = child.value as? any _Connected { property.connect(&self) }
      if child.value is any DynamicProperty { connect(child.value) }
    }
  }
}

protocol _Connected { func connect(_ pass: inout _Pass) }

/// Shows a view, and evaluates it again whenever something that it has read changes.
@MainActor public final class Host {
  public private(set) var texts: [String] = []
  public private(set) var evaluations = 0
  private var state: [(type: Any.Type, location: AnyObject)] = []
  private var evaluate: (inout _Pass) -> Void
  private var passes = 0

  public init(_ view: some View) {
    evaluate = { view._evaluate(&$0) }
    render()
  }

  /// Shows another view in the same place; what has the same type keeps its state.
  public func show(_ view: some View) {
    evaluate = { view._evaluate(&$0) }
    render()
  }

  private func render() {
    var pass = _Pass(old: state)
    passes += 1
    withObservationTracking {
      evaluate(&pass)
    } onChange: { [weak self, passes] in
      // Only what the last pass has read counts.
      Task { @MainActor in if let self, self.passes == passes { self.render() } }
    }
    state = pass.new
    texts = pass.texts
    evaluations += pass.evaluations
  }
}

public struct ModifiedContent<Content, Modifier> {
  let content: Content
  let modifier: Modifier
}
extension ModifiedContent: View where Content: View, Modifier: ViewModifier {
  public var body: Never { fatalError() }
  public func _evaluate(_ pass: inout _Pass) {
    pass.connect(modifier)
    pass.evaluations += 1
    modifier.body(content: ViewModifierContent { content._evaluate(&$0) })._evaluate(&pass)
  }
}

public struct ViewModifierContent<Modifier: ViewModifier>: View {
  let evaluate: @MainActor (inout _Pass) -> Void
  public var body: Never { fatalError() }
  public func _evaluate(_ pass: inout _Pass) { evaluate(&pass) }
}

@MainActor @preconcurrency public protocol ViewModifier {
  associatedtype Body: View
  typealias Content = ViewModifierContent<Self>
  @MainActor @preconcurrency func body(content: Content) -> Body
}

struct EnvironmentView<Content: View>: View {
  let content: Content
  let set: (inout EnvironmentValues) -> Void
  var body: Never { fatalError() }
  func _evaluate(_ pass: inout _Pass) {
    let outer = pass.environment
    set(&pass.environment)
    content._evaluate(&pass)
    pass.environment = outer
  }
}

extension View {
  public func modifier<Modifier: ViewModifier>(_ modifier: Modifier) -> ModifiedContent<Self, Modifier> {
    ModifiedContent(content: self, modifier: modifier)
  }
  public func environment<Value>(_ keyPath: WritableKeyPath<EnvironmentValues, Value>, _ value: Value) -> some View {
    EnvironmentView(content: self) { $0[keyPath: keyPath] = value }
  }
}

public protocol EnvironmentKey {
  associatedtype Value
  static var defaultValue: Value { get }
}

public struct EnvironmentValues {
  private var values: [ObjectIdentifier: Any] = [:]
  public init() {}
  public subscript<Key: EnvironmentKey>(key: Key.Type) -> Key.Value {
    get { values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}

public protocol DynamicProperty {}

private final class Box<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }
}

@propertyWrapper public struct Environment<Value>: DynamicProperty, _Connected {
  private let keyPath: KeyPath<EnvironmentValues, Value>
  private let values = Box(EnvironmentValues())
  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { self.keyPath = keyPath }
  public var wrappedValue: Value { values.value[keyPath: keyPath] }
  func connect(_ pass: inout _Pass) { values.value = pass.environment }
}

@propertyWrapper public struct State<Value>: DynamicProperty, _Connected {
  private let location: Box<Box<Value>>
  public init(wrappedValue value: Value) { location = Box(Box(value)) }
  public var wrappedValue: Value {
    get { location.value.value }
    nonmutating set { location.value.value = newValue }
  }

  func connect(_ pass: inout _Pass) {
    let index = pass.new.count
    if index < pass.old.count, let old = pass.old[index].location as? Box<Value> { location.value = old }
    pass.new.append((Value.self, location.value))
  }
}

public struct Text: View {
  private let text: String
  public init(_ text: String) { self.text = text }
  public var body: Never { fatalError() }
  public func _evaluate(_ pass: inout _Pass) { pass.texts.append(text) }
}
