// Compiled on platforms with SwiftUI. On other platforms, `.ci/check-swiftui` type-checks it against the declarations
// in .ci/swiftui.
#if canImport(SwiftUI)
  public import SwiftUI

  // MARK: The context of a view

  private struct ContextKey: EnvironmentKey { static var defaultValue: UDIContext { AppContext } }

  extension EnvironmentValues {
    /// The context in which the lookups of views begin.
    ///
    /// It is ``AppContext``, unless ``SwiftUICore/View/contextScope(_:kind:setUp:)`` has made a scope for the views, or
    /// a view above has set another context.
    public var udiContext: UDIContext {
      get { self[ContextKey.self] }
      set { self[ContextKey.self] = newValue }
    }
  }

  extension View {
    /// Makes a scope below the surrounding context for this view and its subviews.
    ///
    /// The scope is removed together with the view.
    ///
    /// SwiftUI can show several copies of the same view, and guarantees no order in which they appear. If lookups from
    /// outside looked into the copies' contexts, their results would depend on this order. Each copy therefore has its
    /// own scope.
    ///
    /// If the surrounding context is closed or is being closed, the views get a closed scope that has no parent. This
    /// is reported as a misuse.
    ///
    /// - Parameters:
    ///   - tag: The scope's tag. If a sibling already has this tag, a number is added. After that, the tag never
    ///     changes. If the view moves to a context that already has a child with the scope's tag, the scope stays where
    ///     it was.
    ///   - kind: The kind of the scope; by default the tag. Like the tag, it never changes.
    ///   - setUp: Called once, when the scope is made, to bind and register the dependencies of the views.
    /// - Returns: The view in its scope.
    public func contextScope(
      _ tag: String, kind: String? = nil, setUp: @escaping @MainActor (UDIContext) -> Void = { _ in }
    ) -> some View { modifier(ContextScope(tag: tag, kind: kind, setUp: setUp)) }
  }

  private struct ContextScope: ViewModifier {
    let tag: String
    let kind: String?
    let setUp: @MainActor (UDIContext) -> Void
    @Environment(\.udiContext) private var parent
    @State private var owner = ContextScopeOwner()

    func body(content: Content) -> some View {
      content.environment(\.udiContext, owner.context(for: self, below: parent))
    }
  }

  /// Makes a view's context, and holds it as long as SwiftUI keeps the view's state. When this object is released, on
  /// whatever thread, the context is removed from the tree.
  @MainActor
  private final class ContextScopeOwner {
    private var child: UDIContext?

    nonisolated init() {}

    deinit { child?.removeFromParent() }

    func context(for scope: ContextScope, below parent: UDIContext) -> UDIContext {
      // A scope that was closed together with its parent is of no use if the view has moved to a context that is open.
      if child?.isEnding == true, !parent.isEnding { child = nil }
      if let child {
        // If the view has moved to a different context, its own context moves along.
        if child.parent != parent { try? parent.addChild(child) }
        return child
      }
      let made = parent.makeNumberedScope(tag: scope.tag, scope.kind, nil, "contextScope")
      // A closed scope is not kept, so that the view gets a scope of its own if it moves to a context that is open.
      if made.isEnding { return made }
      child = made
      made.noteSetUp(isRunning: true)
      scope.setUp(made)
      made.noteSetUp(isRunning: false)
      return made
    }
  }

  // MARK: Dependencies of a view

  /// A dependency of a view, looked up from the view's context at each read, normally when the view's body runs.
  ///
  /// ```swift
  /// struct CartView: View {
  ///   @ViewLinked var cart: Cart?    // @Observable final class Cart
  ///   var body: some View { Text("\(cart?.items.count ?? 0) items") }
  /// }
  /// ```
  ///
  /// As for ``Followed``, the view is evaluated again when a lookup would find something else, because the dependency
  /// has come, gone or been replaced. If the dependency is `@Observable`, the view follows its changes as usual. The
  /// view does not keep the dependency alive, so something else has to hold it.
  @MainActor @propertyWrapper
  public struct ViewLinked<Dependency>: DynamicProperty {
    @Environment(\.udiContext) private var context
    @State private var property: FollowedProperty

    /// Declares the dependency.
    ///
    /// - Parameters:
    ///   - name: The dependency's name, if it has one.
    ///   - search: The direction to take; by default the context's.
    public init(named name: UDIName? = nil, search: UDISearch? = nil) {
      property = FollowedProperty(Dependency.self, .mainActor, named: name, search: search, at: UDICallSite("", 0))
    }

    /// The first dependency in search order, which this read may make; nil if there is none.
    public var wrappedValue: Dependency? { property.value(in: context) }
  }
#endif
