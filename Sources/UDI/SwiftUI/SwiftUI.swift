// For platforms with SwiftUI; on the others it is type-checked against the declarations in .ci/swiftui.
#if canImport(SwiftUI)
  public import SwiftUI

  // MARK: The context of a view

  private struct ContextKey: EnvironmentKey {
    static var defaultValue: UDIContext { AppContext }
  }

  extension EnvironmentValues {
    /// The context that views here link from: ``AppContext``, or the one that ``SwiftUICore/View/contextScope(_:setUp:)`` gave them.
    public var udiContext: UDIContext {
      get { self[ContextKey.self] }
      set { self[ContextKey.self] = newValue }
    }
  }

  extension View {
    /// Gives this view and all below it a scope of their own, below the context around them, and takes it away with them.
    ///
    /// The same view may be there several times, in an order that SwiftUI does not promise. So nobody outside can see into its scope.
    ///
    /// - Parameters:
    ///   - tag: The scope's tag. Where a sibling has it a number is added. It stays what it was at first; and where the views move
    ///     below a context with a child of that tag, theirs stays where it is.
    ///   - setUp: Called once, when the scope is made: to bind and register what the views need.
    /// - Returns: The view, in its scope.
    public func contextScope(_ tag: String, setUp: @escaping @MainActor (UDIContext) -> Void = { _ in }) -> some View {
      modifier(ContextScope(tag: tag, setUp: setUp))
    }
  }

  private struct ContextScope: ViewModifier {
    let tag: String
    let setUp: @MainActor (UDIContext) -> Void
    @Environment(\.udiContext) private var parent
    @State private var owner = ContextScopeOwner()

    func body(content: Content) -> some View {
      content.environment(\.udiContext, owner.context(tag, below: parent, setUp))
    }
  }

  /// Makes the context of a view, and holds it as long as SwiftUI keeps the view's state.
  @MainActor
  private final class ContextScopeOwner {
    private var child: AttachedContext?

    nonisolated init() {}

    func context(_ tag: String, below parent: UDIContext, _ setUp: @MainActor (UDIContext) -> Void) -> UDIContext {
      if let context = child?.context {
        // Where the views have moved to another place among the contexts they take theirs along.
        if context.parent != parent { try? parent.addChild(context) }
        return context
      }
      var number = 1
      while true {
        if let made = try? parent.makeScope(tag: number == 1 ? tag : "\(tag) \(number)") {
          child = AttachedContext(context: made)
          setUp(made)
          return made
        }
        number += 1
      }
    }
  }

  /// Takes a context out of the tree when it goes, on whatever thread that is.
  private final class AttachedContext: Sendable {
    let context: UDIContext
    init(context: UDIContext) { self.context = context }
    deinit { context.removeFromParent() }
  }

  // MARK: Dependencies of a view

  /// A dependency of a view, looked up from the view's context whenever its body runs.
  ///
  /// ```swift
  /// struct CartView: View {
  ///   @ViewLinked var cart: Cart?    // @Observable final class Cart
  ///   var body: some View { Text("\(cart?.items.count ?? 0) items") }
  /// }
  /// ```
  ///
  /// Of an `@Observable` dependency the view sees the changes as of any other. The view does not keep it: somebody else has to.
  @MainActor
  @propertyWrapper
  public struct ViewLinked<Dependency>: DynamicProperty {
    @Environment(\.udiContext) private var context
    private let name: UDIName?
    private let search: UDISearch?

    /// Declares the dependency.
    ///
    /// - Parameters:
    ///   - name: The name it is registered under, if any.
    ///   - search: The direction to take; by default the context's.
    public init(named name: UDIName? = nil, search: UDISearch? = nil) {
      self.name = name
      self.search = search
    }

    /// What comes first in search order, bound, kept or made now; nil if there is nothing.
    public var wrappedValue: Dependency? { context.link(Dependency.self, named: name, search: search) }
  }
#endif
